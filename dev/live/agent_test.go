//go:build unix

package live

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// An agent is the command line of a coding agent, which is a client of ours
// and has a model for its user.
type agent struct {
	name, binary string // of the package, and the pattern of its file
	format       format
	prefix       func(server string) string // of a tool's name in the request to the model
	// command returns how to start it once with a prompt, with the settings in
	// its home, all its calls permitted, and its model at an address.
	command func(t *testing.T, bin, home, model string, servers map[string]mcpServer) (env, args []string)
	// reach tells how many tools of a server reach the model without us: its
	// good one and the row's. A row that is not here loses none.
	reach map[string]int
}

// An mcpServer is one as an agent is told of it, by command or by address.
type mcpServer struct {
	command []string
	url     string
}

// entry returns the server with the names that most agents use.
func (s mcpServer) entry() object {
	if s.url != "" {
		return object{"type": "http", "url": s.url}
	}
	return object{"type": "stdio", "command": s.command[0], "args": s.command[1:]}
}

func entries(servers map[string]mcpServer, entry func(mcpServer) object) object {
	all := object{}
	for name, s := range servers {
		all[name] = entry(s)
	}
	return all
}

// quiet keeps a process away from all hosts but this one.
var quiet = []string{
	"HTTP_PROXY=http://127.0.0.1:9", "HTTPS_PROXY=http://127.0.0.1:9", "NO_PROXY=127.0.0.1,localhost",
	"http_proxy=http://127.0.0.1:9", "https_proxy=http://127.0.0.1:9", "no_proxy=127.0.0.1,localhost",
	"DO_NOT_TRACK=1", "NO_COLOR=1", "TERM=dumb", "LANG=C.UTF-8", "CI=1",
}

func (a *agent) bin(t *testing.T) string { return peer(t, a.name, "", a.binary) }

// run gives the agent one prompt and waits until it has ended.
func (a *agent) run(t *testing.T, m *model, servers map[string]mcpServer) {
	t.Helper()
	home := t.TempDir()
	env, args := a.command(t, a.bin(t), home, m.URL, servers)
	env = append(append([]string{"HOME=" + home, "XDG_CONFIG_HOME=" + home + "/.config", "XDG_DATA_HOME=" + home + "/.data",
		"XDG_CACHE_HOME=" + home + "/.cache", "XDG_STATE_HOME=" + home + "/.state", "TMPDIR=" + home}, quiet...), env...)
	stdout, stderr, err := run(t, env, args[0], args[1:]...)
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, tail(stdout, 20), tail(stderr, 40))
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("stdout:\n%s\nstderr:\n%s", tail(stdout, 20), tail(stderr, 40))
		}
	})
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.requests) == 0 {
		t.Fatalf("it asked its model nothing; it asked for %q", m.strange)
	}
	if len(m.strange) > 0 {
		t.Logf("it also asked for %q", m.strange)
	}
}

// direct tells how many tools of each row reach the model without us.
func (a *agent) direct(t *testing.T) {
	a.bin(t) // or the test ends here
	dir := t.TempDir()
	log := func(row string) string { return filepath.Join(dir, row) }
	servers := map[string]mcpServer{"plain": {url: poisonHTTP(t, "", log("plain"))}}
	for _, p := range pills {
		servers[p.row] = mcpServer{command: poison(t, p.row, log(p.row))}
	}
	m := newModel(t, a.format)
	a.run(t, m, servers)
	told(t, "stdio", log(pills[0].row))
	told(t, "http", log("plain"))
	for _, row := range slices.Sorted(maps.Keys(servers)) {
		got, all := a.count(m, row), len(listed(row))
		if got < all {
			t.Logf("%s: %d of %d tools reach the model", row, got, all)
		}
		want, known := a.reach[row]
		if !known {
			want = all
		}
		switch {
		case got < want:
			t.Errorf("%s: %d tools, want %d", row, got, want)
		case got > want:
			t.Logf("%s: better than the %d of before", row, want)
		}
	}
}

func (a *agent) count(m *model, server string) int {
	n := 0
	for _, tool := range m.offered() {
		if strings.HasPrefix(tool.name, a.prefix(server)) {
			n++
		}
	}
	return n
}

// told logs how the client introduced itself to a poison server.
func told(t *testing.T, transport, log string) {
	t.Helper()
	for _, line := range lines(t, log) {
		var m struct {
			message
			UserAgent string
		}
		if json.Unmarshal([]byte(line), &m) != nil {
			continue
		}
		switch {
		case m.Method == "initialize":
			t.Logf("%s: protocol %s, %s", transport, m.Params.ProtocolVersion, m.Params.ClientInfo)
		case m.Method == "server/discover":
			t.Logf("%s: %s", transport, line)
		case m.UserAgent != "":
			t.Logf("%s: user agent %s", transport, m.UserAgent)
			return
		}
	}
}

