package serve

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/config"
)

// load returns the configuration of a file with this text.
func load(t *testing.T, text string) *config.Config {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("HOME", dir)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(dir, "settings"))
	t.Setenv("XDG_CACHE_HOME", filepath.Join(dir, "cache"))
	t.Setenv("XDG_STATE_HOME", filepath.Join(dir, "state"))
	file := filepath.Join(dir, "tools.json")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, err := Load(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

func quiet() *slog.Logger { return slog.New(slog.DiscardHandler) }

// TestInsecureIsAlone: what asks for a token does not lose against Insecure.
func TestInsecureIsAlone(t *testing.T) {
	for _, o := range []Options{{RequireToken: true}, {TokenFile: "token"}} {
		o.Insecure, o.Addr, o.Logger = true, "127.0.0.1:0", quiet()
		e, err := OpenTools(t.Context(), toolpost.Tools{}, &o)
		if err == nil || !strings.Contains(err.Error(), "leave out") {
			t.Errorf("%+v: %v", o, err)
		}
		if e != nil {
			e.Close()
		}
	}
}

// TestOpenEndsWithItsContext: no command that prints a secret of callers runs after a signal.
func TestOpenEndsWithItsContext(t *testing.T) {
	const text = `{"profiles": {"p": {"token": "${cmd:echo 0123456789abcdefghijklmnopqrstuvwxyzABCDEFG}"}}, "mcpServers": {}}`
	for _, canceled := range []bool{false, true} {
		cfg := load(t, text)
		ctx, cancel := context.WithCancel(t.Context())
		if canceled {
			cancel()
		}
		e, err := Open(ctx, cfg, &Options{Addr: "127.0.0.1:0", Logger: quiet()})
		cancel()
		if err != nil {
			t.Fatal(err)
		}
		if got := len(e.access.profiles.Load().tokens); got != 1 && !canceled || got != 0 && canceled {
			t.Errorf("canceled: %v, %d tokens", canceled, got)
		}
		e.Close()
	}
}

// TestSettingsOfTheProgramStay: reading the file for the first time does not undo what the
// program has changed.
func TestSettingsOfTheProgramStay(t *testing.T) {
	cfg := load(t, `{"mcpServers": {"a": {"command": "toolpost-of-no-folder"}}}`)
	cfg.Servers[0].Disabled = true
	e, err := Open(t.Context(), cfg, &Options{Addr: "127.0.0.1:0", Logger: quiet()})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	r := &reloader{Endpoint: e, last: cfg}
	next, err := Load(t.Context(), cfg.File)
	if err != nil {
		t.Fatal(err)
	}
	r.changed(t.Context(), next, nil, true)
	if s := e.Gateway().Status(); len(s) != 1 || s[0].State != "disabled" {
		t.Errorf("got %+v", s)
	}
}
