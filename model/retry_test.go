package model_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolpost/toolpost/model"
)

// A script is a model that answers its requests with turns, in order.
type script struct {
	origin model.Origin
	refuse error // of Check
	turns  []turn
	sent   []time.Time // of the requests
}

// A turn is text that is streamed, and then an error or a response. A turn with
// neither ends without a response.
type turn struct {
	text  string
	err   error
	whole bool
}

func (s *script) Origin() model.Origin         { return s.origin }
func (s *script) Check(r *model.Request) error { return s.refuse }
func named(name string, turns ...turn) *script { return &script{origin: origin(name), turns: turns} }
func origin(name string) model.Origin          { return model.Origin{Provider: name, API: "test", Model: "m"} }
func failing(name string, kinds ...model.ErrorKind) *script {
	return named(name, failures(name, kinds...)...)
}

func failures(name string, kinds ...model.ErrorKind) (turns []turn) {
	for _, kind := range kinds {
		turns = append(turns, turn{err: &model.Error{Origin: origin(name), Kind: kind}})
	}
	return turns
}

func (s *script) Stream(ctx context.Context, r *model.Request) iter.Seq2[*model.Delta, error] {
	return func(yield func(*model.Delta, error) bool) {
		s.sent = append(s.sent, time.Now())
		if len(s.turns) == 0 {
			panic("a request too many")
		}
		t := s.turns[0]
		s.turns = s.turns[1:]
		if t.text != "" && !yield(&model.Delta{Type: model.TypeText, Text: t.text}, nil) {
			return
		}
		switch {
		case t.err != nil:
			yield(nil, t.err)
		case t.whole:
			yield(&model.Delta{Response: &model.Response{Model: s.origin.Provider}}, nil)
		}
	}
}

// consume reads a stream. It returns what a consumer sees, one word for each
// delta, and the error.
func consume(ctx context.Context, m model.Model) (seen string, err error) {
	for d, e := range m.Stream(ctx, &model.Request{}) {
		switch {
		case e != nil:
			err = e
		case d.Restart != nil:
			seen += "restart:" + string(d.Restart.Kind) + " "
		case d.Response != nil:
			seen += "response:" + d.Response.Model
		default:
			seen += d.Text + " "
		}
	}
	return seen, err
}

func TestRetry(t *testing.T) {
	whole := turn{text: "hello", whole: true}
	for _, c := range []struct {
		name  string
		turns []turn
		want  string
	}{
		{"answer", []turn{whole}, "hello response:a"},
		{"temporary errors", append(failures("a", model.KindServer, model.KindRateLimit, model.KindConnection, model.KindOverloaded), whole),
			"restart:server restart:rate_limit restart:connection restart:overloaded hello response:a"},
		{"in the stream", []turn{{text: "hel", err: &model.Error{Kind: model.KindOverloaded}}, whole}, "hel restart:overloaded hello response:a"},
		{"wrapped error", []turn{{err: fmt.Errorf("send: %w", &model.Error{Kind: model.KindServer})}, whole}, "restart:server hello response:a"},
		{"stream without a response", []turn{{text: "hel"}, whole}, "hel restart:connection hello response:a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				seen, err := consume(t.Context(), model.Retry(named("a", c.turns...), nil))
				if seen != c.want || err != nil {
					t.Errorf("got %q, %v; want %q", seen, err, c.want)
				}
			})
		})
	}
}

// TestRetryNever has errors that waiting does not mend: they come at once and
// unchanged.
func TestRetryNever(t *testing.T) {
	for _, kind := range []model.ErrorKind{model.KindQuota, model.KindAuth, model.KindTooLong, model.KindInvalid, ""} {
		m := failing("a", kind)
		want := m.turns[0].err
		if seen, err := consume(t.Context(), model.Retry(m, nil)); seen != "" || err != want {
			t.Errorf("%s: got %q, %v", kind, seen, err)
		}
	}
	want := errors.New("no error of a provider")
	if _, err := consume(t.Context(), model.Retry(named("a", turn{err: want}), nil)); err != want {
		t.Errorf("got %v", err)
	}
}

