package stdtool

import (
	"fmt"
	"io"
	"os/exec"
	"slices"
	"syscall"
	"time"

	"github.com/toolpost/toolpost/internal/procgroup"
	"github.com/toolpost/toolpost/stdtool/internal/mark"
)

const linger = 250 * time.Millisecond // what a command started may end after it

// A process is a running command, in a group of its own, and all that it
// started, there or elsewhere. Its output and its errors come through one pipe,
// in order.
type process struct {
	cmd     *exec.Cmd
	mark    mark.Mark     // of all that it started
	grace   time.Duration // between asking a group to end and killing it
	out     *procgroup.Output
	drained chan struct{} // closed when all output was taken
	gone    chan struct{} // closed when nothing is left
	left    bool          // the command left others behind, which were ended; known when gone
}

// start starts cmd; what it writes goes to w.
func start(cmd *exec.Cmd, w io.Writer, grace time.Duration) (*process, error) {
	out, theirs, err := procgroup.Pipe()
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	cmd.Stdout, cmd.Stderr = theirs, theirs
	procgroup.Detach(cmd)
	p := &process{cmd: cmd, mark: mark.New(), grace: grace, out: out, drained: make(chan struct{}), gone: make(chan struct{})}
	cmd.Env = append(slices.Clip(cmd.Env), string(p.mark))
	if err := procgroup.Start(cmd, func(error) { p.finish() }); err != nil {
		out.End()
		return nil, err
	}
	go p.copyOutput(w)
	return p, nil
}

// finish ends what the command left behind, and takes the rest of the output.
func (p *process) finish() {
	if pid := p.cmd.Process.Pid; !procgroup.Ends(pid, linger) {
		p.left = true
		procgroup.End(pid, p.grace)
	}
	if !p.mark.Ends(linger) {
		p.left = p.left || p.mark.Found() // a process of somebody else may have looked like one of ours
		p.mark.End(p.grace)
	}
	p.out.End()
	<-p.drained
	close(p.gone)
}

// copyOutput passes the output on.
func (p *process) copyOutput(w io.Writer) {
	defer close(p.drained)
	b := make([]byte, 64<<10)
	for {
		n, err := p.out.Read(b)
		_, _ = w.Write(b[:n]) // the text of a recorder reports what it lacks
		if err != nil {
			return
		}
	}
}

// end ends the command and all that it started: SIGTERM, after a grace SIGKILL.
// It returns when nothing is left, unless the system cannot kill it.
func (p *process) end() { procgroup.Stop(p.cmd.Process.Pid, p.gone, 0, p.grace) }

func (p *process) isGone() bool {
	select {
	case <-p.gone:
		return true
	default:
		return false
	}
}

// status describes how the command ended; it is empty if all went well.
func (p *process) status() string {
	state := p.cmd.ProcessState
	if state == nil {
		return "it could not be waited for"
	}
	if s, ok := state.Sys().(syscall.WaitStatus); ok && s.Signaled() {
		return "ended by signal: " + s.Signal().String()
	}
	if code := state.ExitCode(); code != 0 {
		return fmt.Sprintf("exit code %d", code)
	}
	return ""
}
