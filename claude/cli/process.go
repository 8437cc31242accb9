package cli

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/toolpost/toolpost/internal/group"
)

// A Process is one running command. Only one goroutine at a time may read its
// lines; all other methods may be called concurrently.
type Process struct {
	cmd    *exec.Cmd
	grace  time.Duration
	log    *slog.Logger
	input  input
	output *output
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
	if opts == nil {
		opts = &Options{}
	}
	cmd, err := command(ctx, opts)
	if err != nil {
		return nil, err
	}
	p := &Process{
		cmd: cmd, grace: opts.grace(), log: opts.logger(),
		exited: make(chan struct{}), gone: make(chan struct{}),
	}
	if err := p.start(); err != nil {
		return nil, fmt.Errorf("start the claude command: %w", err)
	}
	hide := secrets(cmd.Env)
	p.lines = newLineReader(p.output, opts.maxLine(), p.log, hide)
	go p.stderr.read(opts.Stderr, hide)
	return p, nil
}

// command is what is to be run, without its pipes.
func command(ctx context.Context, opts *Options) (*exec.Cmd, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("start the claude command: %w", err)
	}
	path, err := Find(opts.Path)
	if err != nil {
		return nil, err
	}
	if opts.Dir != "" {
		if _, err := os.Stat(opts.Dir); err != nil {
			return nil, fmt.Errorf("start the claude command in its working directory: %w", err)
		}
	}
	cmd := exec.Command(path, opts.Args...)
	cmd.Dir = opts.Dir
	cmd.Env = environment(os.Environ(), opts.Env, opts.Dir)
	group.Lead(cmd)
	return cmd, nil
}

// start makes the pipes and the process.
func (p *Process) start() (err error) {
	var theirs, ours [3]*os.File
	defer func() {
		for _, f := range theirs {
			f.Close() // nil is no file, which is an error only
		}
		if err != nil {
			for _, f := range ours {
				f.Close()
			}
		}
	}()
	if theirs[0], ours[0], err = os.Pipe(); err != nil {
		return err
	}
	for i := 1; i < 3; i++ {
		if ours[i], theirs[i], err = os.Pipe(); err != nil {
			return err
		}
	}
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = theirs[0], theirs[1], theirs[2]
	p.input.file = ours[0]
	p.output = &output{file: ours[1]}
	p.stderr = &stderr{output: output{file: ours[2]}, done: make(chan struct{})}
	return group.Start(p.cmd, func(error) { p.ended() })
}

// ended ends what the command left behind, and takes its last words.
func (p *Process) ended() {
	close(p.exited)
	p.output.end() // what it started may hold the pipes open: that is not waited for
	if pid := p.cmd.Process.Pid; !group.End(pid, p.grace) {
		p.log.Warn("processes that the claude command started do not end", "group", pid)
	}
	p.input.abandon()
	p.stderr.output.end()
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
	for _, signal := range []func(pid int) bool{group.Terminate, group.Kill} {
		if p.isGone(p.grace) {
			return nil
		}
		signal(p.cmd.Process.Pid)
	}
	if !p.isGone(2*p.grace + 2*group.Reaping) { // ended may have begun its own steps only now
		return fmt.Errorf("end the claude command: process %d did not end after it was killed", p.cmd.Process.Pid)
	}
	return nil
}

func (p *Process) isGone(patience time.Duration) bool {
	select {
	case <-p.gone:
		return true
	case <-time.After(patience):
		return false
	}
}
