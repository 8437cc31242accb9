package provider

import (
	"fmt"
	"slices"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/schema/dialect"
)

// Losses are the parts of a request that the model receives in another form or
// not at all.
type Losses []model.Loss

// Add adds a loss.
func (l *Losses) Add(message, part int, format string, args ...any) {
	*l = append(*l, model.Loss{Message: message, Part: part, Text: fmt.Sprintf(format, args...)})
}

// AddForeign adds a part that is left out, because only its provider understands
// it, unless a loss of the same message reports the part already.
func (l *Losses) AddForeign(message, part int, p *model.Part) {
	for _, loss := range slices.Backward(*l) {
		if loss.Message != message {
			break
		}
		if loss.Part == part {
			return
		}
	}
	l.Add(message, part, "%s of %s is left out: only its provider understands it", PartName(p), OriginName(p.Origin))
}

// AddDamaged adds a part whose raw form the provider would not accept.
func (l *Losses) AddDamaged(message, part int, p *model.Part, problem any) {
	l.Add(message, part, "%s cannot be sent back as it was received: %v", PartName(p), problem)
}

// AddMedia adds the media of a tool's result that the model does not take.
func (l *Losses) AddMedia(message, part int, m *toolpost.ToolMessage, takes []string) {
	for _, p := range m.Parts {
		if len(p.Data) > 0 && !slices.Contains(takes, p.MIMEType) {
			l.Add(message, part, "%s of a tool result is described in text", MediaName(p.MIMEType))
		}
	}
}

// AddSchema adds what the provider's form of the answer's schema lost. If the
// schema was rejected it adds nothing, and returns the reason.
func (l *Losses) AddSchema(s *dialect.Lowered) (rejected string) {
	if loss := s.Rejected(); loss != nil {
		return loss.Detail
	}
	for _, loss := range s.Losses {
		if !loss.Kind.Exact() {
			l.Add(-1, -1, "schema of the answer, %s, %s: %s", loss.Pointer, loss.Keyword, loss.Detail)
		}
	}
	return ""
}

// PartName returns what a loss calls a part.
func PartName(p *model.Part) string {
	switch {
	case p.Type != model.TypeOpaque:
		return "the " + string(p.Type)
	case p.Text == "":
		return "the opaque part"
	}
	return fmt.Sprintf("the opaque part %q", p.Text)
}

// OriginName returns what a loss calls the model that wrote a part.
func OriginName(o *model.Origin) string {
	if o == nil {
		return "an unknown model"
	}
	return o.String()
}
