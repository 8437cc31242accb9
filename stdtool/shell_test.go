//go:build unix

package stdtool_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/output"
	"github.com/toolpost/toolpost/stdtool"
	"github.com/toolpost/toolpost/store"
)

// commands returns the tools of a shell in dir. When the test ends, nothing of
// it may be left.
func commands(t testing.TB, dir string, opts *stdtool.ShellOptions) (*toolpost.Set, *stdtool.Shell) {
	t.Helper()
	running := goleak.IgnoreCurrent()
	s := stdtool.NewShell(dir, opts)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if err := goleak.Find(running); err != nil {
			t.Error(err)
		}
	})
	return tools(t, s), s
}

// run returns the text of a run of bash.
func run(t testing.TB, set *toolpost.Set, line string) string {
	t.Helper()
	return call(t, set, "bash", arguments(t, map[string]any{"command": line}))
}

// background starts a command in the background and returns its id.
func background(t testing.TB, set *toolpost.Set, line string) string {
	t.Helper()
	text := call(t, set, "bash", arguments(t, map[string]any{"command": line, "background": true}))
	id := regexp.MustCompile(`id "([^"]+)"`).FindStringSubmatch(text)
	if id == nil {
		t.Fatal(text)
	}
	return id[1]
}

func told(t testing.TB, set *toolpost.Set, id, until string) string {
	t.Helper()
	return call(t, set, "bash_output", arguments(t, map[string]any{"id": id, "wait_ms": 60_000, "until": until}))
}

func TestBash(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "file.txt", []byte("text\n"))
	set, _ := commands(t, dir, &stdtool.ShellOptions{Env: []string{"PATH=" + os.Getenv("PATH"), "GIVEN=value"}})
	tests := []struct{ line, want string }{
		{"echo out; echo err >&2; echo out", "out\nerr\nout\n"},
		{"cat file.txt", "text\n"},
		{"cat", "[no output]"}, // there is no input
		{"true", "[no output]"},
		{"printf x", "x"},
		{"exit 3", "[exit code 3]\n"},
		{"printf x; exit 3", "x\n[exit code 3]\n"},
		{"no-such-command 2>/dev/null", "[exit code 127]\n"},
		{"kill -9 $$", "[ended by signal: killed]\n"},
		{"cd /; x=1", "[no output]"},
		{`echo "$GIVEN$x"; [ "$PWD" = "$(pwd)" ] && ls`, "value\nfile.txt\n"},
		{`printf 'a\377b\n'`, "a\uFFFDb\n"},
		{"if", ""},
	}
	for _, tt := range tests {
		got := run(t, set, tt.line)
		if tt.want == "" && !strings.Contains(got, "syntax error") || tt.want != "" && got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.line, got, tt.want)
		}
	}
	for args, want := range map[string]string{
		`{"command":""}`:                         "error (retry)",
		`{"command":"true","timeout_ms":600001}`: "error (retry)",
		`{}`:                                     "error (retry)",
	} {
		if got := call(t, set, "bash", args); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s", args, got)
		}
	}
}

// Commands get the variables that programs need, and those that are named.
func TestBashEnvironment(t *testing.T) {
	const secret = "hidden"
	for _, name := range strings.Fields(`MY_API_KEY GH_TOKEN DB_PASSWORD AWS_SECRET_ACCESS_ID MYSQL_PWD GITHUB_PAT DSN
		AZURE_CONNECTION_STRING JWT SLACK_WEBHOOK_URL PASSPHRASE COOKIE REGISTRY_AUTH SENTRY_DSN MY_DATABASE_URL ANYTHING
		GOOGLE_API_KEY GOOGLE_APPLICATION_CREDENTIALS NODE_AUTH_TOKEN NPM_CONFIG__AUTH GIT_CONFIG_PARAMETERS CARGO_REGISTRY_TOKEN
		PYPI_TOKEN XDG_SESSION_COOKIE SSH_AUTH_SOCK PATH_ my_path`) {
		t.Setenv(name, secret)
	}
	for name, value := range map[string]string{
		"HTTPS_PROXY": "http://me:hidden@proxy:3128", "GOPROXY": "https://ok.example,https://me:hidden@go.example", "GOFLAGS": "-tags=x",
		"http_proxy": "http://proxy:3128", "https_proxy": "me:hidden@proxy:3128", "ALL_PROXY": "hidden@proxy", "LC_CTYPE": "C", "XDG_CONFIG_HOME": "/config", "JAVA_HOME": "/java",
		"PASSED_TOKEN": "passed", "AWS_PROFILE": "passed", "AWS_REGION": "passed", "PASSED_URL": "https://me:passed@host",
	} {
		t.Setenv(name, value)
	}
	set, _ := commands(t, t.TempDir(), &stdtool.ShellOptions{Pass: []string{"PASSED_TOKEN", "PASSED_URL", "AWS_*"}})
	got := run(t, set, "env | grep -v ^AWS_SECRET_ACCESS_ID=")
	for _, want := range []string{"PATH=", "TERM=dumb\n", "GOFLAGS=-tags=x\n", "http_proxy=http://proxy:3128\n", "LC_CTYPE=C\n", "XDG_CONFIG_HOME=/config\n",
		"JAVA_HOME=/java\n", "PASSED_TOKEN=passed\n", "AWS_PROFILE=passed\n", "AWS_REGION=passed\n", "PASSED_URL=https://me:passed@host\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is not in\n%s", want, got)
		}
	}
	if strings.Contains(got, secret) {
		t.Errorf("secrets in\n%s", got)
	}
}

