package cli

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/toolpost/toolpost/internal/procgroup"
)

// A Process is one running command. Only one goroutine at a time may read its
// lines; all other methods may be called concurrently.
type Process struct {
	cmd    *exec.Cmd
	grace  time.Duration
	log    *slog.Logger
	input  input
	output *procgroup.Output
	lines  *lineReader
	stderr *stderr

	exited  chan struct{} // closed when the command itself has ended
	gone    chan struct{} // closed when all that it started has ended too
	closing sync.Once
	stuck   error // what Close returns
}

// Start starts the command in its own process group. The command ends when
// Close is called, when its input ends, or, on Linux, when this process ends.
// The context only limits the start.
func Start(ctx context.Context, opts *Options) (*Process, error) {
	o := opts.withDefaults()
	cmd, err := command(ctx, &o)
	if err != nil {
		return nil, err
	}
	p := &Process{
		cmd: cmd, grace: o.Grace, log: o.Logger,
		exited: make(chan struct{}), gone: make(chan struct{}),
	}
	if err := p.start(); err != nil {
		return nil, fmt.Errorf("start the claude command: %w", err)
	}
	hide := secrets(cmd.Env)
	p.lines = newLineReader(p.output, o.MaxLine, p.log, hide)
	go p.stderr.read(o.Stderr, hide)
	return p, nil
}

// command is what is to be run, without its pipes.
func command(ctx context.Context, opts *Options) (*exec.Cmd, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, fmt.Errorf("start the claude command: %w", err)
	}
	path, err := Find(opts.Path)
	if err != nil {
		return nil, err
	}
	if opts.Dir != "" {
		switch info, err := os.Stat(opts.Dir); {
		case err != nil:
			return nil, fmt.Errorf("the working directory cannot be used; create it or set another Dir: %w", err)
		case !info.IsDir():
			return nil, fmt.Errorf("the working directory %q is a file; set Dir to a directory", opts.Dir)
		}
	}
	cmd := exec.Command(path, opts.Args...)
	cmd.Dir = opts.Dir
	cmd.Env = environment(os.Environ(), opts.Env, opts.Dir)
	procgroup.Lead(cmd)
	return cmd, nil
}

// start makes the pipes and the process.
func (p *Process) start() error {
	stdout, theirStdout, err := procgroup.Pipe()
	if err != nil {
		return err
	}
	defer theirStdout.Close()
	stderr, theirStderr, err := procgroup.Pipe()
	if err != nil {
		stdout.End()
		return err
	}
	defer theirStderr.Close()
	p.cmd.Stdout, p.cmd.Stderr = theirStdout, theirStderr
	stdin, err := p.cmd.StdinPipe()
	if err == nil {
		p.input.file = stdin
		p.output, p.stderr = stdout, newStderr(stderr)
		err = procgroup.Start(p.cmd, func(error) { p.finish() })
	}
	if err != nil {
		stdout.End()
		stderr.End()
	}
	return err
}

// finish ends what the command left behind, and takes its last words.
func (p *Process) finish() {
	close(p.exited)
	p.output.End() // what it started may hold the pipes open: that is not waited for
	if pid := p.cmd.Process.Pid; !procgroup.End(pid, p.grace) {
		p.log.Warn("processes that the claude command started do not end", "group", pid)
	}
	p.input.abandon()
	p.stderr.output.End()
	select {
	case <-p.stderr.done:
	case <-time.After(p.grace):
		p.log.Warn("the function for the error output of the claude command does not return")
	}
	close(p.gone)
}

// Close ends the command and all processes that it started. It closes the
// input, sends SIGTERM to the process group after the grace period, and SIGKILL
// after another one. It returns when no process is left, and may be called more
// than once.
func (p *Process) Close() error {
	p.closing.Do(func() { p.stuck = p.end() })
	return p.stuck
}

func (p *Process) end() error {
	_ = p.CloseInput() // the next steps do not need it
	if !procgroup.Stop(p.cmd.Process.Pid, p.gone, p.grace, p.grace) {
		return fmt.Errorf("end the claude command: process %d did not end after it was killed", p.cmd.Process.Pid)
	}
	return nil
}
