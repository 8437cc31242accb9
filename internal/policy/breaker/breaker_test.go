package breaker_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/policy/breaker"
	"github.com/toolpost/toolpost/observe"
)

// A server is called through breakers.
type server struct {
	*breaker.Breakers
	answer error // of the server
	calls  int   // that it got
}

func (s *server) call(ctx context.Context) error {
	_, err := s.Around(&observe.Target{Server: "s"}, func(ctx context.Context, _ *toolpost.Call) (*toolpost.Result, error) {
		s.calls++
		return toolpost.TextResult("x"), s.answer
	})(ctx, &toolpost.Call{})
	return err
}

// reaches reports whether the next call gets to the server.
func (s *server) reaches(t *testing.T) bool {
	t.Helper()
	before := s.calls
	ctx, request := observe.Begin(t.Context())
	err := s.call(ctx)
	refused := s.calls == before
	if refused != (request.Noted() == observe.CircuitOpen) || refused && (err == nil || !strings.Contains(err.Error(), "Call again in")) {
		t.Errorf("a call that reached the server: %v, is noted as %q: %v", !refused, request.Noted(), err)
	}
	return !refused
}

func TestBreaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gone := &toolpost.UnavailableError{Text: "gone"}
		s := &server{Breakers: breaker.New(nil), answer: gone}
		for range 4 {
			if !s.reaches(t) {
				t.Fatal("it opened too early")
			}
		}
		for _, harmless := range []error{nil, toolpost.Failed.Errorf("no"), &toolpost.ProtocolError{Code: -32000}} { // each begins the count again
			s.answer = harmless
			s.reaches(t)
			s.answer = gone
			for range 4 {
				if !s.reaches(t) {
					t.Fatalf("it opened although the server had answered %v", harmless)
				}
			}
		}
		s.reaches(t)
		if s.reaches(t) {
			t.Fatal("it did not open")
		}
		time.Sleep(5 * time.Second)
		if !s.reaches(t) || s.reaches(t) {
			t.Fatal("half open, it lets one call pass")
		}
		time.Sleep(9 * time.Second)
		if s.reaches(t) {
			t.Fatal("a failed probe doubles the wait")
		}
		time.Sleep(time.Second)
		s.answer = nil
		for range 3 {
			if !s.reaches(t) {
				t.Fatal("a success closes it")
			}
		}
	})
}

// While a call probes the server, others are refused; if it is canceled, the next
// one probes.
func TestBreakerProbe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{Breakers: breaker.New(nil), answer: &toolpost.UnavailableError{Text: "gone"}}
		for range 5 {
			s.reaches(t)
		}
		time.Sleep(5 * time.Second)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() {
			_, err := s.Around(&observe.Target{Server: "s"}, func(ctx context.Context, _ *toolpost.Call) (*toolpost.Result, error) {
				<-ctx.Done()
				return nil, ctx.Err()
			})(ctx, &toolpost.Call{})
			ended <- err
		}()
		synctest.Wait()
		if s.reaches(t) {
			t.Error("a second call probes the server")
		}
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		s.answer = nil
		if !s.reaches(t) {
			t.Error("no call probes the server after the first one was canceled")
		}
	})
}

// A call that takes long keeps others waiting only for a while.
func TestBreakerLongProbe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{Breakers: breaker.New(nil), answer: &toolpost.UnavailableError{Text: "gone"}}
		for range 5 {
			s.reaches(t)
		}
		time.Sleep(5 * time.Second)
		go func() {
			_, _ = s.Around(&observe.Target{Server: "s"}, func(context.Context, *toolpost.Call) (*toolpost.Result, error) {
				time.Sleep(time.Hour)
				return toolpost.TextResult("x"), nil
			})(t.Context(), &toolpost.Call{})
		}()
		synctest.Wait()
		s.answer = nil
		if s.reaches(t) {
			t.Error("a second call tries the server at once")
		}
		time.Sleep(5 * time.Second)
		for range 2 {
			if !s.reaches(t) {
				t.Error("a call that takes long keeps all others from the server")
			}
		}
		time.Sleep(time.Hour)
	})
}

