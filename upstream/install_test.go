package upstream_test

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolpost/toolpost/upstream"
)

// gated returns a server that is ready when its connection is closed. Each
// start of it is a connection.
func gated(t *testing.T) (cfg *upstream.Config, starts <-chan net.Conn) {
	t.Helper()
	gate, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	all := make(chan net.Conn, 100)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for c, err := gate.Accept(); err == nil; c, err = gate.Accept() {
			all <- c
		}
	}()
	t.Cleanup(func() {
		gate.Close()
		<-done
		for len(all) > 0 {
			(<-all).Close()
		}
	})
	cfg = child(t, "gated", "GATE", gate.Addr().String())
	cfg.ConnectTimeout = 200 * time.Millisecond
	return cfg, all
}

// A first installation that takes longer than connectTimeout is reported, and
// not ended midway.
func TestSlowInstallation(t *testing.T) {
	t.Parallel()
	cfg, starts := gated(t)
	npx := filepath.Join(t.TempDir(), "npx")
	if err := os.Symlink(cfg.Command, npx); err != nil {
		t.Fatal(err)
	}
	cfg.Command = npx
	s := start(t, cfg)
	installation := <-starts
	if err := s.Ready(t.Context()); err == nil || !strings.Contains(err.Error(), "packages may still be installing") {
		t.Errorf("got %v", err)
	}
	if got := s.Status(); got.State != upstream.Installing {
		t.Errorf("status %+v", got)
	}
	installation.Close()
	s.until(t, "it is ready", func() bool { return s.Status().State == upstream.Ready })
	if got := s.Status(); got.Err != nil || len(starts) > 0 {
		t.Errorf("started %d times more, status %+v", len(starts), got)
	}
}

// A server that does not answer in time is not started again in another
// version of the protocol: it would be no faster.
func TestNoSecondStartAfterATimeout(t *testing.T) {
	t.Parallel()
	cfg, starts := gated(t)
	cfg.Name = "srv"
	u, err := upstream.Start(cfg, &upstream.Options{Backoff: time.Hour, Grace: 100 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if err := u.Ready(t.Context()); err == nil || !strings.Contains(err.Error(), "did not answer in time") {
		t.Errorf("got %v", err)
	}
	u.Close()
	if len(starts) > 1 { // none if it was ended before it could connect
		t.Error("it was started again")
	}
}
