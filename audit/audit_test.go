package audit_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/audit"
	"github.com/toolpost/toolpost/internal/access/trail"
	"github.com/toolpost/toolpost/observe"
)

func TestMain(m *testing.M) {
	if mode := os.Getenv("AUDIT_TEST_CHILD"); mode != "" {
		child(mode)
		return
	}
	os.Exit(m.Run())
}

func open(t testing.TB, dir string, opts *audit.Options) *audit.Log {
	t.Helper()
	l, err := audit.Open(dir, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

// record returns a record with what every record has.
func record(id string) *trail.Record {
	return &trail.Record{ID: id, Time: time.Now().UTC(), Method: "tools/call", Upstream: "files", Tool: "files__read", Outcome: observe.OK}
}

func write(t testing.TB, l *audit.Log, ids ...string) {
	t.Helper()
	for _, id := range ids {
		if err := l.Append(record(id), false); err != nil {
			t.Fatal(err)
		}
	}
}

// calls returns the ids and outcomes of the log's calls.
func calls(t testing.TB, dir string, f *trail.Filter) string {
	t.Helper()
	found, damaged, err := trail.Calls(dir, f)
	if err != nil || damaged > 0 {
		t.Fatalf("%d damaged lines, %v", damaged, err)
	}
	var all []string
	for _, r := range found {
		all = append(all, r.ID+" "+string(r.Outcome))
	}
	return strings.Join(all, ", ")
}

// sound fails unless the log of a folder can be verified.
func sound(t testing.TB, dir string) *trail.Verification {
	t.Helper()
	v, err := trail.Verify(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(v.Problems) > 0 {
		t.Fatalf("%+v", v.Problems)
	}
	return v
}

func files(t testing.TB, dir string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "audit-*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// serve runs a call through a log, as mcpserver and the gateway do.
func serve(l *audit.Log, q *observe.Request, to *observe.Target, h toolpost.Handler) {
	ctx, seen := observe.Begin(context.Background())
	seen.Method, seen.Name, seen.Params, seen.Arguments, seen.Client, seen.Profile, seen.Session = q.Method, q.Name, q.Params, q.Arguments, q.Client, q.Profile, q.Session
	ctx, end := l.Observe(ctx, seen)
	if end == nil {
		return
	}
	seen.SetTarget(to)
	result, err := l.Around(to, h)(ctx, &toolpost.Call{Name: to.Name, Arguments: q.Arguments})
	response := &observe.Response{Outcome: observe.OK, Result: result, Err: err, Bytes: 7, Duration: 3 * time.Millisecond}
	if err != nil {
		response.Outcome = observe.Denied
	}
	end(response)
}

func answer(text string) toolpost.Handler {
	return func(context.Context, *toolpost.Call) (*toolpost.Result, error) { return toolpost.TextResult(text), nil }
}

func TestLevels(t *testing.T) {
	yes := true
	for level, want := range map[audit.Level]string{
		audit.LevelMeta: ``,
		audit.LevelArgs: `{"path":"a","token":"[secret]","user":{"email":"[secret]","phone":"[secret]"},"n":1,"text":"hunter [secret]","hidden":["[secret]"]}`,
		audit.LevelFull: `{"path":"a","token":"[secret]","user":{"email":"[secret]","phone":"[secret]"},"n":1,"text":"hunter [secret]","hidden":["[secret]"]}`,
	} {
		dir := t.TempDir()
		l := open(t, dir, &audit.Options{Level: level, Redact: []string{"email", "/user/p*", "hid?en"}, Secrets: []string{"hunter22"}})
		q := &observe.Request{
			Method: "tools/call", Name: "files__read", Profile: "work", Client: observe.Client{Name: "claude-code", Version: "2.1.0", View: "work/cursor"},
			Params:    json.RawMessage(`{"_meta":{"traceparent":"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}}`),
			Arguments: json.RawMessage(`{"path":"a","token":"tttt","user":{"email":"a@b","phone":12},"n":1,"text":"hunter hunter22","hidden":[1,2]}`),
		}
		q.Session = "session-1"
		if level != audit.LevelArgs {
			q.Arguments = bytes.Replace(q.Arguments, []byte(`12}`), []byte(`"1"}`), 1)
		} else {
			want = strings.Replace(want, `"phone":"[secret]"`, `"phone":0`, 1)
		}
		to := &observe.Target{Server: "files", Method: "tools/call", Name: "read", Definition: &toolpost.Definition{Name: "read", Annotations: toolpost.Annotations{ReadOnly: &yes}}}
		serve(l, q, to, answer("Bearer abcdefgh1234"))
		found, _, err := trail.Calls(dir, &trail.Filter{})
		if err != nil || len(found) != 1 {
			t.Fatal(found, err)
		}
		r := found[0]
		if got := string(r.Args); got != want {
			t.Errorf("%s: arguments %s, want %s", level, got, want)
		}
		if want := `{"content":[{"type":"text","text":"[secret]"}]}`; (string(r.Result) == want) != (level == audit.LevelFull) {
			t.Errorf("%s: result %s", level, r.Result)
		}
		if r.Upstream != "files" || r.ServerTool != "read" || r.Principal.Client != "claude-code/2.1.0" || r.Principal.Profile != "work" ||
			r.Trace != "4bf92f3577b34da6a3ce929d0e0e4736" || r.Duration != 3 || r.BytesOut != 7 || r.BytesIn != int64(len(q.Arguments)) || len(r.ArgsSHA256) != 64 ||
			!strings.HasPrefix(r.Definition, "sha256:") || r.Decision.Effect != "allow" || r.PID != os.Getpid() {
			t.Errorf("%s: %s", level, r)
		}
		if r.Principal.Session == "" || strings.Contains(r.String(), "session-1") {
			t.Errorf("%s: the session is %q", level, r.Principal.Session)
		}
		data, err := os.ReadFile(files(t, dir)[0])
		if err != nil || strings.Contains(string(data), "hunter22") || bytes.Count(data, []byte("\n")) != 1 {
			t.Errorf("%s: %v\n%s", level, err, data)
		}
		if info, err := os.Stat(files(t, dir)[0]); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v %v", info.Mode(), err)
		}
	}
}

func TestAddressWithSecrets(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir, &audit.Options{Secrets: []string{"hunter22"}})
	address := "https://ada:sesame@example.org/hunter22?api_key=sesame&page=2"
	to := &observe.Target{Server: "web", Method: "resources/read", Name: address}
	serve(l, &observe.Request{Method: "resources/read", Name: address}, to, answer(""))
	found, _, err := trail.Calls(dir, &trail.Filter{})
	const want = "https[secret]example.org/[secret]?[secret]&page=2"
	if err != nil || len(found) != 1 || found[0].Tool != want || found[0].ServerTool != want {
		t.Errorf("%v, %v", found, err)
	}
}

// A call that may change something is on disk before it is sent; one whose process
// is gone has an unknown outcome.
func TestStartOfWritingCalls(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir, nil)
	q := &observe.Request{Method: "tools/call", Name: "files__write"}
	to := &observe.Target{Server: "files", Method: "tools/call", Name: "write", Definition: &toolpost.Definition{Name: "write"}}
	serve(l, q, to, func(context.Context, *toolpost.Call) (*toolpost.Result, error) {
		found, _, err := trail.Calls(dir, &trail.Filter{})
		if err != nil || len(found) != 1 || found[0].Phase != trail.PhaseStart || found[0].Outcome != trail.Running {
			t.Errorf("during the call: %v %v", found, err)
		}
		return toolpost.TextResult("done"), nil
	})
	if found, _, _ := trail.Calls(dir, &trail.Filter{}); len(found) != 1 || found[0].Phase != "" || found[0].Outcome != observe.OK {
		t.Errorf("after the call: %v", found)
	}
	started := record("lost")
	started.Phase, started.Outcome = trail.PhaseStart, ""
	if err := l.Append(started, true); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if got := calls(t, dir, &trail.Filter{Failed: true}); got != "lost unknown" {
		t.Errorf("after the end of the process: %s", got)
	}
	if serve(l, &observe.Request{Method: "tools/list"}, to, answer("")); len(files(t, dir)) != 1 {
		t.Error("a list was recorded")
	}
}

func TestChain(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir, nil)
	write(t, l, "a", "b", "c", "d")
	if v := sound(t, dir); v.Records != 4 || v.Files != 1 {
		t.Errorf("%+v", v)
	}
	file := files(t, dir)[0]
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(data), "\n")
	for name, changed := range map[string]string{
		"changed":  strings.Replace(string(data), `"id":"b"`, `"id":"x"`, 1),
		"removed":  lines[0] + lines[2] + lines[3],
		"moved":    lines[0] + lines[2] + lines[1] + lines[3],
		"repeated": lines[0] + lines[1] + lines[1] + lines[2],
		"foreign":  lines[0] + "{}\n" + lines[1],
		"long":     lines[0] + strings.Repeat("x", 2<<20) + "\n" + lines[1],
		"first":    strings.Replace(lines[1], `"seq":2`, `"seq":1`, 1) + lines[2],
	} {
		if err := os.WriteFile(file, []byte(changed), 0o600); err != nil {
			t.Fatal(err)
		}
		if v, err := trail.Verify(dir); err != nil || len(v.Problems) == 0 {
			t.Errorf("%s: %+v %v", name, v, err)
		}
	}
	if err := os.WriteFile(file, []byte(lines[1]+lines[2]), 0o600); err != nil {
		t.Fatal(err)
	}
	if v := sound(t, dir); len(v.Notes) != 1 {
		t.Errorf("%+v", v)
	}
}