func TestBreakerClosesOnConnect(t *testing.T) {
	connects := 1
	s := &server{Breakers: breaker.New(func(string) breaker.Connection { return breaker.Connection{Connects: connects} }), answer: &toolpost.UnavailableError{Text: "gone", Timeout: true}}
	for range 5 {
		s.reaches(t)
	}
	if s.reaches(t) {
		t.Fatal("it did not open")
	}
	connects++
	if !s.reaches(t) {
		t.Error("a new connection does not close it")
	}
}

func TestBreakerRetryAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{Breakers: breaker.New(nil), answer: &toolpost.UnavailableError{Text: "429", RetryAfter: 30 * time.Second}}
		s.reaches(t)
		time.Sleep(29 * time.Second)
		if s.reaches(t) {
			t.Error("the server asked for 30 s without calls")
		}
		time.Sleep(time.Second)
		if !s.reaches(t) {
			t.Error("it stays open")
		}
	})
}

// A Retry-After holds until its end, however calls end that had begun before it.
func TestBreakerKeepsRetryAfter(t *testing.T) {
	asks := func(wait time.Duration) error { return &toolpost.UnavailableError{Text: "429", RetryAfter: wait} }
	for name, answer := range map[string]error{
		"success":             nil,
		"failure of the tool": toolpost.Failed.Errorf("no"),
		"connection lost":     &toolpost.UnavailableError{Text: "gone"},
		"shorter Retry-After": asks(time.Second),
		"login needed":        &toolpost.UnavailableError{Text: "log in", Login: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &server{Breakers: breaker.New(nil), answer: asks(30 * time.Second)}
				before := make(chan error)
				for range 6 {
					go func() {
						_, _ = s.Around(&observe.Target{Server: "s"}, func(context.Context, *toolpost.Call) (*toolpost.Result, error) {
							return toolpost.TextResult("x"), <-before
						})(t.Context(), &toolpost.Call{})
					}()
				}
				synctest.Wait()
				s.reaches(t)
				for range 6 {
					before <- answer
				}
				synctest.Wait()
				time.Sleep(29 * time.Second)
				if s.reaches(t) {
					t.Error("the server asked for 30 s without calls")
				}
				time.Sleep(time.Second)
				if !s.reaches(t) {
					t.Error("it stays open")
				}
			})
		})
	}
}

// Calls that need a login do not open the breaker, and an open one does not hide
// how to log in.
func TestBreakerShowsThatALoginIsNeeded(t *testing.T) {
	var connection breaker.Connection
	s := &server{Breakers: breaker.New(func(string) breaker.Connection { return connection }), answer: &toolpost.UnavailableError{Text: "run: toolpost login s", Login: true}}
	for range 10 {
		if !s.reaches(t) {
			t.Fatal("calls that need a login opened it")
		}
	}
	s.answer = &toolpost.UnavailableError{Text: "gone"}
	for range 5 {
		s.reaches(t)
	}
	if s.reaches(t) {
		t.Fatal("it did not open")
	}
	connection.NeedsLogin = true
	for range 2 {
		if !s.reaches(t) {
			t.Error("it hides that a login is needed")
		}
	}
}

