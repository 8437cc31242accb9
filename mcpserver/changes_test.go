package mcpserver

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/toolpost/toolpost"
)

// senderFunc is a stream.
type senderFunc struct{ f func(message string) error }

func (s *senderFunc) send(_ context.Context, message []byte) error { return s.f(string(message)) }

// What a stream could not deliver, the next one does, also where each client
// has a list of its own.
func TestUndeliveredChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		live, err := toolpost.NewLive(t.Context(), toolpost.Tools{})
		if err != nil {
			t.Fatal(err)
		}
		now := &view{live: live}
		now.catalog.Store(&catalog{features: &features{}, tools: (&collector{}).listing("tools")})
		v := &views{choose: func(Client) (*toolpost.Live, error) { return live, nil }}
		v.all = map[weak.Pointer[toolpost.Live]]weak.Pointer[view]{weak.Make(live): weak.Make(now)}
		defer runtime.KeepAlive(now)
		topics := []topic{{method: toolsChanged}, {method: promptsChanged}, {resourceUpdated, "x://1"}}
		c := &changes{views: v, listeners: map[topic]map[*listener]bool{}}
		l := &listener{changes: c}
		for _, t := range topics {
			_, _ = c.join(l, t)
		}
		l.begin(Client{})
		broken := &senderFunc{func(string) error { return errors.New("broken") }}
		for range 2 {
			l.open(broken)
			for _, t := range topics {
				c.announce(t, now)
			}
			time.Sleep(time.Second)
			synctest.Wait()
		}
		got := map[string]int{}
		l.open(&senderFunc{func(m string) error { got[m]++; return nil }})
		time.Sleep(time.Second)
		synctest.Wait()
		for _, want := range []string{
			`{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{}}`,
			`{"jsonrpc":"2.0","method":"notifications/prompts/list_changed","params":{}}`,
			`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"x://1"}}`,
		} {
			if got[want] != 1 {
				t.Errorf("%d times %s", got[want], want)
			}
		}
		if len(got) != 3 {
			t.Errorf("got %v", got)
		}
	})
}