// A process continues the file of one that has ended, without its torn last line.
func TestContinue(t *testing.T) {
	dir := t.TempDir()
	first := open(t, dir, nil)
	write(t, first, "a", "b")
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	file := files(t, dir)[0]
	f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"v":1,"id":"torn`); err != nil {
		t.Fatal(err)
	}
	f.Close()
	if v := sound(t, dir); len(v.Notes) != 1 || calls(t, dir, &trail.Filter{}) != "a ok, b ok" {
		t.Errorf("%+v", v)
	}
	second, third := open(t, dir, nil), open(t, dir, nil)
	write(t, second, "c")
	write(t, third, "d") // the file is in use
	if got := calls(t, dir, &trail.Filter{}); got != "a ok, b ok, c ok, d ok" {
		t.Error(got)
	}
	if v := sound(t, dir); v.Files != 2 || len(v.Notes) != 0 || v.Records != 4 {
		t.Errorf("%+v", v)
	}
}

func TestRotation(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir, &audit.Options{SegmentSize: 2000, MaxSize: 20_000, MaxSegments: 6})
	for i := range 200 {
		write(t, l, fmt.Sprint("r", i))
	}
	found := files(t, dir)
	var total int64
	for _, f := range found {
		info, err := os.Stat(f)
		if err != nil {
			t.Fatal(err)
		}
		total += info.Size()
	}
	if len(found) != 6 || total > 20_000 {
		t.Errorf("%d files of %d bytes", len(found), total)
	}
	if v := sound(t, dir); len(v.Notes) != 1 {
		t.Errorf("%+v", v)
	}
	if got := calls(t, dir, &trail.Filter{Limit: 2}); got != "r198 ok, r199 ok" {
		t.Error(got)
	}
	for _, f := range found[:4] {
		old := time.Now().Add(-31 * 24 * time.Hour)
		if err := os.Chtimes(f, old, old); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	write(t, open(t, dir, nil), "next")
	if n := len(files(t, dir)); n != 2 {
		t.Errorf("%d files remain of which four are too old", n)
	}
}