// TestRetryWaits checks the waits before the requests after the first.
func TestRetryWaits(t *testing.T) {
	const s = time.Second
	after := func(kind model.ErrorKind, d time.Duration) turn {
		return turn{err: &model.Error{Kind: kind, RetryAfter: d}}
	}
	server, overloaded, limit := after(model.KindServer, 0), after(model.KindOverloaded, 0), after(model.KindRateLimit, 0)
	type span struct{ least, most time.Duration }
	for _, c := range []struct {
		name  string
		turns []turn
		opts  *model.RetryOptions
		want  []span
	}{
		{"doubled", []turn{server, server, server, limit}, nil, []span{{s / 2, s}, {s, 2 * s}, {2 * s, 4 * s}, {4 * s, 8 * s}}},
		{"overloaded", []turn{overloaded, overloaded}, nil, []span{{2 * s, 4 * s}, {4 * s, 8 * s}}},
		{"as requested", []turn{after(model.KindRateLimit, 40*s), after(model.KindRateLimit, s/10)}, nil, []span{{40 * s, 41 * s}, {s / 10, 11 * s / 10}}},
		{"at least as requested", []turn{after(model.KindOverloaded, 30*s), after(model.KindServer, s/10)}, nil, []span{{30 * s, 32 * s}, {s, 2 * s}}},
		{"longest", []turn{overloaded, server, overloaded}, &model.RetryOptions{Delay: 8 * s, MaxDelay: 10 * s}, []span{{4 * s, 10 * s}, {5 * s, 10 * s}, {5 * s, 10 * s}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := named("a", append(c.turns, turn{whole: true})...)
				if _, err := consume(t.Context(), model.Retry(m, c.opts)); err != nil {
					t.Fatal(err)
				}
				for i, want := range c.want {
					if got := m.sent[i+1].Sub(m.sent[i]); got < want.least || got > want.most {
						t.Errorf("wait %d is %v, want %v to %v", i, got, want.least, want.most)
					}
				}
			})
		})
	}
}

func TestRetryGivesUp(t *testing.T) {
	server := turn{err: &model.Error{Origin: origin("a"), Kind: model.KindServer, Err: errors.ErrUnsupported}}
	for _, c := range []struct {
		name     string
		turns    []turn
		opts     *model.RetryOptions
		requests int
		want     string
	}{
		{"attempts", []turn{server, server, server}, &model.RetryOptions{Attempts: 3}, 3, "unsupported operation; gave up after 3 requests in "},
		{"standard attempts", []turn{server, server, server, server, server, server}, nil, 6, "gave up after 6 requests in "},
		{"time", []turn{server, server, server}, &model.RetryOptions{Time: time.Second}, 2, "the next one would be later than 1s after the first"},
		{"long wait", []turn{{err: &model.Error{Kind: model.KindRateLimit, RetryAfter: time.Hour}}}, nil, 1, "gave up: the provider requests a wait of 1h0m0s, and the longest is 2m0s"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := named("a", c.turns...)
				_, err := consume(t.Context(), model.Retry(m, c.opts))
				failure, ok := err.(*model.Error)
				if !ok || !strings.Contains(err.Error(), c.want) || len(m.sent) != c.requests {
					t.Fatalf("after %d requests: %v; want %d and %q", len(m.sent), err, c.requests, c.want)
				}
				if original := c.turns[0].err.(*model.Error); failure.Kind != original.Kind || original.Err != nil && !errors.Is(err, original.Err) {
					t.Errorf("the error lost its kind or cause: %v", err)
				}
			})
		})
	}
}

func TestRetryCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := named("a", turn{err: &model.Error{Kind: model.KindRateLimit, RetryAfter: time.Minute}})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		seen, err := consume(ctx, model.Retry(m, nil))
		if seen != "restart:rate_limit " || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %q, %v", seen, err)
		}
		if waited := time.Since(start); waited != time.Second {
			t.Errorf("the wait ended after %v", waited)
		}
	})
}

// TestRetryCancelled: an error that came because the context ended leads to no
// other request.
func TestRetryCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, end := range []turn{{err: &model.Error{Kind: model.KindConnection, Err: context.Canceled}}, {}} {
		seen, err := consume(ctx, model.Retry(named("a", end), nil))
		if seen != "" || !errors.Is(err, context.Canceled) {
			t.Errorf("got %q, %v", seen, err)
		}
	}
}

// TestRetryBreak: a consumer that leaves ends the stream, at each of its deltas.
func TestRetryBreak(t *testing.T) {
	for n := range 3 {
		synctest.Test(t, func(t *testing.T) {
			m := model.Fallback(model.Retry(named("a", turn{text: "hel", err: &model.Error{Kind: model.KindServer}}, turn{whole: true}), nil))
			for range m.Stream(t.Context(), &model.Request{}) {
				if n--; n < 0 {
					break
				}
			}
		})
	}
}

func TestFallback(t *testing.T) {
	whole := turn{text: "hello", whole: true}
	for _, kind := range []model.ErrorKind{model.KindOverloaded, model.KindRateLimit, model.KindServer, model.KindConnection, model.KindQuota, model.KindAuth} {
		m := model.Fallback(named("a", turn{text: "hel", err: &model.Error{Kind: kind}}), named("b", whole))
		if seen, err := consume(t.Context(), m); seen != "hel restart:"+string(kind)+" hello response:b" || err != nil {
			t.Errorf("%s: got %q, %v", kind, seen, err)
		}
	}
	for _, kind := range []model.ErrorKind{model.KindInvalid, model.KindTooLong} {
		m := model.Fallback(failing("a", kind), named("b", whole))
		if seen, err := consume(t.Context(), m); seen != "" || err.Error() != "a/m: "+string(kind) {
			t.Errorf("%s: got %q, %v", kind, seen, err)
		}
	}
}

func TestFallbackOfAll(t *testing.T) {
	m := model.Fallback(failing("a", model.KindAuth), failing("b", model.KindServer), failing("c", model.KindQuota))
	seen, err := consume(t.Context(), m)
	const want = "c/m: quota: before that, b/m: server: before that, a/m: auth"
	if _, ok := err.(*model.Error); !ok || seen != "restart:auth restart:server " || err.Error() != want {
		t.Errorf("got %q, %v", seen, err)
	}
}

// TestFallbackCheck leaves out a model that cannot take the request.
func TestFallbackCheck(t *testing.T) {
	b := named("b")
	b.refuse = errors.New("no images")
	m := model.Fallback(failing("a", model.KindServer), b, named("c", turn{whole: true}))
	if seen, err := consume(t.Context(), m); seen != "restart:server response:c" || err != nil {
		t.Errorf("got %q, %v", seen, err)
	}
	a := failing("a", model.KindServer)
	a.refuse = errors.New("not asked")
	m = model.Fallback(a, b)
	if seen, err := consume(t.Context(), m); seen != "" || err.Error() != "a/m: server" {
		t.Errorf("got %q, %v", seen, err)
	}
	if m.Origin() != origin("a") || m.Check(nil) != a.refuse {
		t.Errorf("the origin or the check are not those of the first model")
	}
}

// TestFallbackAfterRetry sends the request again before the next model gets it.
func TestFallbackAfterRetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := failing("a", model.KindServer, model.KindServer)
		m := model.Fallback(model.Retry(a, &model.RetryOptions{Attempts: 2}), named("b", turn{whole: true}))
		if seen, err := consume(t.Context(), m); seen != "restart:server restart:server response:b" || err != nil || len(a.sent) != 2 {
			t.Errorf("got %q, %v", seen, err)
		}
	})
}
