package toolpost

import (
	"context"
	"encoding/json"
	"time"
)

// A Policy determines how a tool's calls run.
type Policy struct {
	Timeout time.Duration // limit for one call; 0 means none

	// Approve, if set, is called before the handler, after the arguments are
	// validated. An error denies the call; the model sees its text.
	Approve func(ctx context.Context, call *Call) error

	// Prepare, if set, rewrites the arguments before they are validated and
	// approved, for example names and types that models confuse.
	Prepare func(arguments json.RawMessage) json.RawMessage

	// SkipValidation leaves validation of the arguments to the tool's source.
	// Foreign servers often accept more than their schemas say.
	SkipValidation bool

	// Sequential has an agent run the call alone: earlier calls of the same
	// message have ended, and later ones have not begun.
	Sequential bool

	// Resumable lets an agent run a call again that the end of the process
	// interrupted: the tool continues it where it was.
	Resumable bool

	// Polled means that callers call the tool again and again, such as to wait for a
	// change. Its calls are logged at debug level, and an agent does not end a run
	// because the model repeats them.
	Polled bool

	Unlisted bool // the tool can be called, but lists for clients leave it out

	// MaxOutput is the number of characters of a result that the model receives
	// in full. 0 means the default limit; -1 means that the tool limits its
	// output itself.
	MaxOutput int
}