// A call through a tool search is recorded, found and counted under the tool's own name.
func TestCallThroughSearch(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir, nil)
	ctx, q := observe.Begin(t.Context())
	q.Method, q.Name = "tools/call", "call_tool_write"
	ctx, end := l.Observe(ctx, q)
	q.SetCalled("files__delete")
	to := &observe.Target{Server: "files", Method: "tools/call", Name: "delete"}
	q.SetTarget(to)
	if _, err := l.Around(to, answer("ok"))(ctx, &toolpost.Call{}); err != nil {
		t.Fatal(err)
	}
	end(&observe.Response{Outcome: observe.OK})
	for _, tool := range []string{"files__delete", "delete", "call_tool_*", ""} {
		found, _, err := trail.Calls(dir, &trail.Filter{Tool: tool})
		if err != nil || len(found) != 1 || found[0].Tool != "files__delete" || found[0].Through != "call_tool_write" {
			t.Errorf("%q: %+v, %v", tool, found, err)
		}
	}
}

func TestFilter(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir, nil)
	for i, r := range []*trail.Record{
		{Upstream: "files", Tool: "files__read", ServerTool: "read", Principal: trail.Principal{Client: "claude-code/2.1"}, Outcome: observe.OK},
		{Upstream: "git", Tool: "git__log", ServerTool: "log", Principal: trail.Principal{Client: "cursor/1.0"}, Outcome: observe.ToolError},
		{Upstream: "git", Method: "resources/read", Tool: "file:///a/b", Principal: trail.Principal{Client: "cursor/1.0"}, Outcome: observe.Timeout},
	} {
		r.ID, r.Time = fmt.Sprint(i), time.Date(2026, 1, 1+i, 0, 0, 0, 0, time.UTC)
		if err := l.Append(r, false); err != nil {
			t.Fatal(err)
		}
	}
	for want, f := range map[string]*trail.Filter{
		"0 ok, 1 tool_error, 2 timeout": {},
		"1 tool_error, 2 timeout":       {Failed: true},
		"0 ok":                          {Server: "f*"},
		"1 tool_error":                  {Tool: "log"},
		"2 timeout":                     {Tool: "file:*b"},
		"1 tool_error, 2 timeout ":      {Client: "cursor"},
		"0 ok ":                         {Client: "claude-code/2*"},
		"2 timeout ":                    {Since: time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)},
		"":                              {Server: "other"},
	} {
		if got := calls(t, dir, f); got != strings.TrimSpace(want) {
			t.Errorf("%+v: %s, want %s", f, got, want)
		}
	}
}