// The group of a command is ended whole: also what ignores SIGTERM.
func TestBashTimeout(t *testing.T) {
	set, _ := commands(t, t.TempDir(), &stdtool.ShellOptions{Grace: 50 * time.Millisecond})
	const line = `trap '' TERM; (trap '' TERM; sh -c 'echo $$; exec sleep 1000') & wait`
	for limit := 500; ; limit *= 2 { // until the machine is fast enough
		got := call(t, set, "bash", arguments(t, map[string]any{"command": line, "timeout_ms": limit}))
		want := fmt.Sprintf("[timed out after %d ms: the command and every process that it started were ended; "+
			"give a longer timeout_ms, or start it in the background]\n", limit)
		pid, found := strings.CutSuffix(got, "\n"+want)
		if !found {
			if got == want && limit < 60_000 {
				continue
			}
			t.Fatal(got)
		}
		notAlive(t, pid)
		return
	}
}

// notAlive waits for the end of a process that was killed: the system may take
// a moment to bury what can run no more.
func notAlive(t testing.TB, pid string) {
	t.Helper()
	n, err := strconv.Atoi(strings.TrimSpace(pid))
	if err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(time.Minute); time.Now().Before(end); runtime.Gosched() {
		stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", n))
		if syscall.Kill(n, 0) != nil || bytes.Contains(stat, []byte(") Z ")) {
			return
		}
	}
	t.Errorf("process %d runs on", n)
}

// What a command leaves behind is ended, also what left the group: by a session
// of its own, as a daemon does, or as a job.
func TestBashLeftBehind(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "stay", []byte("echo $$ > told; exec sleep 1000"))
	write(t, dir, "daemon", []byte("trap '' TERM; sh stay & exit"))
	set, _ := commands(t, dir, &stdtool.ShellOptions{Grace: 50 * time.Millisecond})
	ways := []string{"sh stay & cat told"}
	if runtime.GOOS == "linux" { // elsewhere they are not found
		ways = append(ways, "set -m; sh stay & cat told", "setsid sh stay & cat told", "setsid sh daemon & cat told")
	}
	for _, line := range ways {
		got := run(t, set, "rm -f told; mkfifo told; "+line)
		pid, found := strings.CutSuffix(got, "\n[processes that the command left running were ended; to keep one running, start it with background true]\n")
		if !found {
			t.Errorf("%s: %s", line, got)
			continue
		}
		notAlive(t, pid)
	}
	if runtime.GOOS != "linux" {
		return
	}
	id := background(t, set, "rm -f told; mkfifo told; setsid sh daemon & cat told; sleep 1000")
	pid, _, _ := strings.Cut(told(t, set, id, "[0-9]\n"), "\n")
	if got := call(t, set, "bash_kill", arguments(t, map[string]any{"id": id})); got != "[ended by signal: terminated]\n" {
		t.Error(got)
	}
	notAlive(t, pid)
}

