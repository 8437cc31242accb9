package serve

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
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
	r.reload(t.Context(), next, nil, true)
	if s := e.Gateway().Status(); len(s) != 1 || s[0].State != "disabled" {
		t.Errorf("got %+v", s)
	}
}

// A growing toolset lists more after a while.
type growing struct {
	toolpost.Base
	tools atomic.Pointer[toolpost.Tools]
}

func (g *growing) Tools(context.Context) ([]*toolpost.Tool, error) { return *g.tools.Load(), nil }

func (g *growing) list(tools ...*toolpost.Tool) {
	all := toolpost.Tools(tools)
	g.tools.Store(&all)
	g.Notify(toolpost.Event{})
}

// TestToolsThatChangeSomethingLater: while clients need no token, only tools that read are
// served, also of a Live that lists others later.
func TestToolsThatChangeSomethingLater(t *testing.T) {
	load(t, `{"mcpServers": {}}`) // the user's folders
	isReading := true
	run := func(context.Context, struct{}) (string, error) { return "", nil }
	read, write := toolpost.New("read", "Reads.", run, nil), toolpost.New("write", "Writes.", run, nil)
	read.Annotations.ReadOnly = &isReading
	for _, needsToken := range []bool{false, true} {
		g := &growing{}
		g.list(read)
		live, err := toolpost.NewLive(t.Context(), g)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		e, err := OpenTools(t.Context(), live, &Options{Addr: "127.0.0.1:0", RequireToken: needsToken, Logger: plainLogger(&out)})
		if err != nil {
			t.Fatal(err)
		}
		g.list(read, write)
		all, _ := e.live.Set().Tools(t.Context())
		if served := len(all) == 2; served != needsToken || strings.Contains(out.String(), "tools=[write]") == needsToken {
			t.Errorf("needs a token: %v, %d tools, logged %s", needsToken, len(all), out.String())
		}
		e.Close()
		live.Close()
	}
}

// TestFindingsAreLogged: without a view, the log has what is wrong with the configuration.
func TestFindingsAreLogged(t *testing.T) {
	cfg := load(t, `{"mcpServers": {"a": {"command": "toolpost-of-no-folder", "trust": true, "disabled": true}}}`)
	var out bytes.Buffer
	e, err := Open(t.Context(), cfg, &Options{Addr: "127.0.0.1:0", Logger: plainLogger(&out)})
	if err != nil {
		t.Fatal(err)
	}
	e.Close()
	for _, want := range []string{"msg=serving", `msg="server disabled" server=a`, "mcpServers.a.trust only affects clients"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the log does not have %q:\n%s", want, out.String())
		}
	}
}
