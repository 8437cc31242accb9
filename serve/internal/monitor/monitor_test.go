package monitor_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolpost/toolpost/internal/access/status"
	"github.com/toolpost/toolpost/observe"
	"github.com/toolpost/toolpost/serve/internal/monitor"
)

// call has one request observed.
func call(m *monitor.Monitor, client, server, name string, response *observe.Response) {
	ctx, r := observe.Begin(context.Background())
	r.Method, r.Name, r.Client.Name, r.Start = "tools/call", name, client, time.Now()
	r.Session = "session of " + client
	ctx, end := m.Observe(ctx, r)
	if server != "" {
		observe.From(ctx).SetTarget(&observe.Target{Server: server})
	}
	end(response)
}

func TestAddressWithSecrets(t *testing.T) {
	m := monitor.New(nil)
	const address = "https://ada:sesame@example.org/?api_key=sesame&page=2"
	call(m, "a", "web", address, &observe.Response{Outcome: observe.ProtocolError, Err: errors.New("unknown resource " + address)})
	const want = "https[secret]example.org/?[secret]&page=2"
	if got := m.Status(0, nil).Calls[0]; got.Name != want || got.Error != "unknown resource "+want {
		t.Errorf("shown as %+v", got)
	}
}

func TestStatus(t *testing.T) {
	m := monitor.New(nil)
	for i := range 20 {
		call(m, "a", "files", "read", &observe.Response{Outcome: observe.OK, Bytes: 8, Duration: time.Duration(i+1) * time.Millisecond})
	}
	call(m, "b", "files", "read", &observe.Response{Outcome: observe.ProtocolError, Err: errors.New("no such tool")})
	call(m, "b", "", "", &observe.Response{Outcome: observe.OK, Bytes: 100}) // such as tools/list
	s := m.Status(0, []status.Server{{Name: "files", State: "ready"}, {Name: "other"}})
	files := s.Servers[0]
	if files.Calls != 21 || files.Errors != 1 || files.Tokens != 40 || files.Running != 0 {
		t.Errorf("files: %+v", files)
	}
	if files.P50 != 10 || files.P95 != 19 {
		t.Errorf("p50 %v, p95 %v", files.P50, files.P95)
	}
	if s.Clients[1].Tokens != 0 {
		t.Errorf("a list counts as %d tokens", s.Clients[1].Tokens)
	}
	if len(s.Clients) != 2 || s.Clients[1].Name != "b" || s.Clients[1].Calls != 2 || s.Clients[0].Sessions != 1 {
		t.Errorf("clients: %+v", s.Clients)
	}
	if len(s.Calls) != 21 || s.Calls[20].Error != "no such tool" || !s.Calls[20].Failed() {
		t.Errorf("%d calls, the last is %+v", len(s.Calls), s.Calls[len(s.Calls)-1])
	}
	if later := m.Status(s.Seq-2, nil); len(later.Calls) != 2 || len(later.Servers) != 0 {
		t.Errorf("after a number: %+v", later)
	}
	raw, err := json.Marshal(s)
	if err != nil || strings.Contains(string(raw), "session of") {
		t.Errorf("the status shows sessions: %s, %v", raw, err)
	}
}

func TestRunning(t *testing.T) {
	m := monitor.New(nil)
	ctx, r := observe.Begin(context.Background())
	r.Name = "wait"
	ctx, end := m.Observe(ctx, r)
	observe.From(ctx).SetTarget(&observe.Target{Server: "slow"})
	if s := m.Status(0, []status.Server{{Name: "slow"}}); s.Running != 1 || s.Servers[0].Running != 1 {
		t.Errorf("while it runs: %+v", s)
	}
	end(&observe.Response{Outcome: observe.OK})
	if s := m.Status(0, []status.Server{{Name: "slow"}}); s.Running != 0 || s.Servers[0].Running != 0 || s.Servers[0].Calls != 1 {
		t.Errorf("after it ended: %+v", s)
	}
}

func TestLog(t *testing.T) {
	m := monitor.New(nil)
	var out bytes.Buffer
	log := slog.New(m.Log(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelWarn}))).With("server", "a")
	log.Debug("hidden")
	log.Info("ready", "tools", 3)
	log.Info("call", "tool", "x")
	log.Warn("trouble")
	s := m.Status(0, nil)
	if len(s.Logs) != 2 || s.Logs[0].Text != "ready server=a tools=3" || s.Logs[1].Level != "warn" {
		t.Errorf("%+v", s.Logs)
	}
	if got := out.String(); strings.Contains(got, "ready") || !strings.Contains(got, "trouble") {
		t.Errorf("passed on: %s", got)
	}
}

// A client that makes up names, and one that calls without end, take no memory.
func TestLimits(t *testing.T) {
	m := monitor.New(nil)
	log := slog.New(m.Log(slog.DiscardHandler))
	var all sync.WaitGroup
	for worker := range 4 {
		all.Go(func() {
			for i := range 600 {
				call(m, fmt.Sprintf("client %d.%d", worker, i), "s", strings.Repeat("x", 10_000), &observe.Response{Outcome: observe.OK})
				log.Info(strings.Repeat("y", 10_000))
				m.Status(0, nil)
			}
		})
	}
	all.Wait()
	s := m.Status(0, []status.Server{{Name: "s"}})
	if len(s.Calls) != 500 || len(s.Logs) != 500 || len(s.Clients) > 201 || s.Servers[0].Calls != 2400 {
		t.Errorf("%d calls, %d logs, %d clients, %d counted", len(s.Calls), len(s.Logs), len(s.Clients), s.Servers[0].Calls)
	}
	for i := range s.Calls[1:] {
		if s.Calls[i].Seq >= s.Calls[i+1].Seq || len(s.Calls[i].Name) > 310 {
			t.Fatalf("calls %d and %d: %d, %d, a name of %d bytes", i, i+1, s.Calls[i].Seq, s.Calls[i+1].Seq, len(s.Calls[i].Name))
		}
	}
}
