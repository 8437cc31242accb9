package upstream

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/hidden"
)

func TestDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, d := newDeadline(t.Context(), time.Hour, "s", "tool t")
		defer d.stop()
		for range 3 {
			time.Sleep(59 * time.Minute)
			d.extend()
		}
		if ctx.Err() != nil {
			t.Fatal("progress does not extend the limit")
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		var timeout *toolpost.UnavailableError
		if !errors.As(context.Cause(ctx), &timeout) || !timeout.Timeout {
			t.Errorf("without progress, the call ends with %v", context.Cause(ctx))
		}

		ctx, d = newDeadline(t.Context(), time.Hour, "s", "tool t")
		defer d.stop()
		for range 100 {
			time.Sleep(30 * time.Minute)
			d.extend()
		}
		if ctx.Err() == nil {
			t.Error("progress without end keeps the call for ever")
		}
	})
}

func TestRetryAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for value, want := range map[string]time.Duration{
			"": 0, "7": 7 * time.Second, "0": 0, "-3": 0, "soon": 0, "999999999999": longestRetryAfter, "99999999999999999999999": 0,
			time.Now().Add(90 * time.Second).UTC().Format(http.TimeFormat): 90 * time.Second,
			time.Now().Add(-time.Hour).UTC().Format(http.TimeFormat):       0,
			time.Now().Add(99 * time.Hour).UTC().Format(http.TimeFormat):   longestRetryAfter,
		} {
			if got := retryAfter(http.Header{"Retry-After": {value}}); got != want {
				t.Errorf("Retry-After %q is %v, want %v", value, got, want)
			}
		}
	})
}

// A server that asks for no calls is named with the time that it asks for, whether or
// not it may have carried out the call. One that needs a login is marked.
func TestUnansweredRetryAfter(t *testing.T) {
	cfg := Config{Name: "s"}
	u := &Upstream{cfg: cfg, dial: newDialer(&cfg, &Options{}, slog.New(slog.DiscardHandler), secretsOf(&cfg, nil))}
	for _, test := range []struct {
		err        error
		executed   bool
		retryAfter time.Duration
		login      bool
		text       string
	}{
		{&statusError{status: http.StatusTooManyRequests, retryAfter: time.Minute}, false, time.Minute, false, "It was not carried out. The server wants no calls for 1m0s"},
		{&statusError{status: http.StatusServiceUnavailable, retryAfter: time.Minute}, true, time.Minute, false, "It may have been carried out"},
		{u.dial.problem(&LoginError{Command: "toolpost login s"}), false, 0, true, "run: toolpost login s\nIt was not carried out. Ask the user to log in"},
	} {
		err := (&request{what: "tool t"}).unansweredError(t.Context(), u, test.err, test.executed)
		var unavailable *toolpost.UnavailableError
		if !errors.As(err, &unavailable) || unavailable.RetryAfter != test.retryAfter || unavailable.Timeout || unavailable.Login != test.login || !strings.Contains(unavailable.Text, test.text) {
			t.Errorf("%v: got %#v", test.err, err)
		}
	}
}

// An error of an authorization server is not taken for one of the server, nor for a
// slow answer of it.
func TestProblemOfCredentials(t *testing.T) {
	cfg := Config{Name: "s"}
	d := newDialer(&cfg, &Options{}, slog.New(slog.DiscardHandler), secretsOf(&cfg, nil))
	for _, cause := range []error{syscall.ECONNREFUSED, context.DeadlineExceeded, &net.DNSError{Name: "login.example.com"}} {
		err := d.problem(&url.Error{Op: "Post", URL: "http://127.0.0.1/mcp", Err: &hidden.CredentialsError{Err: fmt.Errorf("renew its login: login.example.com: %w", cause)}})
		if want := fmt.Sprintf(`server "s": renew its login: login.example.com: %v`, cause); err.Error() != want {
			t.Errorf("got %q, want %q", err, want)
		}
	}
}
