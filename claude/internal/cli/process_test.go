//go:build unix

package cli_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/toolpost/toolpost/claude/internal/cli"
	"go.uber.org/goleak"
)

func TestEcho(t *testing.T) {
	p := start(t, "echo", cli.Options{})
	for _, line := range []string{`{"a":1}`, `{"b":"日本語"}`, `{"c":"` + strings.Repeat("x", 300_000) + `"}`} {
		go func() {
			if err := p.WriteLine([]byte(line)); err != nil {
				t.Error(err)
			}
		}()
		if got, err := p.ReadLine(); err != nil || string(got) != line {
			t.Errorf("ReadLine() = %.80q, %v, want %.80q", got, err, line)
		}
	}
	for range 2 {
		if err := p.CloseInput(); err != nil {
			t.Error(err)
		}
	}
	for range 2 {
		if line, err := p.ReadLine(); err != io.EOF {
			t.Errorf("ReadLine() = %q, %v, want io.EOF", line, err)
		}
	}
}

// At every stage, Close leaves nothing; start looks for it.
func TestClose(t *testing.T) {
	const short = 100 * time.Millisecond
	tests := map[string]struct {
		mode   string
		grace  time.Duration // a minute if it must not pass
		use    func(t *testing.T, p *cli.Process)
		signal string // that ended the command
	}{
		"at once":                {mode: "echo"},
		"after a line":           {mode: "pid,echo", use: func(t *testing.T, p *cli.Process) { readPID(t, p) }},
		"after the end of input": {mode: "echo", use: func(t *testing.T, p *cli.Process) { p.CloseInput() }},
		"after its end":          {mode: "pid", use: readToEnd},
		"after its failure":      {mode: "crash=3", use: readToEnd},
		"before its start-up":    {mode: "hang", grace: time.Nanosecond, signal: "any"},
		"it ignores the end of input": {mode: "pid,hang", grace: short, signal: "terminated",
			use: func(t *testing.T, p *cli.Process) { readPID(t, p) }},
		"it ignores SIGTERM": {mode: "deaf,pid,hang", grace: short, signal: "killed",
			use: func(t *testing.T, p *cli.Process) { readPID(t, p) }},
		"it was killed": {mode: "pid,hang", signal: "killed",
			use: func(t *testing.T, p *cli.Process) { syscall.Kill(readPID(t, p), syscall.SIGKILL) }},
		"it writes and nobody reads":     {mode: "huge=1000000,eof", grace: short, signal: "any"},
		"within a long line":             {mode: "pid,huge=1000000,eof", grace: short, signal: "any", use: func(t *testing.T, p *cli.Process) { readPID(t, p) }},
		"a grandchild ends with it":      {mode: "child=hang,eof", use: func(t *testing.T, p *cli.Process) { readPID(t, p) }},
		"a grandchild ignores SIGTERM":   {mode: "deafchild,eof", grace: short, use: func(t *testing.T, p *cli.Process) { readPID(t, p) }},
		"a grandchild outlives it":       {mode: "deafchild,line", grace: short, use: func(t *testing.T, p *cli.Process) { readPID(t, p); p.WriteLine(nil) }},
		"both ignore everything":         {mode: "deaf,deafchild,hang", grace: short, signal: "killed", use: func(t *testing.T, p *cli.Process) { readPID(t, p) }},
		"it writes errors until it dies": {mode: "pid,noise", grace: short, signal: "any", use: func(t *testing.T, p *cli.Process) { readPID(t, p) }},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p, err := closed(t, tt.mode, tt.grace, tt.use)
			// On a busy machine, SIGKILL may come before a process has ended by SIGTERM.
			for grace := tt.grace; tt.signal == "terminated" && !strings.Contains(err.Error(), tt.signal) && grace < time.Minute; {
				grace *= 2
				p, err = closed(t, tt.mode, grace, tt.use)
			}
			var exit *cli.ExitError
			if errors.As(err, &exit); tt.signal != "any" && exit != nil && exit.Signal != tt.signal || tt.signal != "" && tt.signal != "any" && exit == nil {
				t.Errorf("the lines end with %v, want the signal %q", err, tt.signal)
			}
			if err := p.WriteLine([]byte("{}")); err == nil {
				t.Error("WriteLine after Close succeeds")
			}
		})
	}
}

