package upstream

import (
	"context"
	"encoding/json"
	"log/slog"
	"testing"

	"github.com/toolpost/toolpost"
)

// A stuckCaller reads nothing until it is released.
type stuckCaller struct {
	toolpost.Caller
	release chan struct{}
	heard   int
}

func (c *stuckCaller) Notify(context.Context, string, json.RawMessage) error {
	<-c.release
	c.heard++
	return nil
}

// A server that sends much to a caller that is slow fills no memory.
func TestQueueIsLimited(t *testing.T) {
	for name, test := range map[string]struct{ size, sent, most int }{
		"many":       {10, 3 * maxQueue, maxQueue},
		"large":      {maxQueueBytes / 4, 100, 4},
		"very large": {2 * maxQueueBytes, 10, 1},
	} {
		caller := &stuckCaller{release: make(chan struct{})}
		x := &exchange{request: &request{caller: caller}, ctx: t.Context(), log: slog.New(slog.DiscardHandler)}
		params := make(json.RawMessage, test.size)
		for range test.sent {
			x.relay.add(x.notify, delivery{method: "notifications/message", params: params})
		}
		close(caller.release)
		x.relay.wait(t.Context())
		if caller.heard == 0 || caller.heard > test.most {
			t.Errorf("%s: %d of %d notifications were kept, want at most %d", name, caller.heard, test.sent, test.most)
		}
		caller.release = make(chan struct{})
		x.relay.add(x.notify, delivery{method: "notifications/message", params: params})
		heard := caller.heard
		close(caller.release)
		if x.relay.wait(t.Context()); caller.heard != heard+1 {
			t.Errorf("%s: nothing has room after the queue was empty again", name)
		}
	}
}