func TestBashCancelled(t *testing.T) {
	set, _ := commands(t, t.TempDir(), nil)
	started := t.TempDir() + "/started"
	if err := syscall.Mkfifo(started, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("the user pressed stop")
	var pid []byte
	go func() {
		pid, _ = os.ReadFile(started) // waits for the writer
		cancel(stop)
	}()
	_, err := set.Call(ctx, &toolpost.Call{Name: "bash", Arguments: json.RawMessage(arguments(t, map[string]any{
		"command": "sleep 1000 & echo $! > " + started + "; wait",
	}))})
	if !errors.Is(err, stop) {
		t.Error(err)
	}
	notAlive(t, string(pid))
}

func TestBashLargeOutput(t *testing.T) {
	set, _ := commands(t, t.TempDir(), nil)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got := run(t, set, `echo first; yes 123456789 | head -c 100000000; echo last; exit 4`)
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 8<<20 {
		t.Errorf("%d bytes of memory were used", used)
	}
	if len(got) > 48_000 || len(got) < 46_000 {
		t.Errorf("%d bytes are shown", len(got))
	}
	m := regexp.MustCompile(`(?s)^first\n(?:123456789\n)+\n\[(\d+) bytes are left out here: [^\n]*\]\n\n((?:123456789\n)+)last\n\[exit code 4\]\n$`).FindStringSubmatch(got)
	if m == nil {
		t.Fatalf("%s … %s", got[:100], got[len(got)-100:])
	}
	shown := strings.Count(got, "123456789\n") * 10
	if left, _ := strconv.Atoi(m[1]); left+shown != 100_000_000 {
		t.Errorf("%d left out, %d shown", left, shown)
	}
}

func TestBashConcurrent(t *testing.T) {
	set, _ := commands(t, t.TempDir(), nil)
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			r, err := set.Call(t.Context(), &toolpost.Call{Name: "bash", Arguments: json.RawMessage(fmt.Sprintf(`{"command":"for i in 1 2 3; do echo %d; done"}`, i))})
			if err != nil {
				t.Error(err)
				return
			}
			if got, _ := r.FirstText(); got != strings.Repeat(strconv.Itoa(i)+"\n", 3) {
				t.Errorf("%d: %q", i, got)
			}
		})
	}
	all.Wait()
}

