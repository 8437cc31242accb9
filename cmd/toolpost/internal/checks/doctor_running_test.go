package checks

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/connect"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/doctor"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/servetest"
)

// A rawServer answers with results as they are, and counts the connections that are opened.
type rawServer struct {
	results map[string]string // by method
	opened  atomic.Int64
}

func (s *rawServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var m struct {
		ID     json.RawMessage
		Method string
	}
	_ = json.NewDecoder(r.Body).Decode(&m)
	result, has := s.results[m.Method]
	switch {
	case r.Method != http.MethodPost:
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	case m.ID == nil:
		w.WriteHeader(http.StatusAccepted)
		return
	case m.Method == "initialize":
		s.opened.Add(1)
		result, has = `{"protocolVersion":"2025-06-18","capabilities":{"tools":{},"prompts":{}},"serverInfo":{"name":"raw","version":"1"}}`, true
	}
	w.Header().Set("Content-Type", "application/json")
	if !has {
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}`, m.ID)
		return
	}
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
}

// A setup is a configuration with two servers that are ready and one that is not there.
type setup struct {
	dir, file, text string
	servers         [2]*rawServer
}

func newSetup(t *testing.T) *setup {
	s := &setup{dir: servetest.Home(t)}
	t.Setenv("TOOLPOST_VAULT", "files")
	t.Setenv("MCP_URLS", "")
	s.file = filepath.Join(s.dir, "tools.json")
	var urls []any
	for i, list := range []string{
		`{"tools":[{"name":"show","description":"A tool.","inputSchema":{"type":"object"}}]}`,
		`{"tools":[{"name":"show","inputSchema":{"type":"object"}},{"name":"show"},{"description":"without a name"},{"name":"odd","inputSchema":{"type":"array"}},
			{"name":"title","inputSchema":{"type":"object","additionalProperties":{}}}],"nextCursor":{}}`,
	} {
		s.servers[i] = &rawServer{results: map[string]string{"tools/list": list, "prompts/list": `{"prompts":[{"name":"ask","arguments":"x"}]}`}}
		web := httptest.NewServer(s.servers[i])
		t.Cleanup(func() { web.CloseClientConnections(); web.Close() })
		urls = append(urls, web.URL+"/mcp")
	}
	s.text = fmt.Sprintf(`{"profiles": {"p": {"clients": [{"name": "."}], "tools": {"good__show": {"name": "other"}}}}, "mcpServers": {
		"good": {"url": %q}, "odd": {"url": %q, "excludeTools": ["absent"]}, "gone": {"command": "toolpost-of-no-folder"}, "off": {"command": "x", "disabled": true}}}`, urls...)
	s.write(t, s.text)
	return s
}

func (s *setup) write(t *testing.T, text string) {
	t.Helper()
	if err := os.WriteFile(s.file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// opened returns how many connections were opened to each server.
func (s *setup) opened() [2]int64 {
	return [2]int64{s.servers[0].opened.Load(), s.servers[1].opened.Load()}
}

// isMore reports whether connections were opened to both servers.
func isMore(now, before [2]int64) bool { return now[0] > before[0] && now[1] > before[1] }

// serve serves the configuration, and waits until each server is ready or has failed.
func (s *setup) serve(t *testing.T) {
	t.Helper()
	e := servetest.Serve(t, s.file)
	if err := e.Gateway().Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// doctor runs the command.
func (s *setup) doctor(t *testing.T, args ...string) string {
	t.Helper()
	cmd := doctorCommand(&doctorOptions{lintOptions: lintOptions{Target: connect.Target{RunPatience: time.Hour}}})
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	var out bytes.Buffer
	cmd.SetOut(&out)
	cmd.SetErr(io.Discard)
	cmd.SetArgs(append([]string{"--config", s.file, "--for", "mcp,claude-code"}, args...))
	_ = cmd.ExecuteContext(t.Context()) // the findings are an error
	return out.String()
}

func (s *setup) report(t *testing.T, args ...string) *doctor.Report {
	t.Helper()
	r, out := &doctor.Report{}, s.doctor(t, append(args, "--json")...)
	if err := json.Unmarshal([]byte(out), r); err != nil {
		t.Fatalf("%s: %v", out, err)
	}
	for i := range r.Servers {
		r.Servers[i].StartMS = 0
	}
	return r
}

// TestDoctorOfRunning: doctor finds in what a running serve has of its servers the same as in
// servers that it starts, and starts only those that are not ready there.
func TestDoctorOfRunning(t *testing.T) {
	s := newSetup(t)
	fresh := s.report(t)
	if fresh.Serve != "" || len(fresh.Servers) != 4 || len(fresh.Tools) == 0 || !isMore(s.opened(), [2]int64{}) {
		t.Fatalf("got %+v with %d connections", fresh, s.opened())

	}
	ids := map[string]bool{}
	for _, f := range fresh.Findings {
		ids[f.ID] = true
	}
	for _, id := range []string{"server-failed", "filter-unused", "tool-left-out", "definition-invalid", "java-sdk", "description-missing"} {
		if !ids[id] {
			t.Errorf("no finding %q to compare: %v", id, ids)
		}
	}
	s.serve(t)
	opened := s.opened()
	for _, args := range [][]string{nil, {"--timeout", "1m"}, {"--profile", "p"}} {
		want := s.report(t, append(args, "--fresh")...)
		if !isMore(s.opened(), opened) {
			t.Errorf("%v --fresh: connections %d, before %d", args, s.opened(), opened)
		}
		opened = s.opened()
		got := s.report(t, args...)
		if !strings.HasPrefix(got.Serve, "http://127.0.0.1:") || strings.Join(got.Started, " ") != "gone" || s.opened() != opened {
			t.Errorf("%v: %q, started %q, connections %d, before %d", args, got.Serve, got.Started, s.opened(), opened)
		}
		got.Serve, got.Started = "", nil
		if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(doctor.Report{})); diff != "" {
			t.Errorf("%v: %s", args, diff)
		}
	}
	out := strings.Join(strings.Fields(s.doctor(t)), " ")
	if !strings.Contains(out, "The servers are as the running serve at http://127.0.0.1:") || !strings.Contains(out, "/mcp has them, but for gone, which doctor started; --fresh starts all.") {
		t.Errorf("got %s", out)
	}
}

// TestDoctorStartsItsOwn: where what runs might have something else, doctor starts the servers.
func TestDoctorStartsItsOwn(t *testing.T) {
	tests := []struct {
		name  string
		args  []string
		after func(*setup, *testing.T)
	}{
		{name: "--fresh", args: []string{"--fresh"}},
		{name: "a change that is not approved", after: func(s *setup, t *testing.T) {
			s.write(t, strings.Replace(s.text, "no-folder", "another-folder", 1))
		}},
		{name: "other variables", after: func(_ *setup, t *testing.T) { t.Setenv("TZ", "Asia/Tokyo") }},
		{name: "nothing is noted", after: func(s *setup, t *testing.T) { t.Setenv("XDG_STATE_HOME", filepath.Join(s.dir, "other")) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newSetup(t)
			s.serve(t)
			if tt.after != nil {
				tt.after(s, t)
			}
			opened := s.opened()
			if r := s.report(t, tt.args...); r.Serve != "" || r.Started != nil || !isMore(s.opened(), opened) {
				t.Errorf("%q, %q, connections %d, before %d", r.Serve, r.Started, s.opened(), opened)
			}
		})
	}
}
