// Package demo is a model that needs no key and no network: a script that looks
// through the current folder with the real tools, writes a report, and answers.
// Its answers depend on the results of the tools.
package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strings"

	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/usage"
)

// Report is the file that the demo writes.
const Report = "TOOLPOST-DEMO.md"

// Suggestion is a prompt for the demo. It does the same for any other.
const Suggestion = "Look through this folder and write a short report about it."

func origin() model.Origin { return model.Origin{Provider: "demo", API: "script", Model: "script"} }

type script struct{}

// New returns the model. It is the same at each call, and keeps no state: its
// next step follows from the conversation.
func New() model.Model { return script{} }

// Origin identifies the model.
func (script) Origin() model.Origin { return origin() }

// Check returns the reason why real models would refuse the request.
func (script) Check(r *model.Request) error { return r.Validate() }

// Stream takes the next step of the task.
func (s script) Stream(ctx context.Context, r *model.Request) iter.Seq2[*model.Delta, error] {
	return func(yield func(*model.Delta, error) bool) {
		if err := s.Check(r); err != nil {
			yield(nil, &model.Error{Origin: origin(), Kind: model.KindInvalid, Err: err})
			return
		}
		text, calls := next(r)
		for piece := range strings.SplitAfterSeq(text, " ") {
			if ctx.Err() != nil || piece != "" && !yield(&model.Delta{Type: model.TypeText, Text: piece}, nil) {
				return
			}
		}
		m := &model.Message{Role: model.RoleAssistant, Parts: []model.Part{{Type: model.TypeText, Text: text, Origin: new(origin())}}}
		for i, c := range calls {
			if !yield(&model.Delta{Part: i + 1, Type: model.TypeCall, Name: c.Name, Text: string(c.Arguments)}, nil) {
				return
			}
			c.ID, c.Origin = fmt.Sprintf("demo_%d_%d", len(r.Messages), i+1), new(origin())
			m.Parts = append(m.Parts, c)
		}
		stop := model.StopEnd
		if len(calls) > 0 {
			stop = model.StopCalls
		}
		yield(&model.Delta{Response: &model.Response{ID: fmt.Sprint("demo_", len(r.Messages)), Model: "script", Message: m, Stop: stop,
			Usage: usage.Tokens{Input: estimate(r), Output: size(m) / bytesPerToken}}}, nil)
	}
}

// bytesPerToken is the usual estimate for English text and JSON.
const bytesPerToken = 4

// estimate returns about how many tokens a real model would read for r.
func estimate(r *model.Request) int {
	n := len(r.System)
	for _, m := range r.Messages {
		n += size(m)
	}
	if r.Tools != nil {
		tools, _ := r.Tools.Tools(context.Background()) // a Set never fails
		for _, t := range tools {
			n += len(t.Name) + len(t.Description) + len(t.Input.Raw())
		}
	}
	return n / bytesPerToken
}

func size(m *model.Message) int {
	n := 0
	for _, p := range m.Parts {
		n += len(p.Text) + len(p.Arguments)
		if p.Result != nil {
			n += len(resultText(&p))
		}
	}
	return n
}

// call returns a tool call with these arguments.
func call(tool string, arguments any) model.Part {
	raw, err := json.Marshal(arguments)
	if err != nil {
		panic(err) // they are texts and lists
	}
	return model.Part{Type: model.TypeCall, Name: tool, Arguments: raw}
}

// resultText is the text of a tool result.
func resultText(p *model.Part) string {
	text := p.Result.Text
	for _, part := range p.Result.Parts {
		text += part.Text
	}
	return text
}
