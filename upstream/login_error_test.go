package upstream

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// A call to a server that needs a login does not wait for it, but for one attempt to
// connect: the user may have logged in.
func TestCallDoesNotWaitForLogin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		refused := func(*http.Request) (*http.Response, error) {
			time.Sleep(time.Second)
			return nil, &LoginError{Command: "toolpost login srv"}
		}
		u, err := Start(&Config{Name: "srv", URL: "http://127.0.0.1:1", Wrap: func(*http.Transport) http.RoundTripper { return roundTripper(refused) }},
			&Options{Backoff: time.Millisecond, Patience: time.Hour, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		defer u.Close()
		time.Sleep(1100 * time.Millisecond) // it is tried again, or waits to be
		before, _ := u.view()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err = u.await(ctx)
		if after, _ := u.view(); !isA[*LoginError](err) || after.attempts != before.attempts+1 {
			t.Errorf("got %v after %d attempts, want a LoginError after one", err, after.attempts-before.attempts)
		}
		if errors.Is(err, context.DeadlineExceeded) {
			t.Error("the call waited for the login")
		}
	})
}
