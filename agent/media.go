package agent

import (
	"fmt"
	"strings"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/model"
)

// dropMedia replaces images and documents by notes, if they are more than half of the
// conversation: the oldest, until half of their bytes are gone.
func (r *run) dropMedia() (dropped int, err error) {
	now := r.session.snapshot()
	var media, texts int
	for _, m := range now.messages {
		for i := range m.Parts {
			inPart, inTexts := mediaSize(&m.Parts[i])
			media, texts = media+inPart, texts+inTexts
		}
	}
	if media <= texts || media < leastMedia {
		return 0, nil
	}
	var changed []trimmedPart
	gone := 0
	for i, m := range now.messages {
		for k := range m.Parts {
			if size, _ := mediaSize(&m.Parts[k]); size > 0 && 2*gone < media {
				changed = append(changed, withoutMedia(&m.Parts[k], i, k))
				gone += size
			}
		}
	}
	if err := r.session.append(&record{Type: recordTrim, Trimmed: changed}); err != nil {
		return 0, err
	}
	return len(changed), r.notice("images and documents of %d messages and outputs are removed, because the conversation is too long for the model", len(changed))
}

// leastMedia is how many bytes of images and documents are worth removing.
const leastMedia = 64 << 10

// mediaSize returns how many bytes of a part are an image or a document, and how many
// are text.
func mediaSize(p *model.Part) (media, texts int) {
	media, texts = len(p.Data), len(p.Text)+len(p.Arguments)
	if p.Result == nil {
		return media, texts
	}
	texts += len(p.Result.Text)
	for i := range p.Result.Parts {
		media += len(p.Result.Parts[i].Data)
		texts += len(p.Result.Parts[i].Text)
	}
	return media, texts
}

// withoutMedia is how a part loses its images and documents.
func withoutMedia(p *model.Part, message, part int) trimmedPart {
	t := trimmedPart{Message: message, Part: part}
	if p.Result == nil {
		t.Note = mediaNote(string(p.Type), p.Name, p.MIMEType)
		return t
	}
	short := *p.Result
	short.Parts = nil
	for _, in := range p.Result.Parts {
		if len(in.Data) > 0 {
			in = toolpost.Part{Type: "text", Text: mediaNote(in.Type, in.Name, in.MIMEType)}
		}
		short.Parts = append(short.Parts, in)
	}
	t.Result = &short
	return t
}

// mediaNote stands where an image or a document was.
func mediaNote(kind, name, mimeType string) string {
	what := strings.Join(strings.Fields(kind+" "+name), " ")
	return fmt.Sprintf("[%s of type %q was here and was removed to make room; ask for it, or call the tool, if you need it again]", what, mimeType)
}
