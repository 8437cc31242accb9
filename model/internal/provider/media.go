package provider

import (
	"fmt"
	"strings"

	"github.com/toolpost/toolpost/model"
)

// The media types that most providers take.
const (
	JPEG = "image/jpeg"
	PNG  = "image/png"
	GIF  = "image/gif"
	WebP = "image/webp"
	PDF  = "application/pdf"
)

// Images returns the types of images that most models see.
func Images() []string { return []string{JPEG, PNG, GIF, WebP} }

// ImagesAndPDF returns the types of media that most models see.
func ImagesAndPDF() []string { return append(Images(), PDF) }

// DescribeMedia returns the text that a model reads instead of an image or a
// document.
func DescribeMedia(p *model.Part) string {
	name := strings.Join(strings.Fields(p.MIMEType+" "+string(p.Type)+" "+p.Name), " ")
	return fmt.Sprintf("[%s of %d bytes, which cannot be shown to you]", name, len(p.Data))
}

// MediaName returns what a loss calls a type of media.
func MediaName(mimeType string) string {
	if mimeType == "" {
		return "an unknown type"
	}
	return mimeType
}
