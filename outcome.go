package toolpost

import (
	"errors"
	"fmt"
)

// A Kind says what should happen after a call.
type Kind int

// The kinds of results. An error that names none is KindFailed.
const (
	KindOK       Kind = iota // the call did what it should
	KindFailed               // the call failed, and other arguments would not help
	KindRetry                // the model can fix the arguments and call again
	KindDenied               // the call is not allowed
	KindComplete             // the run is done; this is not a failure
)

// An Outcome is an error by which a handler says what should happen next.
// Its text is written for the model.
type Outcome struct {
	Kind Kind
	Text string
}

func (o *Outcome) Error() string { return o.Text }

// Retry reports arguments that the model can fix; the text says how.
func Retry(format string, args ...any) error { return outcome(KindRetry, format, args) }

// Failed reports a failure that no other arguments would avoid.
func Failed(format string, args ...any) error { return outcome(KindFailed, format, args) }

// Denied reports a call that is not allowed.
func Denied(format string, args ...any) error { return outcome(KindDenied, format, args) }

// Complete ends the run; the text is its result.
func Complete(format string, args ...any) error { return outcome(KindComplete, format, args) }

func outcome(k Kind, format string, args []any) error {
	return &Outcome{Kind: k, Text: fmt.Sprintf(format, args...)}
}

// ErrNotFound reports that no tool, prompt or resource has the called name.
var ErrNotFound = errors.New("not found")

// A ProtocolError is a failure of the exchange, not of the tool: it is passed
// to the caller as a JSON-RPC error (https://www.jsonrpc.org/specification, §5.1).
type ProtocolError struct {
	Code    int64
	Message string
	Data    []byte // JSON, nil if none
}

func (e *ProtocolError) Error() string { return e.Message }
