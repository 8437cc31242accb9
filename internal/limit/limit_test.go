package limit_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/limit"
	"github.com/toolpost/toolpost/observe"
)

// call calls a tool as a client. The call takes a while.
func call(ctx context.Context, l *limit.Limits, client, tool string, takes time.Duration) (observe.Outcome, error) {
	ctx, request := observe.Begin(ctx)
	request.Client = observe.Client{Name: client, Address: "127.0.0.1"}
	_, err := l.Around(ctx, &observe.Target{Server: "s", Method: "tools/call", Name: tool}, &toolpost.Call{}, func(context.Context, *toolpost.Call) (*toolpost.Result, error) {
		time.Sleep(takes)
		return toolpost.TextResult("x"), nil
	})
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
