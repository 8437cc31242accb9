package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/toolpost/toolpost/dev/fixture"
)

func TestMain(m *testing.M) {
	testscript.Main(ownStates{m}, map[string]func(){
		"toolpost": main,
		"fixture":  fixture.Serve,
		"asking":   askingServer,
		"claude":   fakeClaude,
		"private":  private,
		"solitary": serveSolitary,
	})
}

// ownStates runs the tests with a folder for states of their own: a person who runs them may be
// serving. Most of them wait for processes, so more of them run at a time than there are
// processors, unless the command line says how many.
type ownStates struct{ *testing.M }

func (m ownStates) Run() int {
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	dir, err := os.MkdirTemp("", "toolpost-states-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	os.Setenv("XDG_STATE_HOME", dir)
	return m.M.Run()
}

// TestScripts runs testdata/*.txtar. Beside testscript's own commands:
//
//	start NAME PROGRAM ARGS…   starts a program in the background
//	await NAME REGEXP [VAR]    waits for output of it; VAR becomes the first group
//	signal NAME INT|TERM|HUP     sends it a signal
//	ended NAME CODE            waits for its end and checks the exit code
//	nowhere NAME FILE          checks that no output of it has the text of FILE
//	get URL REGEXP [TOKEN]     waits until the answer of URL matches
//	variable NAME FILE         sets a variable to the text of FILE, or of stdout
//	awaitfile FILE             waits until FILE exists
//	eventually PROGRAM ARGS…   runs a program until it succeeds
//	terminal NAME PROGRAM …    is start with a terminal as input and output; on Linux only
//	type NAME TEXT             types a line there
//	press NAME KEYS            presses keys there
//	interrupt NAME             presses Ctrl-C there
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		RequireExplicitExec: true,
		UpdateScripts:       os.Getenv("TOOLPOST_UPDATE") != "",
		Setup: func(env *testscript.Env) error {
			home := filepath.Join(env.WorkDir, "home")
			env.Setenv("HOME", home)
			env.Setenv("XDG_CONFIG_HOME", filepath.Join(home, ".config"))
			env.Setenv("XDG_STATE_HOME", "")
			env.Setenv("TOOLPOST_TOKEN", "")
			env.Setenv("GORACE", "atexit_sleep_ms=0") // else every program with -race takes a second to end
			env.Values[programsKey{}] = map[string]*background{}
			return os.MkdirAll(home, 0o755)
		},
		Condition: func(name string) (bool, error) {
			if name != "hup" {
				return false, fmt.Errorf("unknown condition %q", name)
			}
			return !signal.Ignored(syscall.SIGHUP), nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"start":      start,
			"await":      await,
			"signal":     sendSignal,
			"ended":      ended,
			"nowhere":    nowhere,
			"get":        get,
			"variable":   setVariable,
			"awaitfile":  awaitFile,
			"eventually": eventually,
			"terminal":   startOnTerminal,
			"type":       typeLine,
			"press":      pressKeys,
			"interrupt":  pressInterrupt,
		},
	})
}

// TestScriptsLeaveDefaultAddress checks that no script listens on the default
// address, where the person who runs the tests may be serving: a script names
// an address, or fails at its flags.
func TestScriptsLeaveDefaultAddress(t *testing.T) {
	refused := regexp.MustCompile(`^! exec toolpost serve (here|--(nope|log-format|log-level|config|tools|root sub)\b)`)
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no scripts: %v", err)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			listens := strings.Contains(line, "toolpost serve") && !strings.HasPrefix(line, "#") &&
				!strings.Contains(line, "--addr") && !strings.Contains(line, "--stdio")
			if listens && !strings.HasPrefix(line, "stderr") && !strings.HasPrefix(line, "stdout") && !refused.MatchString(line) {
				t.Errorf("%s: %sadd --addr 127.0.0.1:0", path, line)
			}
		}
	}
}

// patience is how long a script waits for a condition.
const patience = time.Minute

type programsKey struct{}

// A background is a program that a script started.
type background struct {
	cmd    *exec.Cmd
	keys   *os.File // of its terminal; nil if it has none
	mu     sync.Mutex
	output bytes.Buffer
	more   chan struct{} // gets a token with every output
	done   chan struct{} // closed at the end
}

func (b *background) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	defer func() {
		select {
		case b.more <- struct{}{}:
		default:
		}
	}()
	return b.output.Write(p)
}

func (b *background) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.output.String()
}

func programs(ts *testscript.TestScript) map[string]*background {
	return ts.Value(programsKey{}).(map[string]*background)
}

func start(ts *testscript.TestScript, _ bool, args []string) {
	b := prepare(ts, args)
	b.cmd.Stdout, b.cmd.Stderr = b, b
	b.start(ts, args[0], func() {})
}