func TestFollow(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir, nil)
	write(t, l, "before")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var got []string
	err := trail.Follow(ctx, dir, &trail.Filter{}, func() { write(t, l, "a", "b") }, func(r *trail.Record) error {
		if got = append(got, r.ID); len(got) == 2 {
			cancel()
		}
		return nil
	})
	if err != nil || strings.Join(got, " ") != "a b" {
		t.Error(got, err)
	}
}

func TestConcurrentRecordsAreInTheFile(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir, nil)
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			for j := range 50 {
				r := record(fmt.Sprint(i, "-", j))
				if err := l.Append(r, j%10 == 0); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	if v := sound(t, dir); v.Records != 400 {
		t.Errorf("%+v", v)
	}
}

func TestRequired(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "log")
	var logged bytes.Buffer
	opts := &audit.Options{Required: true, Logger: slog.New(slog.NewTextHandler(&logged, nil))}
	l := open(t, dir, opts)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	q := &observe.Request{Method: "tools/call", Name: "files__write"}
	to := &observe.Target{Server: "files", Method: "tools/call", Name: "write", Definition: &toolpost.Definition{Name: "write"}}
	executed := 0
	count := func(context.Context, *toolpost.Call) (*toolpost.Result, error) {
		executed++
		return toolpost.TextResult("done"), nil
	}
	if serve(l, q, to, count); executed != 0 {
		t.Error("a call was executed that was not recorded")
	}
	if l.Dropped() != 2 || !strings.Contains(logged.String(), "the audit log is incomplete") {
		t.Errorf("%d are missing: %s", l.Dropped(), &logged)
	}
	opts.Required = false
	l = open(t, dir, opts)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if serve(l, q, to, count); executed != 1 {
		t.Error("a call was refused although records are not required")
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if write(t, l, "again"); calls(t, dir, &trail.Filter{}) != "again ok" {
		t.Error("nothing is recorded after the folder is there again")
	}
}

func TestMistakes(t *testing.T) {
	for _, o := range []*audit.Options{{Level: "all"}, {Redact: []string{"/"}}, {Redact: []string{"[a"}}} {
		if _, err := audit.Open(t.TempDir(), o); err == nil {
			t.Errorf("%+v", o)
		}
	}
	if found, _, err := trail.Calls(filepath.Join(t.TempDir(), "none"), &trail.Filter{}); err != nil || len(found) > 0 {
		t.Error(found, err)
	}
}

func BenchmarkAppend(b *testing.B) {
	for _, durable := range []bool{false, true} {
		for _, callers := range []int{1, 64} {
			b.Run(fmt.Sprintf("durable=%v/callers=%d", durable, callers), func(b *testing.B) {
				l := open(b, b.TempDir(), nil)
				b.SetParallelism(max(callers/2, 1))
				b.RunParallel(func(p *testing.PB) {
					for p.Next() {
						if err := l.Append(record("id"), durable); err != nil {
							b.Error(err)
						}
					}
				})
			})
		}
	}
}

