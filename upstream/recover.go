package upstream

import (
	"fmt"
	"log/slog"
	"runtime/debug"
)

// recovered must be deferred by code that handles foreign messages on a
// goroutine of ours. A panic there is a defect, but it must not end the
// process: it is logged, and then gets the error.
func recovered(log *slog.Logger, doing string, then func(error)) {
	p := recover()
	if p == nil {
		return
	}
	if log != nil {
		log.Error("internal error", "doing", doing, "panic", p, "stack", string(debug.Stack()))
	}
	then(fmt.Errorf("internal error (%s): %v; the log has the details", doing, p))
}
