//go:build unix

package live

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

const patience = 60 * time.Second // for one step, on a busy machine

// command prepares a process in its own group and with a home of its own, so
// that it sees nothing of the user's and all of it can be ended.
func command(ctx context.Context, t *testing.T, env []string, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = t.TempDir()
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + cmd.Dir, "TMPDIR=" + os.TempDir()}, env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// run runs a command to its end and returns both outputs.
func run(t *testing.T, env []string, name string, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	return runWithin(t, 3*patience, env, name, args...)
}

func runWithin(t *testing.T, limit time.Duration, env []string, name string, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	var out, errs bytes.Buffer
	cmd := command(ctx, t, env, name, args...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	err = cmd.Run()
	if ctx.Err() != nil {
		err = fmt.Errorf("%w after %v", err, limit)
	}
	return out.String(), errs.String(), err
}

// A process runs until stop, at the latest until the end of the test.
type process struct {
	*exec.Cmd
	t      testing.TB
	output output
	done   chan struct{}
}

func start(t *testing.T, env []string, name string, args ...string) *process {
	t.Helper()
	p := &process{t: t, done: make(chan struct{})}
	p.Cmd = command(context.Background(), t, env, name, args...)
	p.Stdout, p.Stderr = &p.output, &p.output
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.done)
		p.Wait() //nolint:errcheck // a killed process has an error
	}()
	t.Cleanup(func() {
		p.stop(syscall.SIGKILL)
		if t.Failed() {
			t.Logf("output of %s:\n%s", name, p.output.tail(40))
		}
	})
	return p
}

// stop signals the whole group, and waits. The test fails if the signal does not
// end the process.
func (p *process) stop(sig syscall.Signal) {
	p.t.Helper()
	syscall.Kill(-p.Process.Pid, sig) //nolint:errcheck // it may have ended
	p.wait()
}

// wait waits for the end of the process.
func (p *process) wait() {
	p.t.Helper()
	select {
	case <-p.done:
		return
	case <-time.After(patience):
	}
	p.t.Errorf("%s runs for %v longer than it should:\n%s", p.Args, patience, p.output.tail(40))
	syscall.Kill(-p.Process.Pid, syscall.SIGKILL) //nolint:errcheck // it may have ended
	<-p.done
}

// An output is what a process wrote so far.
type output struct {
	sync.Mutex
	b bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.Lock()
	defer o.Unlock()
	return o.b.Write(p)
}

func (o *output) String() string {
	o.Lock()
	defer o.Unlock()
	return o.b.String()
}

func (o *output) tail(n int) string { return tail(o.String(), n) }

func tail(s string, n int) string {
	lines := strings.SplitAfter(s, "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "")
}

// until waits for a condition, and fails the test with its last error.
func until(t *testing.T, what string, condition func() error) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for {
		err := condition()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within %v: %v", what, patience, err)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// receive waits for a value. Nothing in these tests waits without a limit: one
// missed signal would take down all of them.
func receive[T any](t testing.TB, what string, from <-chan T) (value T) {
	t.Helper()
	select {
	case value = <-from:
	case <-time.After(patience):
		t.Fatalf("%s: not within %v", what, patience)
	}
	return value
}

// listen serves on loopback until the end of the test, which fails if a handler
// goes on when its connection is closed.
func listen(t testing.TB, handler http.Handler) *httptest.Server {
	s := httptest.NewServer(handler)
	t.Cleanup(func() {
		s.Listener.Close() // or a client comes back
		s.CloseClientConnections()
		closed := make(chan struct{})
		go func() {
			defer close(closed)
			s.Close()
		}()
		select {
		case <-closed:
		case <-time.After(patience):
			t.Errorf("a handler of %s has not ended", s.URL)
		}
	})
	return s
}

// freePort returns a port that nobody listened on a moment ago.
func freePort(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// listening waits until p accepts connections on a port of loopback.
func (p *process) listening(t *testing.T, port string) {
	t.Helper()
	until(t, "listen on "+port, func() error {
		select {
		case <-p.done:
			t.Fatalf("%s has ended:\n%s", p.Path, p.output.tail(40))
		default:
		}
		c, err := net.Dial("tcp", "127.0.0.1:"+port)
		if err == nil {
			c.Close()
		}
		return err
	})
}

// alive says whether a process runs; a zombie does not.
func alive(pid int) bool {
	out, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
	state := strings.TrimSpace(string(out))
	return err == nil && state != "" && state[0] != 'Z'
}
