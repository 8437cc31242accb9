package model

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"github.com/toolpost/toolpost"
)

// ResultParts returns the content of a tool's result for a model that accepts media of the
// given types, as parts that are texts, images and documents. Other media are described in
// text. Text is that of all parts that are texts, joined with newlines.
func ResultParts(m *toolpost.ToolMessage, takes ...string) (parts []Part, text string) {
	if m.Parts == nil {
		return []Part{Text(m.Text)}, m.Text
	}
	var lines []string
	for _, p := range m.Parts {
		switch {
		case len(p.Data) == 0 || !slices.Contains(takes, p.MIMEType):
			line := describe(p)
			parts, lines = append(parts, Text(line)), append(lines, line)
		case strings.HasPrefix(p.MIMEType, "image/"):
			parts = append(parts, Part{Type: TypeImage, MIMEType: p.MIMEType, Data: p.Data})
		default:
			parts = append(parts, Part{Type: TypeDocument, MIMEType: p.MIMEType, Data: p.Data})
		}
	}
	return parts, strings.Join(lines, "\n")
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

// DataURL returns the data of an image or document as a data: URL.
func (p Part) DataURL() string {
	return "data:" + p.MIMEType + ";base64," + base64.StdEncoding.EncodeToString(p.Data)
}