// Output is told once, with how the command fares; waits end with a match or
// with the command.
func TestBackgroundWait(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"/go", "/on"} {
		if err := syscall.Mkfifo(dir+name, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	set, _ := commands(t, dir, nil)
	id := background(t, set, `printf 'one\npart'; read x < go; echo " ready $x"; read y < on; echo end; exit 5`)
	if got := told(t, set, id, "^part"); !regexp.MustCompile(`^one\npart\n\[still running after [\d.]+m?s\]\n$`).MatchString(got) {
		t.Fatal(got)
	}
	if got := call(t, set, "bash_output", arguments(t, map[string]any{"id": id})); !strings.HasPrefix(got, "[still running") {
		t.Error(got)
	}
	run(t, set, "echo now > go")
	if got := told(t, set, id, "ready (now|never)$"); !strings.HasPrefix(got, " ready now\n[still running") {
		t.Error(got)
	}
	run(t, set, "echo now > on")
	if got := told(t, set, id, ""); got != "end\n[exit code 5]\n" {
		t.Error(got)
	}
	if got := told(t, set, id, ""); got != "[exit code 5]\n" {
		t.Error(got)
	}
	if got := told(t, set, id, "("); !strings.HasPrefix(got, "error (retry): until is not a valid regular expression") {
		t.Error(got)
	}
}

func TestBackgroundKill(t *testing.T) {
	set, _ := commands(t, t.TempDir(), &stdtool.ShellOptions{Grace: 50 * time.Millisecond})
	id := background(t, set, `trap '' TERM; (trap '' TERM; sh -c 'echo $$; exec sleep 1000') & wait`)
	pid, _, _ := strings.Cut(told(t, set, id, "[0-9]\n"), "\n")
	if got := call(t, set, "bash_kill", arguments(t, map[string]any{"id": id})); got != "[ended by signal: killed]\n" {
		t.Error(got)
	}
	notAlive(t, pid)
	if got := call(t, set, "bash_kill", arguments(t, map[string]any{"id": id})); got != "[ended by signal: killed]\n" {
		t.Error(got)
	}
	limited := call(t, set, "bash", `{"command":"echo started; sleep 1000","background":true,"timeout_ms":1}`)
	id = regexp.MustCompile(`bash-\w+`).FindString(limited)
	if got := told(t, set, id, ""); !strings.Contains(got, "[timed out after 1 ms") {
		t.Error(got)
	}
}

func TestBackgroundLimits(t *testing.T) {
	set, shell := commands(t, t.TempDir(), nil)
	if got := told(t, set, "x", ""); !strings.HasPrefix(got, `error (retry): no background command has the id "x"`) {
		t.Error(got)
	}
	first := background(t, set, "sleep 1000")
	for range 15 {
		background(t, set, "sleep 1000")
	}
	if got := call(t, set, "bash", `{"command":"true","background":true}`); !strings.Contains(got, "the limit is 16: end one with bash_kill") {
		t.Error(got)
	}
	if got := told(t, set, "x", ""); strings.Contains(got, first) || len(first) < len("bash-")+16 {
		t.Errorf("%s is %q", first, got)
	}
	if got := asked(t, set, "other", "bash_kill", `{"id":"`+first+`"}`); got != `no background command has the id "`+first+`": give the id that bash returned, or start one with bash and background true` {
		t.Errorf("another session: %s", got)
	}
	if err := shell.Close(); err != nil {
		t.Error(err)
	}
	if got := call(t, set, "bash_output", `{"id":"`+first+`"}`); got != "[ended by signal: terminated]\n" {
		t.Error(got)
	}
	if got := run(t, set, "true"); !strings.Contains(got, "this server is stopping") {
		t.Error(got)
	}
}

// asked returns the text of a session's call.
func asked(t testing.TB, set *toolpost.Set, session, tool, args string) string {
	t.Helper()
	r, err := set.Call(t.Context(), &toolpost.Call{Name: tool, Session: session, Arguments: json.RawMessage(args)})
	if err != nil {
		t.Fatal(err)
	}
	text, _ := r.FirstText()
	return text
}

// No session takes what others may run, nor does it push out what they can ask
// for; its end ends what is its own.
func TestBackgroundSessions(t *testing.T) {
	const sleep = `{"command":"sleep 1000","background":true}`
	set, shell := commands(t, t.TempDir(), nil)
	id := func(text string) string { return regexp.MustCompile(`bash-\w+`).FindString(text) }
	mine := id(asked(t, set, "mine", "bash", `{"command":"echo done","background":true}`))
	asked(t, set, "mine", "bash_output", `{"id":"`+mine+`","wait_ms":60000}`)
	theirs := id(asked(t, set, "session 0", "bash", `{"command":"echo $$; exec sleep 1000","background":true}`))
	pid, _, _ := strings.Cut(asked(t, set, "session 0", "bash_output", `{"id":"`+theirs+`","wait_ms":60000,"until":"[0-9]\n"}`), "\n")
	for i := range 64 {
		got := asked(t, set, fmt.Sprint("session ", i/16), "bash", sleep)
		if refused := strings.Contains(got, "16 commands are running in the background, and the limit is 16"); refused != (i == 15) {
			t.Fatalf("%d: %s", i, got)
		}
	}
	if got := asked(t, set, "another", "bash", sleep); !strings.HasPrefix(got, "64 commands of all sessions are running in the background") {
		t.Error(got)
	}
	if got := asked(t, set, "another", "bash", `{"command":"echo on"}`); got != "on\n" {
		t.Error(got)
	}
	if got := asked(t, set, "session 1", "bash_output", `{"id":"`+theirs+`"}`); !strings.Contains(got, "no background command") {
		t.Errorf("another session reads it: %s", got)
	}
	shell.EndSession("session 0")
	notAlive(t, pid)
	if got := asked(t, set, "session 0", "bash_output", `{"id":"`+theirs+`"}`); !strings.Contains(got, "no background command has the id") {
		t.Error(got)
	}
	for range 33 {
		i := id(asked(t, set, "session 0", "bash", `{"command":"true","background":true}`))
		asked(t, set, "session 0", "bash_output", `{"id":"`+i+`","wait_ms":60000}`)
	}
	if got := asked(t, set, "mine", "bash_output", `{"id":"`+mine+`"}`); got != "[exit code 0]\n" {
		t.Error(got)
	}
}

// Only the last ones that have ended can be asked for.
func TestBackgroundForgotten(t *testing.T) {
	set, _ := commands(t, t.TempDir(), nil)
	var ids []string
	for range 34 {
		ids = append(ids, background(t, set, "true"))
		told(t, set, ids[len(ids)-1], "")
	}
	// A command counts as ended a moment after it is gone.
	for end := time.Now().Add(30 * time.Second); ; {
		got := told(t, set, ids[0], "")
		if strings.Contains(got, "no background command has the id") {
			break
		}
		if time.Now().After(end) {
			t.Fatal(got)
		}
	}
	if got := told(t, set, ids[33], ""); got != "[exit code 0]\n" {
		t.Error(got)
	}
}

// A whole keeps all output.
type whole struct {
	bytes.Buffer
	closed chan struct{}
}

func (w *whole) Text(context.Context) (text, ref string) { return w.String()[:3], "the-ref" }

func (w *whole) Close() error {
	close(w.closed)
	return nil
}

func TestRecorder(t *testing.T) {
	var (
		recorders []*whole
		sessions  []string
	)
	set, _ := commands(t, t.TempDir(), &stdtool.ShellOptions{Record: func(ctx context.Context) stdtool.Recorder {
		sessions = append(sessions, toolpost.CallFrom(ctx).Session)
		recorders = append(recorders, &whole{closed: make(chan struct{})})
		return recorders[len(recorders)-1]
	}})
	r, err := set.Call(t.Context(), &toolpost.Call{Name: "bash", Session: "mine", Arguments: json.RawMessage(`{"command":"echo text"}`)})
	if err != nil {
		t.Fatal(err)
	}
	if text, _ := r.FirstText(); text != "tex" || r.OutputRef() != "the-ref" || sessions[0] != "mine" {
		t.Errorf("%q, %q, %q", text, r.OutputRef(), sessions)
	}
	id := background(t, set, "yes | head -c 1000000")
	got := told(t, set, id, "")
	if want := "\n[exit code 0]\n[the whole output is kept: read it with tool_output_cache, ref_id \"the-ref\"]\n"; !strings.HasSuffix(got, want) {
		t.Error(got[len(got)-200:])
	}
	if got := recorders[1].Len(); got != 1_000_000 {
		t.Errorf("%d bytes", got)
	}
	for _, r := range recorders {
		<-r.closed
	}
}

// With package output as the recorder, all that a command wrote can be read.
func TestBashThroughCache(t *testing.T) {
	kept := store.Memory(nil)
	cache := output.New(kept, nil)
	running := goleak.IgnoreCurrent()
	shell := stdtool.NewShell(t.TempDir(), &stdtool.ShellOptions{Record: func(ctx context.Context) stdtool.Recorder { return cache.Record(ctx) }})
	set := tools(t, cache.Layer(shell))
	for _, background := range []bool{false, true} {
		args := arguments(t, map[string]any{"command": "yes | head -n 500000; echo the last line; exit 2", "background": background})
		ask := func(name, args string) *toolpost.Result {
			t.Helper()
			r, err := set.Call(t.Context(), &toolpost.Call{Name: name, Session: "s", Arguments: json.RawMessage(args)})
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		r := ask("bash", args)
		if background {
			text, _ := r.FirstText()
			id := regexp.MustCompile(`bash-\w+`).FindString(text)
			r = ask("bash_output", arguments(t, map[string]any{"id": id, "wait_ms": 60_000}))
		}
		text, _ := r.FirstText()
		ref := r.OutputRef()
		if ref == "" || !strings.Contains(text, ref) || !strings.Contains(text, "the last line\n[exit code 2]\n") || len(text) > 49_000 {
			t.Errorf("background %v: ref %q, %d bytes: …%s", background, ref, len(text), text[max(0, len(text)-60):])
			continue
		}
		found, _ := ask("tool_output_cache_grep", arguments(t, map[string]any{"ref_id": ref, "pattern": "the last line"})).FirstText()
		if !strings.Contains(found, "500001") {
			t.Errorf("background %v: %s", background, found)
		}
	}
	// What a command wrote is kept once, also if it is told while it runs.
	id := regexp.MustCompile(`bash-\w+`).FindString(asked(t, set, "s", "bash", `{"command":"yes | head -n 20000; echo end; sleep 1000","background":true}`))
	if got := asked(t, set, "s", "bash_output", `{"id":"`+id+`","wait_ms":60000,"until":"^end"}`); !strings.Contains(got, "\nend\n[still running") {
		t.Error(got)
	}
	if got := asked(t, set, "s", "bash_kill", `{"id":"`+id+`"}`); got != "[ended by signal: terminated]\n" {
		t.Error(got)
	}
	if err := shell.Close(); err != nil {
		t.Error(err)
	}
	blobs := 0
	for _, err := range kept.List(t.Context()) {
		if blobs++; err != nil {
			t.Fatal(err)
		}
	}
	if blobs != 3 {
		t.Errorf("%d outputs of 3 commands are kept", blobs)
	}
	if err := goleak.Find(running); err != nil {
		t.Error(err)
	}
}
