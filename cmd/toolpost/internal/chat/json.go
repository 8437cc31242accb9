package chat

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/agent"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/terminal"
	"github.com/toolpost/toolpost/internal/cleartext"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/usage"
)

// A jsonView writes one JSON object for each event.
type jsonView struct{ out io.Writer }

// A jsonEvent is one line. Type determines which members there are.
type jsonEvent struct {
	Type string `json:"type"` // session, or one of agent.Event

	ID   string `json:"id,omitempty"`   // session: of the session
	File string `json:"file,omitempty"` // session: where it is stored

	Part    int            `json:"part,omitempty"`    // delta: the index of the part of the message
	Kind    model.PartType `json:"kind,omitempty"`    // delta: text, thinking, tool_call or opaque
	Name    string         `json:"name,omitempty"`    // delta: of a tool call, the tool
	Text    string         `json:"text,omitempty"`    // delta: what is added; notice: the notice
	Restart string         `json:"restart,omitempty"` // delta: the response begins again, for this reason

	Model   string           `json:"model,omitempty"`   // response, session
	Message *model.Message   `json:"message,omitempty"` // response
	Stop    model.StopReason `json:"stop,omitempty"`    // response: why it ended
	Tokens  *usage.Tokens    `json:"tokens,omitempty"`  // response

	Call   *agent.Request        `json:"call,omitempty"`   // call, result
	Result *toolpost.ToolMessage `json:"result,omitempty"` // result

	End *agent.Result `json:"end,omitempty"` // end

	Error string `json:"error,omitempty"` // error
}

func (v *jsonView) Event(e *agent.Event) error {
	line := jsonEvent{Type: string(e.Type), Text: e.Text, Call: e.Call, Result: e.Result, End: e.End}
	if d := e.Delta; d != nil {
		if d.Response != nil {
			return nil // the event of the response follows
		}
		line.Part, line.Kind, line.Name, line.Text = d.Part, d.Type, d.Name, d.Text
		if d.Restart != nil {
			line.Restart = d.Restart.Error()
		}
	}
	if r := e.Response; r != nil {
		line.Model, line.Message, line.Stop, line.Tokens = r.Model, r.Message, r.Stop, &r.Usage
	}
	return v.write(&line)
}

func (v *jsonView) write(line *jsonEvent) error {
	raw, err := json.Marshal(line)
	if err != nil {
		return fmt.Errorf("encode an event: %w", err)
	}
	text := string(raw)
	if terminal.Is(v.out) {
		text = cleartext.Sanitize(text)
	}
	if _, err := io.WriteString(v.out, text+"\n"); err != nil {
		return fmt.Errorf("write an event: %w", err)
	}
	return nil
}

// Begin reports the session, before the first turn. File is where it is stored.
func (c *Chat) Begin(file string) error {
	if c.json == nil {
		return nil
	}
	return c.json.write(&jsonEvent{Type: "session", ID: c.opts.Session.ID(), File: file, Model: c.opts.Model.Origin().String()})
}

// Fail reports an error that ended a turn, if events are written as JSON.
func (c *Chat) Fail(err error) error {
	if c.json == nil || err == nil {
		return nil
	}
	return c.json.write(&jsonEvent{Type: "error", Error: err.Error()})
}
