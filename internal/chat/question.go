package chat

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/jsontree"
	"github.com/toolpost/toolpost/internal/terminal"
)

// A questioner is the [toolpost.Caller] of the tools: it asks the user what a tool
// or its server wants to know.
type questioner struct{ chat *Chat }

// Notify implements [toolpost.Caller]. The view shows calls without their progress.
func (q questioner) Notify(context.Context, string, json.RawMessage) error { return nil }

// Request implements [toolpost.Caller].
func (q questioner) Request(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	if method != "elicitation/create" {
		return nil, fmt.Errorf("%s: %w", method, toolpost.ErrNoCaller)
	}
	asked, err := jsontree.Parse(params, deepestForm)
	if err != nil {
		return nil, fmt.Errorf("read the question of the tool: %w", err)
	}
	done, stop := q.chat.takeTurn(ctx)
	if stop != nil {
		return nil, stop
	}
	defer done()
	q.chat.introduce(ctx, asked)
	answer, failed := q.chat.answerQuestion(ctx, asked)
	switch {
	case errors.Is(failed, io.EOF), errors.Is(failed, terminal.ErrInterrupt):
		q.chat.Interrupt()
		return json.RawMessage(`{"action":"cancel"}`), nil
	case failed != nil:
		return nil, failed
	}
	return answer, nil
}

// deepestForm is how deep the schema of a form may be; MCP's forms are flat.
const deepestForm = 10

// longestQuestion is how much of a question is shown, in bytes.
const longestQuestion = 10_000

// introduce shows who asks what.
func (c *Chat) introduce(ctx context.Context, asked *jsontree.Value) {
	who := "A tool"
	if name := toolpost.CallFrom(ctx).Name; name != "" {
		who = terminal.Printable(name)
	}
	s := &c.view.notes
	c.view.say("\n%s", s.paint(yellow, who+" asks you (do not type passwords or keys; it receives what you type):"))
	c.view.say("%s", terminal.Sanitize(jsontree.Clip(textOf(asked.Get("message")), longestQuestion)))
}

// answerQuestion returns the answer of the user in MCP's form, or the error of the
// terminal.
func (c *Chat) answerQuestion(ctx context.Context, asked *jsontree.Value) (json.RawMessage, error) {
	question := "Answer it? [y/N] "
	if asked.Get("mode").IsText("url") {
		c.view.say("%s", terminal.Printable(textOf(asked.Get("url"))))
		question = "Open this address in the browser? [y/N] "
	}
	word, err := c.lines.Read(ctx, question)
	if err != nil {
		return nil, err
	}
	if word = strings.ToLower(strings.TrimSpace(word)); word != "y" && word != "yes" {
		return json.RawMessage(`{"action":"decline"}`), nil
	}
	if asked.Get("mode").IsText("url") {
		if err := c.opts.OpenURL(textOf(asked.Get("url"))); err != nil {
			c.view.say("%s", terminal.Sanitize(err.Error()+"; open the address yourself"))
		}
		return json.RawMessage(`{"action":"accept"}`), nil
	}
	content, err := c.fillForm(ctx, asked.Get("requestedSchema"))
	if err != nil {
		return nil, err
	}
	return json.Marshal(map[string]any{"action": "accept", "content": content})
}

// fillForm asks for the value of each field of a form.
func (c *Chat) fillForm(ctx context.Context, form *jsontree.Value) (map[string]json.RawMessage, error) {
	content := map[string]json.RawMessage{}
	for _, p := range form.Get("properties").Members() {
		required := slices.ContainsFunc(form.Get("required").Items(), func(r *jsontree.Value) bool { return r.IsText(p.Name) })
		value, err := c.fill(ctx, newField(p, required))
		if err != nil {
			return nil, err
		}
		if value != nil {
			content[p.Name] = value
		}
	}
	return content, nil
}

// fill asks for a value until it is one of the field's. It is nil if the user leaves
// it out.
func (c *Chat) fill(ctx context.Context, f *field) (json.RawMessage, error) {
	for _, line := range f.lines {
		c.view.say("  %s", line)
	}
	for {
		text, err := c.lines.Read(ctx, f.prompt)
		if err != nil {
			return nil, err
		}
		value, err := f.read(strings.TrimSpace(text))
		if err == nil {
			return value, nil
		}
		c.view.say("  %s", terminal.Sanitize(err.Error()))
	}
}
