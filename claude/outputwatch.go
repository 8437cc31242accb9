package claude

import (
	"encoding/json"
	"slices"
	"sync/atomic"

	"github.com/toolpost/toolpost/claude/message"
)

const outputTool = "StructuredOutput" // the CLI's name for it

// An outputWatch follows the structured output of a session. See is called by
// the session's reader only.
type outputWatch struct {
	output  *answerSchema
	refused atomic.Bool     // the CLI does not offer the tool
	called  json.RawMessage // the last value of a call in this turn that fits
	said    string          // the last text of this turn
	last    json.RawMessage // the value of the last result that had one
}

// newOutputWatch returns nil if no structure is asked for.
func newOutputWatch(o *answerSchema) *outputWatch {
	if o == nil {
		return nil
	}
	return &outputWatch{output: o}
}

// see notes a message. It puts the value as it was asked for into the
// StructuredOutput of a result, also one that the run did not get to tell.
func (w *outputWatch) see(m message.Message) {
	if w == nil {
		return
	}
	switch m := m.(type) {
	case *message.Init:
		w.refused.Store(!slices.Contains(m.Tools, outputTool))
	case *message.Assistant:
		if m.IsMain() {
			w.hear(m.Content)
		}
	case *message.Result:
		w.settle(m)
	}
}

func (w *outputWatch) hear(content []message.Block) {
	for _, b := range content {
		switch b := b.(type) {
		case *message.ToolUse:
			if b.Name != outputTool {
				continue
			}
			if value, ok := w.output.fit(b.Input); ok {
				w.called = value
			}
		case *message.Text:
			w.said = b.Text
		}
	}
}

func (w *outputWatch) settle(r *message.Result) {
	switch {
	case r.StructuredOutput != nil:
		if value, err := w.output.read(r.StructuredOutput); err == nil {
			r.StructuredOutput = value
		}
	case endedEarly(r):
		r.StructuredOutput = w.recover(r)
	case !isFailure(r) && fromTask(r):
		r.StructuredOutput = w.last // the prompt was answered before
	}
	if r.StructuredOutput != nil {
		w.last = r.StructuredOutput
	}
	w.called, w.said = nil, ""
}

// recover is the value that the run came to before it had to end; nil if none.
func (w *outputWatch) recover(r *message.Result) json.RawMessage {
	if w.called != nil {
		return w.called
	}
	for _, text := range []string{resultText(r), w.said} {
		if value, ok := w.output.find(text); ok {
			return value
		}
	}
	return nil
}

// endedEarly reports whether a run had no chance to tell its output.
func endedEarly(r *message.Result) bool {
	switch r.Subtype {
	case "error_max_structured_output_retries", "error_max_turns", "error_during_execution":
		return true
	}
	return false
}

// resultText is the text of a result, "" if it has none.
func resultText(r *message.Result) string {
	if r.Result == nil {
		return ""
	}
	return *r.Result
}

// fromTask reports whether a background task caused the turn, not a prompt.
func fromTask(r *message.Result) bool { return r.Origin != nil && r.Origin.Kind != "human" }

// failure is what is wrong with a result as to its output; nil if nothing is.
func (w *outputWatch) failure(r *message.Result) error {
	if w == nil || isFailure(r) {
		return nil
	}
	e := &OutputError{SessionID: r.SessionID, Result: resultText(r)}
	switch {
	case r.StructuredOutput != nil:
		if e.Err = w.output.schema.Validate(r.StructuredOutput); e.Err == nil {
			return nil
		}
		e.Reason = "the model's output does not match the schema"
		if _, err := w.output.read(r.StructuredOutput); err != nil && w.output.wrapped {
			e.Err = err // of the value in its wrapping
		}
	case w.refused.Load():
		e.Reason = "this version of the CLI does not accept the schema; simplify it"
	default:
		e.Reason = "the model finished without giving it; ask for it in the prompt, or use another model"
	}
	return e
}

// hasRecovered reports whether a result that is an error has its output
// nevertheless.
func (w *outputWatch) hasRecovered(r *message.Result) bool {
	return w != nil && endedEarly(r) && r.StructuredOutput != nil
}
