package claude

import (
	"encoding/json"

	"github.com/toolpost/toolpost/claude/message"
)

// An Output says what structure the answer has.
type Output struct {
	sent json.RawMessage
	err  error
}

// An outputWatch follows the structured output of a session. It is used by the
// session's reader, failure also by others.
type outputWatch struct{}

func newOutputWatch(o *Output) *outputWatch { return nil }

// see notes a message. It puts the value as it was asked for into the
// StructuredOutput of a result, also one that the run did not get to tell.
func (w *outputWatch) see(m message.Message) {}

// failure is what is wrong with a result as to its output; nil if nothing is.
func (w *outputWatch) failure(r *message.Result) error { return nil }

// recovered says that a result that is an error has its output nevertheless.
func (w *outputWatch) recovered(r *message.Result) bool { return false }
