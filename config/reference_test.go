package config_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolpost/toolpost/config"
)

// References are read when their server starts, and never before.
func TestReferences(t *testing.T) {
	dir := t.TempDir()
	cfg := load(t, dir, `{"mcpServers": {"s": {"command": "x", "args": ["--token=${keyring:a b}"],
		"env": {"A": "${file:token}", "B": "<${cmd: pass show ${X:-y} | head -1 }>", "C": "plain ${HOME}"}}}}`)
	s := cfg.Servers[0]
	reads := func(answer func(config.Reference) (string, error)) (*config.Server, error) {
		return s.Resolve(t.Context(), func(_ context.Context, r config.Reference) (string, error) { return answer(r) })
	}
	resolved, err := reads(func(r config.Reference) (string, error) { return "(" + r.Kind + " " + r.Of + ")", nil })
	if err != nil {
		t.Fatal(err)
	}
	for got, want := range map[string]string{
		resolved.Args[0]:  "--token=(keyring a b)",
		resolved.Env["A"]: "(file " + filepath.Join(dir, "token") + ")",
		resolved.Env["B"]: "<(cmd pass show ${X:-y} | head -1)>",
		resolved.Env["C"]: s.Env["C"],
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if !strings.HasPrefix(s.Env["C"], "plain ") || strings.Contains(s.Args[0], "(keyring") || strings.Contains(s.Env["A"], "(file") {
		t.Errorf("the server that was read is now %v, %v", s.Args, s.Env)
	}
	if _, err := reads(func(config.Reference) (string, error) { return "half a secret", errors.New("locked") }); err == nil || err.Error() != "its arguments: ${keyring:a b}: locked" {
		t.Errorf("a keyring that is locked: %v", err)
	}
	if _, err := s.Resolve(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "reads no secrets") {
		t.Errorf("without what reads secrets: %v", err)
	}
	if _, err := reads(func(config.Reference) (string, error) { return "a\x00cmd:rm\x00", nil }); err == nil {
		t.Error("a secret with a reference in it is taken")
	}
	refs := map[string]bool{}
	for _, r := range s.References() {
		refs[r.Kind] = true
	}
	if len(refs) != 3 || !refs["keyring"] || !refs["file"] || !refs["cmd"] {
		t.Errorf("the server refers to %v", refs)
	}
	lines := strings.Join(cfg.Describe()[0].Lines, "\n")
	if !strings.Contains(lines, `pass show ${X:-y} | head -1" for a secret`) {
		t.Errorf("a person who approves is not shown the command:\n%s", lines)
	}
}

func TestReferenceMistakes(t *testing.T) {
	for entry, want := range map[string]string{
		`{"command": "${cmd:echo sh}"}`:                                   "mcpServers.s.command cannot refer to a secret",
		`{"url": "https://a.example/${keyring:x}"}`:                       "mcpServers.s.url cannot refer to a secret",
		`{"command": "x", "cwd": "${file:/a}"}`:                           "mcpServers.s.cwd cannot refer to a secret",
		`{"command": "x", "env": {"A": "${keyring:}"}}`:                   "${keyring:…} names nothing",
		`{"command": "x", "env": {"A": "${file:${keyring:x}}"}}`:          "${file:…} names nothing",
		`{"command": "x", "env": {"A": "\u0000cmd:rm -rf /\u0000"}}`:      "contains a NUL character",
		`{"command": "x", "args": ["${A:-\u0000keyring:a\u0000}"]}`:       "contains a NUL character",
		`{"url": "https://a.example", "auth": {"issuer": "${cmd:true}"}}`: "is not an address",
	} {
		cfg := load(t, t.TempDir(), `{"mcpServers": {"s": `+entry+`}}`)
		if err := cfg.Servers[0].Err; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", entry, err, want)
		}
	}
}

// A profile whose token cannot be read, or is too short, has none, which lets nobody in.
func TestReferencesOfCallers(t *testing.T) {
	cfg := load(t, t.TempDir(), `{"mcpServers": {}, "profiles": {"p": {"token": "${cmd:a}"}},
		"access": {"issuer": "https://login.example.com", "audience": "https://a.example/mcp", "introspection": {"clientId": "me", "clientSecret": "${keyring:b}"}}}`)
	if lines := cfg.Describe(); !strings.Contains(strings.Join(lines[len(lines)-1].Lines, " "), "a for a secret") {
		t.Errorf("the command of a profile is not shown: %+v", lines)
	}
	answer, failure := strings.Repeat("x1", 20), error(nil)
	resolve := func(context.Context, config.Reference) (string, error) { return answer, failure }
	got, err := cfg.ResolveCallers(t.Context(), resolve)
	if err != nil || got.Profiles[0].Token != answer || got.Profiles[0].Err != nil || got.Access.Introspection.ClientSecret != answer {
		t.Errorf("got %+v, %+v, %v", got.Profiles[0], got.Access, err)
	}
	if cfg.Profiles[0].Token == answer || cfg.Access.Introspection.ClientSecret == answer {
		t.Error("the configuration that was read has changed")
	}
	cfg.Access, answer = nil, "short"
	if got, err := cfg.ResolveCallers(t.Context(), resolve); err != nil || got.Profiles[0].Token != "" || got.Profiles[0].Err == nil {
		t.Errorf("a short token: %+v, %v", got.Profiles[0], err)
	}
}