// closed starts a command, uses and closes it, and returns how its lines ended.
func closed(t *testing.T, mode string, grace time.Duration, use func(t *testing.T, p *cli.Process)) (*cli.Process, error) {
	p := start(t, mode, cli.Options{Grace: grace})
	if use != nil {
		use(t, p)
	}
	var closing sync.WaitGroup
	for range 3 {
		closing.Go(func() {
			if err := p.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	err := readToError(p)
	closing.Wait()
	return p, err
}

func readToError(p *cli.Process) error {
	for {
		if _, err := p.ReadLine(); err != nil {
			return err
		}
	}
}

func readToEnd(t *testing.T, p *cli.Process) { readToError(p) }

// What the command started is ended with it, and its pipes are not waited for.
func TestGrandchild(t *testing.T) {
	for _, mode := range []string{"child=hang,line", "deafchild,line"} {
		p := start(t, mode, cli.Options{Grace: 20 * time.Millisecond})
		pid := readPID(t, p)
		p.WriteLine(nil)
		if err := readToError(p); err != io.EOF {
			t.Errorf("%s: the lines end with %v", mode, err)
		}
		p.Close()
		if alive(pid) {
			t.Errorf("%s: it runs on", mode)
		}
	}
}

// A process that left the group is out of reach; it must not keep us.
func TestStranger(t *testing.T) {
	p := start(t, "stranger,eof", cli.Options{})
	pid := readPID(t, p)
	defer syscall.Kill(pid, syscall.SIGKILL)
	p.CloseInput()
	if err := readToError(p); err != io.EOF {
		t.Errorf("the lines end with %v", err)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if !alive(pid) {
		t.Error("it has ended: nothing was tested")
	}
}

// The last lines are there although the command has ended, was closed, and
// others hold its output.
func TestLastLines(t *testing.T) {
	p := start(t, "stranger,eof,say=1,say=2,stderr=bye,crash=4", cli.Options{})
	defer syscall.Kill(readPID(t, p), syscall.SIGKILL)
	p.Close()
	for _, want := range []string{`{"said":"1"}`, `{"said":"2"}`} {
		if line, err := p.ReadLine(); err != nil || string(line) != want {
			t.Errorf("ReadLine() = %q, %v, want %q", line, err, want)
		}
	}
	var exit *cli.ExitError
	if _, err := p.ReadLine(); !errors.As(err, &exit) || *exit != (cli.ExitError{Code: 4, Stderr: "bye"}) {
		t.Errorf("ReadLine() = %v", err)
	}
}

func TestParentDeath(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux signals the death of a parent")
	}
	parent := exec.Command(os.Args[0])
	parent.Env = append(os.Environ(), "FAKE_CLI=start,hang")
	output, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	line := make([]byte, 100)
	n, _ := output.Read(line)
	pid := pidIn(t, bytes.TrimSpace(line[:n]))
	if !alive(pid) {
		t.Fatal("the command has not started")
	}
	parent.Process.Kill()
	parent.Wait()
	ended(t, pid)
}

func TestWriteLine(t *testing.T) {
	t.Run("a line break", func(t *testing.T) {
		p := start(t, "echo", cli.Options{})
		if err := p.WriteLine([]byte("{}\n{}")); err == nil {
			t.Error("it is written")
		}
	})
	t.Run("after the end of input", func(t *testing.T) {
		p := start(t, "echo", cli.Options{})
		p.CloseInput()
		if err := p.WriteLine([]byte("{}")); !errors.Is(err, os.ErrClosed) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("after its end", func(t *testing.T) {
		p := start(t, "stderr=no money,crash=7", cli.Options{})
		readToError(p)
		err := p.WriteLine([]byte("{}"))
		var exit *cli.ExitError
		if !errors.As(err, &exit) || exit.Code != 7 || exit.Stderr != "no money" {
			t.Errorf("got %v", err)
		}
	})
	t.Run("at once", func(t *testing.T) {
		p := start(t, "echo", cli.Options{})
		const writers = 20
		for i := range writers {
			go p.WriteLine([]byte(`{"x":"` + strings.Repeat(string(rune('a'+i)), 50_000) + `"}`))
		}
		for range writers {
			line, err := p.ReadLine()
			if err != nil || len(line) != 50_008 || strings.Count(string(line), string(line[6])) < 50_000 {
				t.Errorf("ReadLine() = %.20q…, %v", line, err)
			}
		}
	})
	t.Run("nobody reads", func(t *testing.T) {
		p := start(t, "stranger,hang", cli.Options{Grace: 20 * time.Millisecond})
		defer syscall.Kill(readPID(t, p), syscall.SIGKILL) // it has the input open even then
		done := make(chan error, 2)
		for range cap(done) {
			go func() { done <- p.WriteLine(bytes.Repeat([]byte(" "), 10<<20)) }()
		}
		writing()
		p.CloseInput() // returns, although a line is being written
		p.Close()
		for range cap(done) {
			if err := <-done; err == nil {
				t.Error("the line is written")
			}
		}
	})
	t.Run("the end of input comes after the line", func(t *testing.T) {
		p := start(t, "pid,echo", cli.Options{})
		readPID(t, p)
		line := []byte(`{"a":"` + strings.Repeat("x", 1<<20) + `"}`) // more than the pipes hold
		var wrote error
		done := make(chan struct{})
		go func() { wrote = p.WriteLine(line); close(done) }()
		writing()
		p.CloseInput()
		got, err := p.ReadLine()
		if <-done; wrote != nil || err != nil || !bytes.Equal(got, line) {
			t.Errorf("ReadLine() = %.20q… of %d bytes, %v; WriteLine() = %v", got, len(got), err, wrote)
		}
		if line, err := p.ReadLine(); err != io.EOF {
			t.Errorf("ReadLine() = %.20q…, %v, want io.EOF", line, err)
		}
	})
}

// writing waits until a line is being written.
func writing() {
	stacks := make([]byte, 1<<20)
	for !bytes.Contains(stacks[:runtime.Stack(stacks, true)], []byte("poll.(*FD).Write(")) {
		runtime.Gosched()
	}
}

func TestStart(t *testing.T) {
	before, running := descriptors(t), goleak.IgnoreCurrent()
	file := t.TempDir() + "/claude"
	if err := os.WriteFile(file, []byte("no program"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		opts *cli.Options
		want string
	}{
		{&cli.Options{Path: file}, "start the claude command"},
		{&cli.Options{Path: os.Args[0], Dir: file + "/missing"}, "create it or set another Dir"},
		{&cli.Options{Path: os.Args[0], Dir: file}, "is a file"},
		{&cli.Options{Path: file + "-missing"}, "was not found"},
	} {
		if _, err := cli.Start(t.Context(), test.opts); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: %v, want %q", test.opts, err, test.want)
		}
	}
	nothingLeft(t, before, running)
}

// CI runs TestManyStarts with the race detector, and more often.
func TestManyStarts(t *testing.T) {
	starts := 50
	if raced {
		starts = 250
	}
	before, running := descriptors(t), goleak.IgnoreCurrent()
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range starts {
				p, err := cli.Start(t.Context(), &cli.Options{Path: os.Args[0], Env: []string{"FAKE_CLI=say=1"}})
				if err != nil {
					t.Error(err)
					return
				}
				if _, err := p.ReadLine(); err != nil {
					t.Error(err)
				}
				if err := p.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	nothingLeft(t, before, running)
}
