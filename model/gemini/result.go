package gemini

import (
	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/internal/provider"
)

// newResponse returns the result of a call, and the number of media that the model
// does not receive because it cannot read them or media is false. Text is one string,
// because Gemini resolves $ref in a response, and nothing in the text must be read as a
// reference.
func newResponse(call sentCall, m *toolpost.ToolMessage, media bool) (part responsePart, lost int) {
	var types []string
	if media {
		types = responseMedia()
	}
	parts, text := model.ResultParts(m, types...)
	key := "output"
	if m.IsError {
		key = "error"
	}
	f := functionResponse{ID: call.id, Name: call.name, Response: map[string]string{key: text}}
	for _, p := range parts {
		if p.Data != nil {
			f.Parts = append(f.Parts, mediaPart{mediaBlob{p.MIMEType, p.Data}})
		}
	}
	for _, p := range m.Parts {
		if len(p.Data) > 0 {
			lost++
		}
	}
	return responsePart{f}, lost - len(f.Parts)
}

// responseMedia returns the types of media that the response of a function may
// contain.
func responseMedia() []string {
	return []string{provider.JPEG, provider.PNG, provider.WebP, provider.PDF}
}
