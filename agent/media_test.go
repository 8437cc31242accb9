package agent_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/agent"
	"github.com/toolpost/toolpost/model"
)

// TestTooManyImages has a model that takes little at once. Images of results and of the
// user are removed, the oldest first, and the session goes on.
func TestTooManyImages(t *testing.T) {
	const most = 1 << 20
	image := make([]byte, 200<<10)
	show := toolpost.New("show", "Shows a picture.", func(context.Context, struct{ N int }) (*toolpost.Result, error) {
		return toolpost.NewResult(toolpost.Part{Type: "image", MIMEType: "image/png", Data: image}), nil
	}, nil)
	size, calls := 0, 0
	m := &script{t: t}
	m.think = func(r *model.Request) ([]model.Part, error) {
		size = 0
		for _, message := range r.Messages {
			for _, p := range message.Parts {
				size += len(p.Data)
				if p.Result != nil {
					for _, part := range p.Result.Parts {
						size += len(part.Data)
					}
				}
			}
		}
		if size > most {
			return nil, &model.Error{Kind: model.KindTooLong, Text: "too long"}
		}
		if calls++; calls <= 3 {
			var all []model.Part
			for i := range 3 {
				all = append(all, call(10*calls+i, "show", fmt.Sprintf(`{"N":%d}`, 10*calls+i)))
			}
			return all, nil
		}
		return say("Done."), nil
	}
	path := t.TempDir() + "/session.jsonl"
	s := open(t, path)
	picture := model.Part{Type: model.TypeImage, MIMEType: "image/png", Name: "first.png", Data: image}
	got := do(t, agent.New(m, toolpost.Tools{show}, nil), s, prompt("Look"), picture)
	if got.Text != "Done." || size == 0 {
		t.Errorf("%+v; %d bytes of images are left", got, size)
	}
	s.Close()
	s = open(t, path)
	if text := s.Messages()[0].Text(); !strings.Contains(text, "first.png") || !strings.Contains(text, "was removed to make room") || len(s.Messages()) != 8 {
		t.Errorf("%d messages; the first is %.300s", len(s.Messages()), text)
	}
}
