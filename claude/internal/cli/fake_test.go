//go:build unix

package cli_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/toolpost/toolpost/claude/internal/cli"
	"go.uber.org/goleak"
)

// This test binary is also the command that is run: FAKE_CLI says how it
// behaves.
func TestMain(m *testing.M) {
	os.Setenv("GORACE", "atexit_sleep_ms=0") // of the commands: they end as soon without the race detector
	if mode := os.Getenv("FAKE_CLI"); mode != "" {
		fake(mode)
		os.Exit(0)
	}
	if r, w, err := os.Pipe(); err == nil { // the first one opens descriptors of the runtime, which tests would count
		r.Close()
		w.Close()
	}
	os.Exit(m.Run())
}

func fake(modes string) {
	for _, mode := range strings.Split(modes, ",") {
		name, value, _ := strings.Cut(mode, "=")
		number, _ := strconv.Atoi(value)
		switch name {
		case "echo":
			io.Copy(os.Stdout, os.Stdin)
		case "say":
			fmt.Printf("{\"said\":%q}\n", value)
		case "pid":
			fmt.Printf("{\"pid\":%d}\n", os.Getpid())
		case "env":
			fmt.Printf("{\"env\":%q}\n", os.Environ())
		case "dir":
			wd, _ := os.Getwd()
			fmt.Printf("{\"dir\":%q,\"pwd\":%q}\n", wd, os.Getenv("PWD"))
		case "stderr":
			fmt.Fprintln(os.Stderr, value)
		case "garbage":
			fmt.Printf("hello\n\n[1,2]\r\n\ufeff{\"a\":1}\r\n  {\"b\":2} \nnull\n{\"c\":3}")
		case "huge":
			w := bufio.NewWriterSize(os.Stdout, 1<<16)
			w.WriteString(`{"huge":"`)
			for chunk := bytes.Repeat([]byte("x"), 1<<16); number > 0; number -= len(chunk) {
				w.Write(chunk[:min(number, len(chunk))])
			}
			w.WriteString("\"}\n")
			w.Flush()
		case "noise":
			for {
				fmt.Fprintln(os.Stderr, strings.Repeat("noise", 1000))
			}
		case "deaf": // does not end at SIGTERM
			signal.Ignore(syscall.SIGTERM)
		case "child": // a process that holds all pipes, and behaves as told
			spawn("pid,"+value, nil)
		case "deafchild":
			spawn("deaf,pid,hang", nil)
		case "stranger": // one that has left the group
			spawn("pid,hang", &syscall.SysProcAttr{Setsid: true})
		case "start": // a command of its own, through the package
			p := must(cli.Start(context.Background(), &cli.Options{Path: os.Args[0], Env: []string{"FAKE_CLI=pid,hang"}}))
			fmt.Printf("%s\n", must(p.ReadLine()))
		case "closing":
			closing()
		case "adopt-and-close":
			adoptAndClose()
		case "adopt-and-neglect":
			adoptAndNeglect()
		case "line":
			os.Stdin.Read(make([]byte, 1))
		case "eof":
			io.Copy(io.Discard, os.Stdin)
		case "hang":
			for {
				time.Sleep(time.Hour)
			}
		case "crash":
			os.Exit(number)
		}
	}
}

func spawn(mode string, attr *syscall.SysProcAttr) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "FAKE_CLI="+mode)
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = os.Stdin, os.Stdout, os.Stderr, attr
	must(0, cmd.Start())
}

func must[T any](v T, err error) T {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(99)
	}
	return v
}

// start runs the fake command. When the test ends, it is closed, and nothing of
// it may be left.
func start(t *testing.T, mode string, opts cli.Options) *cli.Process {
	t.Helper()
	opts.Path = os.Args[0]
	opts.Env = append([]string{"FAKE_CLI=" + mode}, opts.Env...)
	if opts.Grace == 0 {
		opts.Grace = time.Minute // what should not need it does not get it
	}
	before := descriptors(t)
	running := goleak.IgnoreCurrent()
	p, err := cli.Start(t.Context(), &opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
		nothingLeft(t, before, running)
	})
	return p
}

func nothingLeft(t *testing.T, before int, running goleak.Option) {
	t.Helper()
	if pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil); err != syscall.ECHILD {
		t.Errorf("a child is left: %d, %v", pid, err)
	}
	if after := descriptors(t); after != before {
		t.Errorf("%d descriptors before, %d after", before, after)
	}
	if err := goleak.Find(running); err != nil {
		t.Error(err)
	}
}

func descriptors(t *testing.T) int {
	t.Helper()
	all, err := os.ReadDir("/dev/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(all)
}

// readPID reads the line of the mode "pid".
func readPID(t *testing.T, p *cli.Process) int {
	t.Helper()
	line, err := p.ReadLine()
	if err != nil {
		t.Fatal(err)
	}
	return pidIn(t, line)
}

func pidIn(t *testing.T, line []byte) int {
	t.Helper()
	var said struct{ PID int }
	if err := json.Unmarshal(line, &said); err != nil || said.PID == 0 {
		t.Fatalf("%q tells no process: %v", line, err)
	}
	return said.PID
}

// ended waits until a process that is not our child has ended.
func ended(t *testing.T, pid int) {
	t.Helper()
	for end := time.Now().Add(time.Minute); alive(pid); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("process %d runs on", pid)
		}
	}
}

func alive(pid int) bool {
	if stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err == nil && bytes.Contains(stat, []byte(") Z ")) {
		return false // its parent has not looked yet
	}
	return syscall.Kill(pid, 0) == nil
}
