package model

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"github.com/toolpost/toolpost"
)

// A Piece is one part of an answer: media if it has Data, otherwise text.
type Piece struct {
	Text     string
	MIMEType string
	Data     []byte
}

// Pieces returns the content of m for a model that accepts media of the given
// types. Other media are described in text.
func Pieces(m *toolpost.ToolMessage, takes ...string) []Piece {
	if m.Parts == nil {
		return []Piece{{Text: m.Text}}
	}
	var all []Piece
	for _, p := range m.Parts {
		if len(p.Data) > 0 && slices.Contains(takes, p.MIMEType) {
			all = append(all, Piece{MIMEType: p.MIMEType, Data: p.Data})
		} else {
			all = append(all, Piece{Text: describe(p)})
		}
	}
	return all
}

// describe returns a part as text.
func describe(p toolpost.Part) string {
	switch {
	case len(p.Data) > 0:
		return fmt.Sprintf("[%s of %d bytes, which cannot be shown to you]", strings.TrimSpace(p.MIMEType+" "+p.Type), len(p.Data))
	case p.Text != "", p.Type == "text":
		return p.Text
	case p.URI != "":
		return strings.TrimSpace(p.Name + " " + p.URI)
	}
	return string(p.Raw)
}

// JoinText joins the texts of all pieces with newlines.
func JoinText(all []Piece) string {
	var lines []string
	for _, p := range all {
		if p.Data == nil {
			lines = append(lines, p.Text)
		}
	}
	return strings.Join(lines, "\n")
}

// Base64 returns the data in base64.
func (p Piece) Base64() string { return base64.StdEncoding.EncodeToString(p.Data) }

// DataURL returns the data as a data: URL.
func (p Piece) DataURL() string { return "data:" + p.MIMEType + ";base64," + p.Base64() }
