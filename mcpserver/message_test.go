package mcpserver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/wire"
)

type deafStream struct{}

func (deafStream) send(context.Context, []byte) error { return nil }

// What waits for a client that has not read it is limited, and nothing waits for a
// client without a stream.
func TestNotificationsWaitWithinLimits(t *testing.T) {
	for size, want := range map[int]int{10: maxSaid, 100 << 10: 2, maxSaidBytes + 1: 0} {
		synctest.Test(t, func(t *testing.T) {
			server, err := New(t.Context(), toolpost.Tools{}, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer server.Close()
			s := server.core.newSession(opener{})
			if err := s.begin(&peer{}); err != nil {
				t.Fatal(err)
			}
			notify := func(n int) {
				for i := range n {
					server.event(toolpost.Event{Notification: &toolpost.Call{Session: s.name, Name: fmt.Sprint("x/", i), Params: []byte(`"` + strings.Repeat("x", size) + `"`)}}, server.core.views.base)
				}
			}
			notify(10)
			s.listener.open(deafStream{})
			notify(200) // no time passes here, so that nothing is written yet
			s.listener.changes.mu.Lock()
			waiting := len(s.listener.said)
			s.listener.changes.mu.Unlock()
			if waiting != want {
				t.Errorf("%d notifications of %d bytes wait, want %d", waiting, size, want)
			}
		})
	}
}

// A client that has read the answer to initialize misses no notification from then on.
func TestNotificationRightAfterInitialize(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, err := New(t.Context(), toolpost.Tools{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer server.Close()
		var got []string
		d := server.core.newSession(opener{}).newDuplex(func(p payload) error {
			var raw bytes.Buffer
			for i := range p {
				_ = p[i].copy(&raw, 0, p[i].size())
			}
			if got = append(got, raw.String()); len(got) == 1 { // the client has the answer
				server.event(toolpost.Event{Notification: &toolpost.Call{Name: "x/changed"}}, server.core.views.base)
			}
			return nil
		})
		msgs, batch, fault := wire.Parse([]byte(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"` + wire.LastSession + `","capabilities":{},"clientInfo":{"name":"a","version":"1"}}}`))
		if fault != nil {
			t.Fatal(fault)
		}
		if err := d.deliver(t.Context(), msgs, batch, newHold(server.core.held, d.quotaHolder(), 100)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if len(got) != 2 || !strings.Contains(got[0], "protocolVersion") || !strings.Contains(got[1], "x/changed") {
			t.Errorf("the client got %q", got)
		}
		d.end(errEnded)
	})
}

// A source that is closed with the server is no cause for a warning.
func TestEndOfWatchingIsSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		closed := make(chan struct{})
		features := &toolpost.Features{Subscribe: func(_ context.Context, _ string, on bool) error {
			if on {
				return nil
			}
			<-closed
			return errors.New("it was closed")
		}}
		server, err := New(t.Context(), features, &Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
		if err != nil {
			t.Fatal(err)
		}
		s := server.core.newSession(opener{})
		if err := s.begin(&peer{}); err != nil {
			t.Fatal(err)
		}
		if err := server.core.watchers.subscribe(t.Context(), &s.listener, server.core.views.base, "x://y"); err != nil {
			t.Fatal(err)
		}
		s.end(errEnded)
		synctest.Wait()
		if err := server.Close(); err != nil {
			t.Fatal(err)
		}
		close(closed)
		synctest.Wait()
		if log.Len() > 0 {
			t.Errorf("it logs %s", &log)
		}
	})
}