func FuzzRead(f *testing.F) {
	dir := f.TempDir()
	l := open(f, dir, nil)
	write(f, l, "a", "b")
	data, err := os.ReadFile(files(f, dir)[0])
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte("{}\n{\"v\":1}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "audit-20260101T000000.000000Z-1.jsonl"), data, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := trail.Verify(dir); err != nil {
			t.Fatal(err)
		}
		before, _, err := trail.Calls(dir, &trail.Filter{})
		if err != nil {
			t.Fatal(err)
		}
		l := open(t, dir, &audit.Options{Keep: 1 << 62})
		write(t, l, "new")
		after, _, err := trail.Calls(dir, &trail.Filter{})
		if err != nil || len(after) != len(before)+1 {
			t.Errorf("%d calls, then %d after one more: %v", len(before), len(after), err)
		}
	})
}

// A URI, which is recorded at every level, has no secrets of the configuration.
func TestSecretsOfURIs(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir, &audit.Options{Secrets: []string{"hunter22"}})
	q := &observe.Request{Method: "resources/read", Name: "db://me:hunter22@host/table"}
	serve(l, q, &observe.Target{Server: "db", Method: "resources/read"}, answer(""))
	found, _, err := trail.Calls(dir, &trail.Filter{})
	if err != nil || len(found) != 1 || strings.Contains(found[0].Tool, "hunter22") || !strings.HasSuffix(found[0].Tool, "host/table") {
		t.Error(found, err)
	}
}

// Another process with the same PID, as after a restart in a container, does not run
// the calls of the one before.
func TestSamePIDIsAnotherRun(t *testing.T) {
	dir := t.TempDir()
	before := open(t, dir, nil)
	lost := record("lost")
	lost.Phase, lost.Outcome = trail.PhaseStart, ""
	if err := before.Append(lost, true); err != nil {
		t.Fatal(err)
	}
	if got := calls(t, dir, &trail.Filter{}); got != "lost running" {
		t.Errorf("while it runs: %s", got)
	}
	if err := before.Close(); err != nil {
		t.Fatal(err)
	}
	write(t, open(t, dir, nil), "next")
	if got := calls(t, dir, &trail.Filter{}); got != "lost unknown, next ok" {
		t.Errorf("after the restart: %s", got)
	}
}

// Files whose names are not in the order of their chain, because the clock was set
// back, are verified in the order of the chain.
func TestClockThatIsSetBack(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir, &audit.Options{SegmentSize: 1})
	for i := range 3 {
		write(t, l, fmt.Sprint(i))
	}
	found := files(t, dir)
	if len(found) != 3 {
		t.Fatalf("%d files", len(found))
	}
	early := filepath.Join(dir, "audit-20200101T000000.000000Z-1.jsonl")
	if err := os.Rename(found[2], early); err != nil {
		t.Fatal(err)
	}
	sound(t, dir)
	if err := os.Remove(found[1]); err != nil {
		t.Fatal(err)
	}
	if v, err := trail.Verify(dir); err != nil || len(v.Problems) != 1 {
		t.Errorf("a file is missing: %+v, %v", v, err)
	}
}

// A clock that jumps ahead does not make all files old.
func TestClockThatJumpsAhead(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir, &audit.Options{SegmentSize: 1})
	write(t, l, "a")
	write(t, l, "b")
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	for i, f := range files(t, dir) {
		at := time.Now().Add(-time.Duration(40-i) * 24 * time.Hour)
		if err := os.Chtimes(f, at, at); err != nil {
			t.Fatal(err)
		}
	}
	write(t, open(t, dir, &audit.Options{SegmentSize: 1}), "c")
	if n := len(files(t, dir)); n != 3 {
		t.Errorf("%d files remain", n)
	}
}

// Only MCP's own lists are left out.
func TestListsOfExtensions(t *testing.T) {
	l := open(t, t.TempDir(), nil)
	for method, want := range map[string]bool{"tools/list": false, "resources/templates/list": false, "server/discover": false, "mail/list": true, "wipe/list": true} {
		ctx, q := observe.Begin(t.Context())
		q.Method = method
		if _, end := l.Observe(ctx, q); (end != nil) != want {
			t.Errorf("%s is recorded: %v", method, end != nil)
		}
	}
}
