package chat

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/terminal"
	"github.com/toolpost/toolpost/internal/cleartext"
	"github.com/toolpost/toolpost/internal/jsontree"
)

// A watcher is the [toolpost.Caller] of the tools: it shows how far a call is.
type watcher struct{ chat *Chat }

// Notify implements [toolpost.Caller]. The progress of a call is its last line of output.
func (w watcher) Notify(ctx context.Context, method string, params json.RawMessage) error {
	var p struct {
		Progress, Total float64
		Message         string
	}
	if method != "notifications/progress" || json.Unmarshal(params, &p) != nil {
		return nil
	}
	text := p.Message
	if p.Total > 0 {
		text = strings.TrimSpace(fmt.Sprintf("%g of %g %s", p.Progress, p.Total, text))
	}
	_, _ = io.WriteString(w.chat.Watch(ctx), "\r"+cleartext.Printable(text)) // it never fails
	return nil
}

// Request implements [toolpost.Caller].
func (w watcher) Request(_ context.Context, method string, _ json.RawMessage) (json.RawMessage, error) {
	return nil, fmt.Errorf("%s: %w", method, toolpost.ErrNoCaller)
}

// A questioner is a watcher that asks the user what a tool or its server wants to know.
type questioner struct{ watcher }

// Request implements [toolpost.Caller].
func (q questioner) Request(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	if method != "elicitation/create" {
		return q.watcher.Request(ctx, method, params)
	}
	asked, syntax := jsontree.Parse(params, deepestForm)
	if syntax != nil {
		return nil, fmt.Errorf("read the question of the tool: %w", syntax)
	}
	fields, err := readForm(asked)
	if err != nil {
		return nil, fmt.Errorf("the question of the tool is not asked: %w", err)
	}
	done, err := q.chat.beginQuestion(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	answer, err := q.chat.answerQuestion(ctx, asked, fields)
	switch {
	case errors.Is(err, io.EOF):
		return json.RawMessage(`{"action":"decline"}`), nil
	case errors.Is(err, terminal.ErrInterrupt):
		q.chat.Interrupt()
		return json.RawMessage(`{"action":"cancel"}`), nil
	}
	return answer, err
}

// deepestForm is how deep the schema of a form may be; MCP's forms are flat.
const deepestForm = 10

// Limits of a question, so that what it shows stays readable.
const (
	longestQuestion = 4_000 // bytes
	longestAddress  = 8_000
)

// showMessage shows what a tool asks, and returns the name of the tool.
func (c *Chat) showMessage(ctx context.Context, asked *jsontree.Value) (who string) {
	who = "a tool"
	if name := toolpost.CallFrom(ctx).Name; name != "" {
		who = terminal.Cut(cleartext.Printable(name), 80)
	}
	s := &c.view.notes
	c.view.say("\n%s", s.paint(yellow, s.fit(who+" asks you; do not type passwords or keys, it receives what you type:")))
	lines := strings.Split(cleartext.Sanitize(cleartext.Clip(textOf(asked.Get("message")), longestQuestion)), "\n")
	for _, line := range lines[:min(len(lines), maxShown)] {
		c.view.say("%s", s.block(line))
	}
	if more := len(lines) - maxShown; more > 0 {
		c.view.say("… %d lines more", more)
	}
	return who
}

// answerQuestion shows a question and returns the answer of the user in MCP's form, or
// the error of the terminal.
func (c *Chat) answerQuestion(ctx context.Context, asked *jsontree.Value, fields []*field) (json.RawMessage, error) {
	who := c.showMessage(ctx, asked)
	address := asked.Get("mode").IsText("url")
	question := "Answer " + who + "? y yes · n no: "
	if address {
		c.view.say("  %s", cleartext.Printable(textOf(asked.Get("url"))))
		question = "Open this address in the browser? y yes · n no: "
	} else if len(fields) > 0 {
		question = "Answer " + who + "? y yes · n no, and Ctrl-D later: "
	}
	key, err := c.lines.Choose(ctx, c.view.notes.paint(bold, question), "yn")
	if err != nil {
		return nil, err
	}
	if key != 'y' {
		return json.RawMessage(`{"action":"decline"}`), nil
	}
	if address {
		if err := c.opts.OpenURL(textOf(asked.Get("url"))); err != nil {
			c.view.say("%s", cleartext.Sanitize(err.Error()+"; open the address yourself"))
		}
		return json.RawMessage(`{"action":"accept"}`), nil
	}
	content, err := c.fillForm(ctx, fields)
	if err != nil {
		return nil, err
	}
	return json.Marshal(map[string]any{"action": "accept", "content": content})
}

// fillForm asks for the value of each field.
func (c *Chat) fillForm(ctx context.Context, fields []*field) (map[string]json.RawMessage, error) {
	content := map[string]json.RawMessage{}
	for _, f := range fields {
		value, err := c.fill(ctx, f)
		if err != nil {
			return nil, err
		}
		if value != nil {
			content[f.name] = value
		}
	}
	return content, nil
}

// fill asks for a value until it is one of the field's. It is nil if the user leaves
// it out.
func (c *Chat) fill(ctx context.Context, f *field) (json.RawMessage, error) {
	for _, line := range f.lines {
		c.view.say("%s", c.view.notes.block(line))
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
		c.view.say("  %s", cleartext.Sanitize(err.Error()))
	}
}
