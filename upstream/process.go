package upstream

import (
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/toolpost/toolpost/internal/environ"
	"github.com/toolpost/toolpost/internal/procgroup"
)

// A process is a server that is started here, with all that it starts.
type process struct {
	cmd     *exec.Cmd
	stdin   inputPipe
	stdout  outputPipe
	stderr  procgroup.Tail
	grace   time.Duration
	exited  chan struct{} // closed when the child is gone; state is then set
	gone    chan struct{} // closed when its whole group is gone
	state   string
	closing sync.Once
}

// An inputPipe is a *os.File, except in tests.
type inputPipe interface {
	io.WriteCloser
	SetWriteDeadline(time.Time) error
}

// An outputPipe is a *procgroup.Output, except in tests.
type outputPipe interface {
	io.Reader
	End()
}

func startProcess(cfg *Config, grace time.Duration) (*process, error) {
	if ownDepth() >= maxDepth {
		return nil, fmt.Errorf("toolpost was started by toolpost %d times, which is the limit: %w, or start the inner toolpost with serve --addr and configure its address", maxDepth, errSelf)
	}
	if cfg.Dir != "" {
		if _, err := os.Stat(cfg.Dir); err != nil {
			return nil, fmt.Errorf("its folder %s: %v; correct its cwd", cfg.Dir, err)
		}
	}
	env := environment(cfg.Env)
	path, err := lookPath(cfg, env)
	if err != nil {
		return nil, err
	}
	p := &process{stderr: procgroup.Tail{Most: 2 << 10}, grace: grace, exited: make(chan struct{}), gone: make(chan struct{})}
	p.cmd = exec.Command(path, cfg.Args...)
	p.cmd.Env, p.cmd.Dir, p.cmd.Stderr = env, cfg.Dir, &p.stderr
	p.cmd.WaitDelay = 250 * time.Millisecond // a grandchild may hold stderr open
	procgroup.Lead(p.cmd)
	out, stdout, err := procgroup.Pipe()
	if err != nil {
		return nil, err
	}
	defer stdout.Close()
	out.Enlarge()
	p.stdout, p.cmd.Stdout = out, stdout
	if stdin, err := p.cmd.StdinPipe(); err == nil {
		p.stdin = stdin.(inputPipe)
	}
	if err := procgroup.Start(p.cmd, p.finish); err != nil {
		p.stdout.End()
		return nil, err
	}
	return p, nil
}

// finish ends what the child left behind. Err is why it could not be waited for.
func (p *process) finish(err error) {
	p.state = "exited"
	if p.cmd.ProcessState != nil {
		p.state = p.cmd.ProcessState.String()
	} else if err != nil {
		p.state = err.Error()
	}
	close(p.exited)
	procgroup.End(p.cmd.Process.Pid, p.grace)
	p.stdout.End()
	close(p.gone)
}

// close asks the child to end by closing its input, then by a signal, then
// kills it. It returns when its group is gone.
func (p *process) close() {
	p.closing.Do(func() {
		closed := make(chan struct{})
		go func() { // where writing has no deadlines, a message that is not read may delay it
			defer close(closed)
			p.stdin.Close()
		}()
		procgroup.Stop(p.cmd.Process.Pid, p.gone, p.grace, p.grace)
		p.stdout.End()
		select {
		case <-closed:
		case <-time.After(procgroup.Reaping):
		}
	})
}

// An exitError describes how a server ended, with the end of its stderr.
type exitError struct {
	command, state, stderr string
}

func (e *exitError) Error() string {
	s := fmt.Sprintf("%s ended (%s)", e.command, e.state)
	if e.stderr != "" {
		s += "; its stderr ends with:\n" + e.stderr
	} else {
		s += " and wrote nothing to stderr"
	}
	return s
}

// end returns why nothing more can be read.
func (p *process) end() *exitError {
	state := "closed its output"
	select {
	case <-p.exited:
		state = p.state
	case <-time.After(p.grace):
	}
	return &exitError{filepath.Base(p.cmd.Path), state, p.stderr.String()}
}

// lookPath finds the command as the server's own environment would.
func lookPath(cfg *Config, env []string) (string, error) {
	name := cfg.Command
	if filepath.Base(name) != name {
		if !filepath.IsAbs(name) && cfg.Dir != "" {
			name = filepath.Join(cfg.Dir, name)
		}
		path, err := exec.LookPath(name)
		if missing, ok := errors.AsType[*exec.Error](err); ok {
			missing.Name = cfg.Command // as it is written, for the advice
		}
		return path, err
	}
	for _, kv := range env {
		if path, ok := strings.CutPrefix(kv, "PATH="); ok {
			for _, dir := range filepath.SplitList(path) {
				if found, err := exec.LookPath(filepath.Join(dir, name)); err == nil && filepath.IsAbs(found) {
					return found, nil
				}
			}
			return "", &exec.Error{Name: name, Err: exec.ErrNotFound}
		}
	}
	found, err := exec.LookPath(name)
	if errors.Is(err, exec.ErrDot) {
		err = &exec.Error{Name: name, Err: exec.ErrNotFound}
	}
	return found, err
}

// inherited are the variables of our environment that a server gets: those with which
// package runners find their packages, also behind a proxy that has its own certificate.
const inherited = environ.Common + `TERM DISPLAY WAYLAND_DISPLAY XDG_*
NPM_CONFIG_CACHE NPM_CONFIG_PREFIX NPM_CONFIG_REGISTRY NPM_CONFIG_USERCONFIG NPM_CONFIG_CAFILE
UV_TOOL_DIR UV_PYTHON_INSTALL_DIR UV_INDEX_URL UV_DEFAULT_INDEX UV_EXTRA_INDEX_URL UV_INDEX UV_NATIVE_TLS UV_SYSTEM_CERTS
PIP_INDEX_URL PIP_EXTRA_INDEX_URL PIP_CERT PIPX_HOME CURL_CA_BUNDLE NODE_USE_SYSTEM_CA
DOCKER_HOST DOCKER_CONTEXT DOCKER_CONFIG`

// environment returns the environment of a server: the safe part of ours, and added.
func environment(added map[string]string) []string {
	names := strings.Fields(inherited)
	env := environ.Select(func(name, value string) bool {
		_, ok := added[name]
		return !ok && environ.Matches(names, strings.ToUpper(name)) && !hasPassword(strings.ToUpper(name), value)
	})
	for name, value := range added {
		env = append(env, name+"="+value)
	}
	return append(env, depthVariable+"="+strconv.Itoa(ownDepth()+1))
}

// hasPassword reports whether the address of a package index has a user: that is for who
// configured it, and not for every server. Proxies are needed by all.
func hasPassword(name, value string) bool {
	if !strings.Contains(name, "INDEX") && !strings.Contains(name, "REGISTRY") {
		return false
	}
	return slices.ContainsFunc(strings.Fields(value), func(address string) bool { // an extra index may have several
		u, err := url.Parse(address)
		return err != nil || u.User != nil
	})
}

// depthVariable holds how many Toolposts started each other to start this
// process. A Toolpost at maxDepth starts no server: a configuration with its
// own command would otherwise start processes without end. Two levels are
// enough for a client that starts a Toolpost which starts another one; each
// level multiplies the processes by the number of such entries.
const (
	depthVariable = "TOOLPOST_DEPTH"
	maxDepth      = 2
)

func ownDepth() int {
	n, _ := strconv.Atoi(os.Getenv(depthVariable)) // 0 for other text
	return max(0, n)
}
