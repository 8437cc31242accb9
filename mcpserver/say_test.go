package mcpserver

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/toolpost/toolpost"
)

type deafStream struct{}

func (deafStream) send(context.Context, []byte) error { return nil }

// What waits for a client that has not read it is limited, and nothing waits for a
// client without a stream.
func TestNotificationsWaitWithinLimits(t *testing.T) {
	for size, want := range map[int]int{10: maxSaid, 100 << 10: 2, maxSaidBytes + 1: 0} {
		synctest.Test(t, func(t *testing.T) {
			live, err := toolpost.NewLive(t.Context(), toolpost.Tools{})
			if err != nil {
				t.Fatal(err)
			}
			server := New(live, nil)
			defer server.Close()
			s := server.core.newSession(opener{})
			if err := s.begin(&peer{}); err != nil {
				t.Fatal(err)
			}
			notify := func(n int) {
				for i := range n {
					server.Notify(&toolpost.Call{Session: s.name, Name: fmt.Sprint("x/", i), Params: []byte(`"` + strings.Repeat("x", size) + `"`)})
				}
			}
			notify(10)
			s.listener.open(deafStream{})
			notify(200) // no time passes here, so that nothing is written yet
			s.listener.mu.Lock()
			waiting := len(s.listener.said)
			s.listener.mu.Unlock()
			if waiting != want {
				t.Errorf("%d notifications of %d bytes wait, want %d", waiting, size, want)
			}
		})
	}
}
