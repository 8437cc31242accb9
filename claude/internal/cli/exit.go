package cli

import (
	"errors"
	"fmt"
	"io"
	"syscall"
	"time"
)

// An ExitError reports how the command ended, with the end of its error output.
type ExitError struct {
	Code   int    // -1 if a signal ended it
	Signal string // such as "killed"; empty if no signal ended it
	Stderr string // the end of its standard error output, without secrets of its environment
}

func (e *ExitError) Error() string {
	how := fmt.Sprintf("exit code %d", e.Code)
	if e.Signal != "" {
		how = "signal: " + e.Signal
	}
	if e.Stderr == "" {
		return fmt.Sprintf("the claude command ended (%s) and wrote no error; run it in a terminal to see why", how)
	}
	return fmt.Sprintf("the claude command ended (%s); its error output ends with:\n%s", how, e.Stderr)
}

// ending is what the lines end with.
func (p *Process) ending() error {
	select {
	case <-p.exited:
	case <-time.After(p.grace):
		return errors.New("the claude command has closed its output but is still running; close it")
	}
	if exit := p.exit(); exit.Code != 0 {
		return exit
	}
	return io.EOF
}

// exit tells how the command ended, nil if it runs.
func (p *Process) exit() *ExitError {
	select {
	case <-p.exited:
	default:
		return nil
	}
	select {
	case <-p.stderr.done:
	case <-time.After(lastWords): // what it started may have its error output open
	}
	state := p.cmd.ProcessState
	if state == nil { // it could not be waited for
		return &ExitError{Code: -1, Stderr: p.stderr.tail.String()}
	}
	e := &ExitError{Code: state.ExitCode(), Stderr: p.stderr.tail.String()}
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		e.Signal = status.Signal().String()
	}
	return e
}
