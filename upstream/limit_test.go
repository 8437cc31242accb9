package upstream

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolpost/toolpost/internal/hidden"
	"github.com/toolpost/toolpost/internal/wire"
)

// One client cannot use up the questions of the others.
func TestQuestionsPerClient(t *testing.T) {
	p := newPeer(slog.New(slog.DiscardHandler), nil, nil)
	admitted := func(session string, size int) (n int) {
		for p.questions.Of(hidden.Owner{Session: session}).Take(size) {
			n++
		}
		return n
	}
	if n := admitted("a", 1); n != maxClientQuestions {
		t.Errorf("a has %d questions, want %d", n, maxClientQuestions)
	}
	total := maxClientQuestions
	for c := 'b'; ; c++ {
		n := admitted(string(c), 1)
		if total += n; n < maxClientQuestions {
			break
		}
	}
	if total != maxQuestions {
		t.Errorf("%d questions in all, want %d", total, maxQuestions)
	}
	p = newPeer(slog.New(slog.DiscardHandler), nil, nil)
	if a, b, c := admitted("a", maxQuestion), admitted("b", maxQuestion), admitted("c", maxQuestion); a != 2 || b != 2 || c != 0 {
		t.Errorf("%d, %d and %d of the largest questions, want 2, 2 and 0", a, b, c)
	}
}

// A server that answers nothing does not collect calls without bound.
func TestMostCalls(t *testing.T) {
	u := &Upstream{cfg: Config{Name: "srv"}, opts: Options{Patience: time.Nanosecond}, dial: &dialer{cfg: resolvedConfig{written: &Config{Name: "srv"}}, secrets: secretsOf(&Config{}, nil)}, changed: make(chan struct{}), lifecycle: lifecycle{ctx: t.Context()}}
	call := func() string {
		_, err := (&request{what: "tool t"}).run(t.Context(), u)
		return err.Error()
	}
	u.calls.Store(maxCalls)
	if got := call(); !strings.Contains(got, "has 1000 calls under way, which is the limit") {
		t.Errorf("got %q", got)
	}
	if n := u.calls.Load(); n != maxCalls {
		t.Errorf("%d calls are counted after one was refused", n)
	}
	u.calls.Store(maxCalls - 1)
	if got := call(); strings.Contains(got, "limit") {
		t.Errorf("the last call that is allowed: %q", got)
	}
}

// A connection that is closed as it begins to listen is closed once and at once;
// the race detector watches.
func TestCloseWhileListeningBegins(t *testing.T) {
	srv := httptest.NewServer(http.NotFoundHandler())
	defer srv.Close()
	cfg := (&Config{URL: srv.URL}).withDefaults()
	for range 100 {
		c := newStreamable(srv.Client(), &cfg, &limits{max: cfg.MaxMessage}, newPeer(slog.New(slog.DiscardHandler), nil, nil))
		var both sync.WaitGroup
		both.Go(func() { c.start(t.Context(), c.listen) })
		both.Go(func() { c.close() })
		both.Wait()
	}
	synctest.Test(t, func(t *testing.T) {
		c := newStreamable(nil, &cfg, &limits{}, newPeer(slog.New(slog.DiscardHandler), nil, nil))
		c.fail(errClosed)
		began := time.Now()
		if c.start(t.Context(), c.listen); time.Since(began) > 0 {
			t.Errorf("a closed connection waited %v for its stream", time.Since(began))
		}
	})
}

// A package runner that takes long is shown as installing.
func TestInstallingIsShown(t *testing.T) {
	for _, test := range []struct {
		command string
		after   time.Duration
		want    State
	}{
		{"npx", installNotice - time.Second, Connecting},
		{"npx", installNotice + time.Second, Installing},
		{"/usr/bin/npx.cmd", installNotice + time.Second, Installing},
		{"node", installNotice + time.Second, Connecting},
	} {
		synctest.Test(t, func(t *testing.T) {
			u := &Upstream{cfg: Config{Command: test.command}, changed: make(chan struct{}), lifecycle: lifecycle{ctx: t.Context()}, now: view{status: Status{State: Connecting}}}
			stop := u.noteInstall()
			time.Sleep(test.after)
			synctest.Wait()
			if got := u.Status().State; got != test.want {
				t.Errorf("%s after %v: %s, want %s", test.command, test.after, got, test.want)
			}
			stop()
		})
	}
}

// Commands that install packages have more time.
func TestConnectTimeouts(t *testing.T) {
	for _, test := range []struct {
		cfg  Config
		want time.Duration
	}{
		{Config{Command: "npx"}, 5 * time.Minute},
		{Config{Command: "/opt/bin/uvx"}, 5 * time.Minute},
		{Config{Command: "NPX.cmd"}, 5 * time.Minute},
		{Config{Command: "node"}, time.Minute},
		{Config{URL: "http://npx"}, time.Minute},
		{Config{Command: "npx", ConnectTimeout: time.Second}, time.Second},
	} {
		if got := test.cfg.withDefaults().ConnectTimeout; got != test.want {
			t.Errorf("%+v: %v, want %v", test.cfg, got, test.want)
		}
	}
}

// A silentConnection never answers.
type silentConnection struct{ connection }

func (silentConnection) call(ctx context.Context, _ *exchange, _ []byte) error {
	<-ctx.Done()
	return ctx.Err()
}

func (silentConnection) send(context.Context, string, []byte) error { return nil }

// An acknowledgement that comes late, from the session before, does not keep a new
// session waiting.
func TestAcknowledgementOfAnotherSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &watch{uris: map[string]bool{}, agreed: make(chan struct{}), changed: make(chan struct{}, 1)}
		s := newSession(&dialer{log: slog.New(slog.DiscardHandler), watch: w}, HTTP)
		s.conn, s.hello = silentConnection{}, hello{version: modernVersion, capabilities: json.RawMessage(`{"tools":{"listChanged":true}}`)}
		time.AfterFunc(time.Millisecond, func() { w.acknowledged(new(wire.Message)) })
		began := time.Now()
		w.begin(t.Context(), s)()
		if took := time.Since(began); took > time.Second {
			t.Errorf("it took %v", took)
		}
	})
}
