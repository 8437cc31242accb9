package monitor_test

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/toolpost/toolpost/internal/access/status"
	"github.com/toolpost/toolpost/observe"
	"github.com/toolpost/toolpost/serve/internal/monitor"
)

// A client is listed although others have made up many names before, and no call is
// lost in the sums.
func TestMadeUpClients(t *testing.T) {
	m := monitor.New(nil)
	for i := range 1000 {
		call(m, fmt.Sprint("made up ", i), "s", "x", &observe.Response{Outcome: observe.OK})
	}
	call(m, "real", "s", "x", &observe.Response{Outcome: observe.OK})
	sum, found := int64(0), false
	clients := m.Status(0, nil).Clients
	for _, c := range clients {
		sum += c.Calls
		found = found || c.Name == "real"
	}
	if !found || sum != 1001 || len(clients) > 201 {
		t.Errorf("found %v, %d calls of %d clients", found, sum, len(clients))
	}
}

type password string

func (password) LogValue() slog.Value { return slog.StringValue("hidden") }

func TestLogValuer(t *testing.T) {
	m := monitor.New(nil)
	log := slog.New(m.Log(slog.DiscardHandler)).With("a", password("sesame"))
	log.Info("x", "b", password("sesame"), slog.Group("g", "c", password("sesame")))
	if got := m.Status(0, nil).Logs[0].Text; got != "x a=hidden b=hidden g.c=hidden" {
		t.Errorf("got %s", got)
	}
}

func TestPercentilesOfFewCalls(t *testing.T) {
	m := monitor.New(nil)
	for _, d := range []time.Duration{time.Millisecond, 100 * time.Millisecond} {
		call(m, "a", "s", "x", &observe.Response{Outcome: observe.OK, Duration: d})
	}
	if s := m.Status(0, []status.Server{{Name: "s"}}).Servers[0]; s.P50 != 1 || s.P95 != 100 {
		t.Errorf("p50 %v, p95 %v", s.P50, s.P95)
	}
}
