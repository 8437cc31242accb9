package limit_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/policy/limit"
	"github.com/toolpost/toolpost/observe"
)

// call calls a tool as a user. The call takes a while.
func call(ctx context.Context, l *limit.Limits, user, tool string, takes time.Duration) (observe.Outcome, error) {
	return callFrom(ctx, l, observe.Client{Identity: user, Address: "127.0.0.1"}, "", tool, takes)
}

// callFrom calls a tool as a client, in a session if it has one.
func callFrom(ctx context.Context, l *limit.Limits, client observe.Client, session, tool string, takes time.Duration) (observe.Outcome, error) {
	ctx, request := observe.Begin(ctx)
	request.Client, request.InSession = client, session != ""
	request.Session = cmp.Or(session, "client "+client.Address+" "+client.Name) // as mcpserver sets it
	to := &observe.Target{Server: "s", Method: "tools/call", Name: tool}
	_, err := l.Admit(to, func(ctx context.Context, c *toolpost.Call) (*toolpost.Result, error) {
		return l.Around(to, func(context.Context, *toolpost.Call) (*toolpost.Result, error) {
			time.Sleep(takes)
			return toolpost.TextResult("x"), nil
		})(ctx, c)
	})(ctx, &toolpost.Call{Session: request.Session})
	return request.Noted(), err
}

func TestConcurrent(t *testing.T) {
	for name, o := range map[string]limit.Options{
		"client": {PerClient: limit.Rule{Concurrent: 2}}, "tool": {PerTool: limit.Rule{Concurrent: 2}}, "server": {PerServer: limit.Rule{Concurrent: 2}},
		"its server": {PerServer: limit.Rule{Concurrent: 9}, Servers: map[string]limit.Rule{"s": {Concurrent: 2}}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := limit.New(o)
				for range 2 {
					go func() { _, _ = call(t.Context(), l, "a", "t", time.Minute) }()
				}
				synctest.Wait()
				start := time.Now()
				noted, err := call(t.Context(), l, "a", "t", 0)
				if err == nil || noted != observe.Limited || !strings.Contains(err.Error(), "this "+strings.TrimPrefix(name, "its ")+" may have 2 requests under way") || time.Since(start) != 10*time.Second {
					t.Errorf("a third call: %v, noted as %q after %v", err, noted, time.Since(start))
				}
				_, byOther := call(t.Context(), l, "b", "t", 0)
				_, ofOther := call(t.Context(), l, "a", "u", 0)
				if (byOther == nil) != (name == "client") || (ofOther == nil) != (name == "tool") {
					t.Errorf("another client gets %v, another tool %v", byOther, ofOther)
				}
				canceled, cancel := context.WithCancel(t.Context())
				cancel()
				if noted, err := call(canceled, l, "a", "t", 0); !errors.Is(err, context.Canceled) || noted != "" {
					t.Errorf("a canceled call: %v, %q", err, noted)
				}
				time.Sleep(time.Minute)
				if _, err := call(t.Context(), l, "a", "t", 0); err != nil {
					t.Errorf("when the calls are done: %v", err)
				}
			})
		})
	}
}

func TestRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := limit.New(limit.Options{PerServer: limit.Rule{Requests: 30, Per: time.Minute, Concurrent: 50}})
		start, refused := time.Now(), 0
		for i := range 10 {
			go func() {
				noted, err := call(t.Context(), l, fmt.Sprint(i), "t", 0)
				if err != nil && noted == observe.Limited && strings.Contains(err.Error(), "Call again in") {
					refused++
				}
			}()
			synctest.Wait()
		}
		if refused != 4 { // the first at once, five in 10 s
			t.Errorf("%d calls were refused, want 4", refused)
		}
		time.Sleep(12 * time.Second)
		if _, err := call(t.Context(), l, "a", "t", 0); err != nil || time.Since(start) != 12*time.Second {
			t.Errorf("later: %v after %v", err, time.Since(start))
		}
	})
}