func lines(t *testing.T, file string) []string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(data)), "\n")
}

// through tells what reaches the model through the gateway: every tool of a
// server full of poison, but for the few that no client could call, which the
// gateway names in its log. And calls arrive as the server wants them.
func (a *agent) through(t *testing.T) {
	a.bin(t) // or the test ends here
	dir := t.TempDir()
	log, config := filepath.Join(dir, "log"), filepath.Join(dir, "toolpost.json")
	server := poison(t, "all", log)
	write(t, config, marshal(object{"mcpServers": object{
		"poison": object{"command": server[0], "args": server[1:], "prefix": ""},
	}}))
	p, url := gateway(t, config)
	s := dial(t, url)
	until(t, "the server answers through the gateway", func() error {
		return try(t, s, call{"good", map[string]any{"text": "x"}, "good got"})
	})
	for transport, server := range map[string]mcpServer{
		"stdio": {command: []string{build(t, "cmd/toolpost"), "serve", "--stdio", "--config", config}},
		"http":  {url: url + "/mcp"},
	} {
		t.Run(transport, func(t *testing.T) {
			var script []step
			for _, c := range called {
				script = append(script, calling(c.tool, transport))
			}
			m := newModel(t, a.format, script...)
			a.run(t, m, map[string]mcpServer{"tp": server})
			var gone []string
			for _, pill := range listed("all") {
				withheld := slices.Contains(uncallable, pill.name) && strings.Contains(p.output.String(), "tool="+pill.name)
				if _, reached := find(m.offered(), pill.name); !reached && !withheld {
					gone = append(gone, pill.name)
				}
			}
			if len(gone) > 0 {
				t.Errorf("%d tools reach the model; not %q", a.count(m, "tp"), gone)
			}
			for _, c := range called {
				if slices.Contains(gone, c.tool) {
					continue
				}
				arguments := marshal(object{c.key: transport})
				arrived(t, log, c.tool, arguments)
				if want := marshal(echo(c.tool, json.RawMessage(arguments))); !m.saw(want[1 : len(want)-1]) {
					t.Errorf("the model was not told %s", want)
				}
			}
			if cut := "[truncated]"; m.saw(cut) {
				t.Errorf("the client has cut a text: a request has %q", cut)
			}
		})
	}
}

// uncallable are tools without a schema, and with one that no arguments fit.
var uncallable = []string{"missing", "array"}

// called are the tools that the model calls, each with the key of its argument.
var called = []struct{ tool, key string }{
	{"good", "text"}, {"dollar", "$filter"}, {"brackets", "ids[]"}, {"space", "my key"}, {"longkey", longKey},
	{"unicode", "名前"}, {"at", "@type"}, {"colon", "a:b"}, {longName, "text"}, {"a.b", "text"}, {"a_b", "text"},
}

// find returns the tool by its description: its name may have changed.
func find(tools []offered, name string) (offered, bool) {
	for _, o := range tools {
		if strings.Contains(string(o.raw), says(name)) {
			return o, true
		}
	}
	return offered{}, false
}

// calling makes a call of a tool, with a value for its only property.
func calling(name, value string) step {
	return func(tools []offered) (string, string, bool) {
		o, ok := find(tools, name)
		if !ok {
			return "", "", false
		}
		var schema struct{ Properties map[string]json.RawMessage }
		if json.Unmarshal(o.schema, &schema) != nil {
			return "", "", false
		}
		delete(schema.Properties, "wait_for_previous") // Gemini CLI adds it
		for key := range schema.Properties {
			return o.name, marshal(object{key: value}), true
		}
		return "", "", false
	}
}

// arrived checks that the poison server got a call.
func arrived(t *testing.T, log, tool, arguments string) {
	t.Helper()
	var got []string
	for _, line := range lines(t, log) {
		var m message
		if json.Unmarshal([]byte(line), &m) != nil || m.Method != "tools/call" {
			continue
		}
		if m.Params.Name == tool && string(m.Params.Arguments) == arguments {
			return
		}
		got = append(got, fmt.Sprintf("%s %s", m.Params.Name, m.Params.Arguments))
	}
	t.Errorf("the server did not get %s %s, only\n%s", tool, arguments, strings.Join(got, "\n"))
}