// prepare makes the program that a script wants to start.
func prepare(ts *testscript.TestScript, args []string) *background {
	path, err := exec.LookPath(args[1])
	if err != nil {
		path = filepath.Join(ts.Getenv("PATH"), args[1])
	}
	ts.Check(err)
	b := &background{more: make(chan struct{}, 1), done: make(chan struct{})}
	b.cmd = exec.Command(path, args[2:]...)
	b.cmd.Dir = ts.MkAbs(".")
	for _, name := range []string{"HOME", "XDG_CONFIG_HOME", "PATH", "TMPDIR", "MCP_URLS", "TOOLPOST_TOKEN", "TOOLPOST_VAULT", "REDMINE_HOST", "REDMINE_API_KEY", "GOCOVERDIR", "GORACE"} {
		b.cmd.Env = append(b.cmd.Env, name+"="+ts.Getenv(name))
	}
	return b
}

// start starts the program; read ends when all its output has been read.
func (b *background) start(ts *testscript.TestScript, name string, read func()) {
	ts.Check(b.cmd.Start())
	programs(ts)[name] = b
	go func() {
		_ = b.cmd.Wait()
		read()
		close(b.done)
	}()
	ts.Defer(func() {
		_ = b.cmd.Process.Kill()
		<-b.done
	})
}

func find(ts *testscript.TestScript, name string) *background {
	b := programs(ts)[name]
	if b == nil {
		ts.Fatalf("nothing called %s was started", name)
	}
	return b
}

func await(ts *testscript.TestScript, _ bool, args []string) {
	b, re := find(ts, args[0]), regexp.MustCompile("(?m)"+args[1])
	timeout := time.After(patience)
	for {
		m := re.FindStringSubmatch(b.String())
		if m != nil {
			if len(args) > 2 {
				ts.Setenv(args[2], m[1])
			}
			return
		}
		select {
		case <-b.more:
		case <-b.done:
			if !re.MatchString(b.String()) {
				ts.Fatalf("%s ended without %s:\n%s", args[0], args[1], b)
			}
		case <-timeout:
			ts.Fatalf("%s did not say %s:\n%s", args[0], args[1], b)
		}
	}
}

func sendSignal(ts *testscript.TestScript, _ bool, args []string) {
	s := map[string]os.Signal{"INT": os.Interrupt, "TERM": syscall.SIGTERM, "HUP": syscall.SIGHUP}[args[1]]
	ts.Check(find(ts, args[0]).cmd.Process.Signal(s))
}

func ended(ts *testscript.TestScript, _ bool, args []string) {
	b := find(ts, args[0])
	select {
	case <-b.done:
	case <-time.After(patience):
		_ = b.cmd.Process.Signal(syscall.SIGQUIT) // for the goroutines
		<-b.done
		ts.Fatalf("%s went on:\n%s", args[0], b)
	}
	ts.Logf("%s", b)
	if got := strconv.Itoa(b.cmd.ProcessState.ExitCode()); got != args[1] {
		ts.Fatalf("%s ended with %s, want %s:\n%s", args[0], got, args[1], b)
	}
}

func nowhere(ts *testscript.TestScript, _ bool, args []string) {
	text := strings.TrimSpace(ts.ReadFile(args[1]))
	if text == "" || strings.Contains(find(ts, args[0]).String(), text) {
		ts.Fatalf("%s wrote the text of %s", args[0], args[1])
	}
}

func setVariable(ts *testscript.TestScript, _ bool, args []string) {
	ts.Setenv(args[0], strings.TrimSpace(ts.ReadFile(args[1])))
}

func get(ts *testscript.TestScript, _ bool, args []string) {
	re, last := regexp.MustCompile(args[1]), ""
	poll(ts, "GET "+args[0], func() bool {
		last = fetch(append(args[2:], "")[0], args[0])
		return re.MatchString(last)
	})
	ts.Logf("%s", last)
}

func fetch(token, url string) string {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err.Error()
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err.Error()
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	return fmt.Sprintf("%d %s", resp.StatusCode, body)
}

func awaitFile(ts *testscript.TestScript, _ bool, args []string) {
	poll(ts, "file "+args[0], func() bool {
		_, err := os.Stat(ts.MkAbs(args[0]))
		return err == nil
	})
}

func eventually(ts *testscript.TestScript, _ bool, args []string) {
	poll(ts, strings.Join(args, " "), func() bool { return ts.Exec(args[0], args[1:]...) == nil })
}

// poll waits for a condition that cannot be listened to.
func poll(ts *testscript.TestScript, what string, done func() bool) {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(patience); !done(); <-tick.C {
		if time.Now().After(deadline) {
			ts.Fatalf("%s: not within %v", what, patience)
		}
	}
}
