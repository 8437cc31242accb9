package model

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"github.com/toolpost/toolpost"
)

// The types of media that more than one provider takes in answers.
const (
	jpeg = "image/jpeg"
	png  = "image/png"
	gif  = "image/gif"
	webp = "image/webp"
	pdf  = "application/pdf"
)

// A piece is a part of an answer: text, or media if it has data.
type piece struct {
	text string
	mime string
	data []byte
}

// pieces returns the content of m for a model that takes media of the given
// types. What it does not take is named in text.
func pieces(m *toolpost.Message, takes ...string) []piece {
	if m.Parts == nil {
		return []piece{{text: m.Text}}
	}
	var all []piece
	for _, p := range m.Parts {
		if len(p.Data) > 0 && slices.Contains(takes, p.MIMEType) {
			all = append(all, piece{mime: p.MIMEType, data: p.Data})
		} else {
			all = append(all, piece{text: told(p)})
		}
	}
	return all
}

// told is a part in words.
func told(p toolpost.Part) string {
	switch {
	case len(p.Data) > 0:
		return fmt.Sprintf("[%s of %d bytes, which you cannot be shown]", strings.TrimSpace(p.MIMEType+" "+p.Type), len(p.Data))
	case p.Text != "", p.Type == "text":
		return p.Text
	case p.URI != "":
		return strings.TrimSpace(p.Name + " " + p.URI)
	}
	return string(p.Raw)
}

// text joins the text of all pieces.
func text(all []piece) string {
	var lines []string
	for _, p := range all {
		if p.data == nil {
			lines = append(lines, p.text)
		}
	}
	return strings.Join(lines, "\n")
}

func (p piece) base64() string { return base64.StdEncoding.EncodeToString(p.data) }

func (p piece) dataURL() string { return "data:" + p.mime + ";base64," + p.base64() }
