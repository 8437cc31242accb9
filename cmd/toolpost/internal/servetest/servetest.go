// Package servetest serves configurations in tests of commands that use a running serve.
package servetest

import (
	"context"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/cli"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/gateway"
	"github.com/toolpost/toolpost/serve"
	"github.com/toolpost/toolpost/upstream"
)

// Home gives the test a home of its own, with the folder "state" for states, and returns it.
func Home(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, sub := range map[string]string{"HOME": "", "XDG_CONFIG_HOME": "settings", "XDG_CACHE_HOME": "cache", "XDG_STATE_HOME": "state"} {
		t.Setenv(name, filepath.Join(dir, sub))
	}
	return dir
}

// Serve serves a configuration as "toolpost serve" does, until the test ends.
func Serve(t *testing.T, file string) *serve.Endpoint {
	t.Helper()
	cfg, err := config.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	build := cli.ReadBuild()
	e, err := serve.Open(t.Context(), cfg, &serve.Options{Addr: "127.0.0.1:0", Logger: slog.New(slog.DiscardHandler), Version: build.Version, Commit: build.Commit})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { _ = e.Serve(ctx) })
	t.Cleanup(func() { cancel(); running.Wait(); _ = e.Close() })
	return e
}

// Await waits until these servers are ready.
func Await(e *serve.Endpoint, servers ...string) {
	done, once := make(chan struct{}), sync.Once{}
	stop := e.Gateway().WatchSnapshot(func(s *gateway.Snapshot) {
		for _, name := range servers {
			if !slices.ContainsFunc(s.Status, func(st upstream.Status) bool { return st.Name == name && st.State == upstream.Ready }) {
				return
			}
		}
		once.Do(func() { close(done) })
	})
	defer stop()
	<-done
}