// What a client says about itself gives it no other limit.
func TestClientsDoNotChooseTheirLimit(t *testing.T) {
	at := func(address, name, identity string) observe.Client {
		return observe.Client{Name: name, UserAgent: name, View: name, Address: address, Identity: identity}
	}
	for name, test := range map[string]struct {
		first, second               observe.Client
		firstSession, secondSession string
		same                        bool
	}{
		"other name":              {at("10.0.0.1", "a", ""), at("10.0.0.1", "b", ""), "", "", true},
		"other name in a session": {at("10.0.0.1", "a", ""), at("10.0.0.1", "b", ""), "1", "1", true},
		"other address of a host": {at("2001:db8::1", "a", ""), at("2001:db8::2", "a", ""), "", "", true},
		"other address of a user": {at("10.0.0.1", "a", "u"), at("10.0.0.2", "b", "u"), "1", "2", true},
		"user called as session":  {at("10.0.0.1", "a", "1"), at("10.0.0.1", "a", ""), "", "1", false},
		"other user":              {at("10.0.0.1", "a", "u"), at("10.0.0.1", "a", "v"), "", "", false},
		"other session":           {at("10.0.0.1", "a", ""), at("10.0.0.1", "a", ""), "1", "2", false},
		"other address":           {at("10.0.0.1", "a", ""), at("10.0.0.2", "a", ""), "", "", false},
		"other network":           {at("2001:db8::1", "a", ""), at("2001:db8:0:1::1", "a", ""), "", "", false},
		"over stdio":              {at("", "a", ""), at("", "a", ""), "1", "2", false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := limit.New(limit.Options{PerClient: limit.Rule{Requests: 1, Per: time.Minute}})
				if _, err := callFrom(t.Context(), l, test.first, test.firstSession, "t", 0); err != nil {
					t.Fatal(err)
				}
				if _, err := callFrom(t.Context(), l, test.second, test.secondSession, "t", 0); (err != nil) != test.same {
					t.Errorf("the second call: %v", err)
				}
			})
		})
	}
}

// A request that waits for the user counts for its client, and not for the server.
func TestWaitingForTheUser(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one := limit.Rule{Concurrent: 1}
		l := limit.New(limit.Options{PerClient: one, PerServer: one, PerTool: one})
		asked := func(user string, next toolpost.Handler) error {
			ctx, request := observe.Begin(t.Context())
			request.Client = observe.Client{Identity: user, Address: "127.0.0.1"}
			_, err := l.Admit(&observe.Target{Server: "s", Method: "tools/call", Name: "t"}, next)(ctx, &toolpost.Call{})
			return err
		}
		go func() {
			_ = asked("a", func(context.Context, *toolpost.Call) (*toolpost.Result, error) {
				time.Sleep(5 * time.Minute)
				return nil, toolpost.Denied.Errorf("no")
			})
		}()
		synctest.Wait()
		if err := asked("a", nil); err == nil || !strings.Contains(err.Error(), "this client may have 1 requests under way") {
			t.Errorf("a second question of the client: %v", err)
		}
		if _, err := call(t.Context(), l, "b", "t", 0); err != nil {
			t.Errorf("a call of another client: %v", err)
		}
		time.Sleep(5 * time.Minute)
	})
}

// Clients that come and go are forgotten.
func TestManyClients(t *testing.T) {
	l := limit.New(limit.Options{PerClient: limit.Rule{Concurrent: 1}})
	for i := range 5000 {
		if _, err := call(t.Context(), l, fmt.Sprint(i), "t", 0); err != nil {
			t.Fatal(err)
		}
	}
	if n := l.Len(); n > 1000 {
		t.Errorf("%d clients are remembered", n)
	}
}

// Clients whose limit lasts are remembered up to a number. More of them have one limit
// together, until there is room again.
func TestCrowd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := limit.New(limit.Options{PerClient: limit.Rule{Requests: 1, Per: time.Hour}})
		refused := 0
		for i := range 12_000 {
			if _, err := call(t.Context(), l, fmt.Sprint(i), "t", 0); err != nil {
				refused++
			}
		}
		if n := l.Len(); n != 10_001 || refused != 1999 {
			t.Errorf("%d clients are remembered, %d are refused", n, refused)
		}
		if _, err := call(t.Context(), l, "5", "t", 0); err == nil {
			t.Error("a client that is remembered escapes its limit")
		}
		time.Sleep(time.Hour)
		if _, err := call(t.Context(), l, "new", "t", 0); err != nil || l.Len() != 1 {
			t.Errorf("an hour later: %v, %d are remembered", err, l.Len())
		}
	})
}

// TestSet checks that changed limits hold for the next request, and that requests under
// way end as they began.
func TestSet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := limit.New(limit.Options{PerTool: limit.Rule{Concurrent: 1}})
		var running sync.WaitGroup
		running.Go(func() { _, _ = call(t.Context(), l, "a", "t", time.Minute) })
		synctest.Wait()
		l.Set(limit.Options{PerTool: limit.Rule{Requests: 1, Per: time.Hour, Concurrent: 2}})
		if _, err := call(t.Context(), l, "a", "t", 0); err != nil {
			t.Fatal(err)
		}
		if noted, _ := call(t.Context(), l, "a", "t", 0); noted != observe.Limited {
			t.Error("a second request in an hour is not refused")
		}
		l.Set(limit.Options{PerTool: limit.Rule{Requests: 1000, Per: time.Second}})
		time.Sleep(time.Second)
		for range 5 {
			if _, err := call(t.Context(), l, "a", "t", 0); err != nil {
				t.Error(err)
			}
		}
		l.Set(limit.Options{})
		if _, err := call(t.Context(), l, "a", "t", 0); err != nil {
			t.Error(err)
		}
		running.Wait()
	})
}
