//go:build unix

package live

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// TestClients lists and calls tools of three servers through one gateway,
// with official clients over every transport and both protocol eras.
func TestClients(t *testing.T) {
	w := newWorld(t)
	w.settled(t, dial(t, w.url))
	toolpost := build(t, "cmd/toolpost")
	targets := map[string][]string{
		"stdio": {"stdio", toolpost, "serve", "--stdio", "--config", w.config},
		"http":  {"http", w.url + "/mcp"},
		"sse":   {"sse", w.url + "/sse"},
	}
	for name, target := range targets {
		t.Run("typescript 1 "+name, func(t *testing.T) {
			t.Parallel()
			script(t, w, "v1.mjs", peer(t, "@modelcontextprotocol/sdk", "1", "."), nil, target)
		})
	}
	for _, mode := range []string{"legacy", "auto", "2026-07-28"} {
		for name, target := range targets {
			if name == "sse" && mode != "legacy" {
				continue // SSE exists in the old era only
			}
			t.Run("typescript 2 "+name+" "+mode, func(t *testing.T) {
				t.Parallel()
				got := script(t, w, "v2.mjs", peer(t, "@modelcontextprotocol/client", "2", "."), []string{mode}, target)
				if want := "2026-07-28"; mode != "legacy" && got != want {
					t.Errorf("speaks %s, want %s", got, want)
				}
			})
		}
	}
	inspector(t, w, toolpost)
}

// script runs a TypeScript client and returns the protocol version, if it tells.
func script(t *testing.T, w *world, file, sdk string, mode, target []string) string {
	t.Helper()
	file, err := filepath.Abs(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	list, err := json.Marshal(calls(w))
	if err != nil {
		t.Fatal(err)
	}
	args := slices.Concat([]string{file, sdk, string(list)}, mode, target)
	stdout, stderr, err := run(t, nil, node(t), args...)
	if err != nil {
		t.Fatalf("%v\n%s%s", err, stdout, tail(stderr, 40))
	}
	var out struct {
		Version string
		Tools   []string
		Results []json.RawMessage
	}
	if err := json.Unmarshal([]byte(stdout), &out); err != nil {
		t.Fatalf("%v in %s", err, stdout)
	}
	if len(out.Results) != len(calls(w)) {
		t.Fatalf("%d results", len(out.Results))
	}
	for i, c := range calls(w) {
		if !slices.Contains(out.Tools, c.Name) {
			t.Errorf("%s is not listed in %q", c.Name, out.Tools)
		}
		if !strings.Contains(string(out.Results[i]), c.want) {
			t.Errorf("%s: got %s, want %q", c.Name, out.Results[i], c.want)
		}
	}
	return out.Version
}

// inspector runs the MCP Inspector's command line once for each list and call.
func inspector(t *testing.T, w *world, toolpost string) {
	config, err := json.Marshal(map[string]any{"mcpServers": map[string]any{
		"gateway": map[string]any{"command": toolpost, "args": []string{"serve", "--stdio", "--config", w.config}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	session := filepath.Join(t.TempDir(), "inspector.json")
	write(t, session, string(config))
	mcp := func(era string) []string {
		return []string{w.url + "/mcp", "--transport", "http", "--protocol-era", era}
	}
	targets := map[string][]string{
		"stdio legacy": {"--config", session, "--server", "gateway"},
		"stdio modern": {"--config", session, "--server", "gateway", "--protocol-era", "modern"},
		"http legacy":  mcp("legacy"),
		"http modern":  mcp("modern"),
		"http auto":    mcp("auto"),
		"sse":          {w.url + "/sse", "--transport", "sse"},
	}
	for name, target := range targets {
		t.Run("inspector "+name, func(t *testing.T) {
			t.Parallel()
			list := inspect(t, target, "tools/list")
			for _, c := range calls(w) {
				if !strings.Contains(list, `"`+c.Name+`"`) {
					t.Errorf("%s is not listed", c.Name)
				}
				args, err := json.Marshal(c.Arguments)
				if err != nil {
					t.Fatal(err)
				}
				got := inspect(t, target, "tools/call", "--tool-name", c.Name, "--tool-args-json", string(args))
				if !strings.Contains(got, c.want) {
					t.Errorf("%s: got %s, want %q", c.Name, got, c.want)
				}
			}
		})
	}
}

func inspect(t *testing.T, target []string, method string, args ...string) string {
	t.Helper()
	bin := peer(t, "@modelcontextprotocol/inspector", "", "node_modules/.bin/mcp-inspector")
	all := slices.Concat([]string{bin, "--cli"}, target, []string{"--format", "json", "-q", "--method", method}, args)
	stdout, stderr, err := run(t, nil, node(t), all...)
	if err != nil {
		t.Fatalf("%s %q: %v\n%s%s", method, args, err, stdout, tail(stderr, 40))
	}
	return stdout
}

// TestRecovery kills servers: they come back by themselves, and the others go
// on answering. At the end nothing is left running.
func TestRecovery(t *testing.T) {
	w := newWorld(t)
	s := dial(t, w.url)
	w.settled(t, s)
	all := calls(w)
	others := func(gone int) func() {
		return func() {
			for i, c := range all {
				if i == gone {
					continue
				}
				if err := try(t, s, c); err != nil {
					t.Errorf("while %s is away: %v", all[gone].Name, err)
				}
			}
		}
	}
	const stdio, http, sse = 0, 1, 2

	before := w.pid(t)
	if err := syscall.Kill(before, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	others(stdio)()
	until(t, "stdio comes back", func() error { return try(t, s, all[stdio]) })
	if after := w.pid(t); after == before {
		t.Errorf("the server was not killed: its process is still %d", after)
	}
	w.remote["http"].restart(t, others(http))
	until(t, "HTTP comes back", func() error { return try(t, s, all[http]) })
	w.remote["sse"].restart(t, others(sse))
	until(t, "SSE comes back", func() error { return try(t, s, all[sse]) })

	child := w.pid(t)
	if err := w.gateway.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	w.gateway.wait()
	if w.gateway.ProcessState.ExitCode() != 0 {
		t.Errorf("after SIGTERM: %v", w.gateway.ProcessState)
	}
	if alive(child) {
		t.Error("the gateway left a server running")
	}
}

// TestKilled kills the gateway without a chance to clean up.
func TestKilled(t *testing.T) {
	w := newWorld(t)
	w.settled(t, dial(t, w.url))
	child := w.pid(t)
	if err := w.gateway.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	until(t, "the server dies with the gateway", func() error {
		if alive(child) {
			return errors.New(fmt.Sprint(child, " is alive"))
		}
		return nil
	})
}