// A tool that takes too long is refused by itself; its server is refused when another
// tool takes too long too.
func TestBreakerOfTool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		connects := 0
		b := breaker.New(func(string) breaker.Connection { return breaker.Connection{Connects: connects} })
		slow := &toolpost.UnavailableError{Text: "slow", Timeout: true}
		reaches := func(method, name string, answer error) bool {
			called := false
			_, err := b.Around(&observe.Target{Server: "s", Method: method, Name: name}, func(context.Context, *toolpost.Call) (*toolpost.Result, error) {
				called = true
				return nil, answer
			})(t.Context(), &toolpost.Call{})
			if !called && !strings.Contains(err.Error(), "Call again in") {
				t.Error(err)
			}
			return called
		}
		check := func(what string, got, want bool) {
			t.Helper()
			if got != want {
				t.Errorf("%s reaches the server: %v", what, got)
			}
		}
		hang := func() {
			t.Helper()
			for range 5 {
				check("the hanging tool", reaches("tools/call", "hangs", slow), true)
			}
			check("the hanging tool", reaches("tools/call", "hangs", slow), false)
		}
		hang()
		check("another tool", reaches("tools/call", "works", nil), true)
		check("a prompt of the same name", reaches("prompts/get", "hangs", nil), true)
		check("a resource", reaches("resources/read", "", nil), true)
		check("the hanging tool after an answer of another", reaches("tools/call", "hangs", nil), false)

		time.Sleep(5 * time.Second)
		check("the hanging tool, tried again", reaches("tools/call", "hangs", slow), true)
		time.Sleep(5 * time.Second)
		check("the hanging tool, tried in vain", reaches("tools/call", "hangs", slow), false)
		time.Sleep(5 * time.Second)
		check("the tool, tried again", reaches("tools/call", "hangs", nil), true)
		hang() // an answer begins the count again

		connects++
		hang() // so does a new connection

		check("another tool", reaches("tools/call", "hangs too", slow), true)
		check("a tool of a server that hangs", reaches("tools/call", "works", nil), false)
		time.Sleep(5 * time.Second)
		check("a probe", reaches("tools/call", "works", nil), true)
		check("another tool", reaches("tools/call", "hangs too", nil), true)
	})
}

// However many tools hang, what is known of them is bounded, and a server that answers
// others stays in use.
func TestBreakerOfManyTools(t *testing.T) {
	b := breaker.New(nil)
	call := func(name string, answer error) bool {
		called := false
		_, _ = b.Around(&observe.Target{Server: "s", Name: name}, func(context.Context, *toolpost.Call) (*toolpost.Result, error) {
			called = true
			return nil, answer
		})(t.Context(), &toolpost.Call{})
		return called
	}
	for i := range 3000 {
		if !call("works", nil) || !call(strconv.Itoa(i), &toolpost.UnavailableError{Timeout: true}) {
			t.Fatalf("call %d was refused", i)
		}
	}
}

// Tools that failed once, long ago, do not keep a circuit from one that hangs now. Those
// that are refused stay refused.
func TestBreakerForgetsTheOldest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := breaker.New(nil)
		slow := &toolpost.UnavailableError{Timeout: true}
		call := func(name string, answer error) bool {
			called := false
			_, _ = b.Around(&observe.Target{Server: "s", Name: name}, func(context.Context, *toolpost.Call) (*toolpost.Result, error) {
				called = true
				return nil, answer
			})(t.Context(), &toolpost.Call{})
			return called
		}
		hang := func(name string) {
			for range 5 {
				call("works", nil)
				if !call(name, slow) {
					t.Fatalf("%s was refused too early", name)
				}
			}
			if call("works", nil); call(name, slow) {
				t.Errorf("%s is not refused", name)
			}
		}
		hang("hangs first")
		for i := range 1500 {
			time.Sleep(time.Millisecond)
			call("works", nil)
			call(strconv.Itoa(i), slow)
		}
		hang("hangs now")
		if call("hangs first", slow) {
			t.Error("a tool that was refused is forgotten")
		}
	})
}

// TestBreakerOfRestart: a restart breaks all calls that are under way. It is one failure.
func TestBreakerOfRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{Breakers: breaker.New(nil), answer: &toolpost.UnavailableError{Text: "gone"}}
		for range 4 {
			broken := make(chan struct{})
			for range 10 {
				go func() {
					_, _ = s.Around(&observe.Target{Server: "s"}, func(context.Context, *toolpost.Call) (*toolpost.Result, error) {
						<-broken
						return nil, &toolpost.UnavailableError{Text: "connection reset"}
					})(t.Context(), &toolpost.Call{})
				}()
			}
			synctest.Wait()
			time.Sleep(time.Second)
			close(broken)
			synctest.Wait()
			time.Sleep(time.Second)
		}
		if !s.reaches(t) {
			t.Fatal("four restarts count as more than four failures")
		}
		if s.reaches(t) {
			t.Error("the fifth failure did not count")
		}
	})
}
