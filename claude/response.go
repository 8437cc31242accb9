package claude

import (
	"encoding/json"
	"errors"
	"iter"

	"github.com/toolpost/toolpost/claude/message"
)

// ErrNoResult reports messages that ended without a result.
var ErrNoResult = errors.New("the messages ended without a result")

// A Response is what a run came to.
type Response struct{}

// Collect reads messages to their end and returns what they came to. With an
// error, the response is what is known until then; nil if nothing is.
func Collect(seq iter.Seq2[message.Message, error]) (*Response, error) { return nil, nil }

// A ResultError is a result that is an error.
type ResultError struct {
	Subtype        string
	Errors         []string
	APIStatus      int
	TerminalReason string
	SessionID      string
}

func (e *ResultError) Error() string { return "" }

func resultError(r *message.Result) error { return nil }

var _ json.RawMessage
