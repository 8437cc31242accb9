//go:build linux

package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// sessionTimeout is how long the gateway keeps the sessions of clients that have
// vanished, and the processes of those that do not call.
const sessionTimeout = 30 * time.Second

// parkTime is how long the gateway keeps a call, and with it the process of its client,
// whose client without a session has vanished while the call asked it.
const parkTime = 10 * time.Minute

// A process is the running "toolpost serve".
type process struct {
	cmd          *exec.Cmd
	url, metrics string
	pid          int
	done         chan struct{}
	err          error
}

// addresses are those of the servers over HTTP.
type addresses struct{ web, steady, hostile string }

// configuration returns that of the gateway, whose processes are this command.
func configuration(self string, at *addresses) []byte {
	all := fmt.Appendf(nil, `{"output": false, "mcpServers": {
	"shared": {"command": %[1]q, "args": ["upstream"], "share": "always"},
	"auto": {"command": %[1]q, "args": ["upstream"], "idle": %[4]q},
	"own": {"command": %[1]q, "args": ["upstream"], "share": "per-session", "idle": %[4]q},
	"web": {"url": %[2]q},
	"steady": {"url": %[3]q, "protocolVersion": %[5]q}`, self, at.web, at.steady, sessionTimeout.String(), statelessEra)
	for _, name := range hostileNames() {
		server := fmt.Sprintf(`"command": %q, "args": ["hostile", %q]`, self, name)
		switch transport := newHostile(name).transport; {
		case transport == overStateless:
			server = fmt.Sprintf(`"url": "%s/%s", "protocolVersion": %q`, at.hostile, name, statelessEra)
		case transport == overSSE:
			server = fmt.Sprintf(`"url": "%s/%s", "type": "sse"`, at.hostile, name)
		case transport == overSessions:
			server = fmt.Sprintf(`"url": "%s/%s"`, at.hostile, name)
		}
		all = fmt.Appendf(all, ",\n\t%q: {%s, \"connectTimeout\": \"5s\", \"timeout\": \"10s\", \"idle\": %q}", name, server, sessionTimeout.String())
	}
	return append(all, "\n}}"...)
}

func startGateway(toolpost, dir string, at *addresses) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, "toolpost.json")
	if err := os.WriteFile(file, configuration(self, at), 0o600); err != nil {
		return nil, err
	}
	g := &process{done: make(chan struct{})}
	g.cmd = exec.Command(toolpost, "serve", "--addr", "127.0.0.1:0", "--metrics-addr", "127.0.0.1:0", "--config", file, "--fresh",
		"--max-client-sessions", "2000", "--session-timeout", sessionTimeout.String())
	g.cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_CACHE_HOME="+dir, "XDG_CONFIG_HOME="+dir)
	g.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := g.cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := g.cmd.Start(); err != nil {
		return nil, err
	}
	g.pid = g.cmd.Process.Pid
	return g, g.readAddresses(bufio.NewReader(out))
}

// readAddresses reads the log up to the addresses, and then discards it.
func (g *process) readAddresses(log *bufio.Reader) error {
	address := regexp.MustCompile(`msg="?(serving|serving metrics)"? url=(http://\S+)`)
	for g.url == "" || g.metrics == "" {
		line, err := log.ReadString('\n')
		if err != nil {
			return fmt.Errorf("toolpost reported no address: %w", err)
		}
		switch m := address.FindStringSubmatch(line); {
		case m == nil:
		case m[1] == "serving":
			g.url = m[2]
		default:
			g.metrics = m[2]
		}
	}
	go func() {
		defer close(g.done)
		_, _ = io.Copy(io.Discard, log)
		g.err = g.cmd.Wait()
	}()
	return nil
}

// exited reports a gateway that has ended by itself.
func (g *process) exited() []error {
	select {
	case <-g.done:
		return []error{fmt.Errorf("toolpost has ended: %w", g.err)}
	default:
		return nil
	}
}

func (g *process) stop() {
	_ = g.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-g.done:
	case <-time.After(10 * time.Second):
		_ = syscall.Kill(-g.pid, syscall.SIGKILL)
		<-g.done
	}
}

// disturb kills a process of the gateway every second, and every tenth second
// restarts the server over HTTP instead.
func disturb(ctx context.Context, pid int, w *webServer, t *tally) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for n := 1; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if n%10 == 0 {
			w.restart()
			t.add("server over HTTP restarted")
		} else {
			killOne(pid, t)
		}
	}
}

// killOne kills one of the processes of friendly servers that a process has started.
func killOne(pid int, t *tally) {
	children := slices.DeleteFunc(childrenOf(pid), func(child int) bool {
		arguments, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", child)) // empty if it has ended
		return !bytes.HasSuffix(arguments, []byte("\x00upstream\x00"))
	})
	if len(children) > 0 {
		_ = syscall.Kill(children[rand.IntN(len(children))], syscall.SIGKILL) // it may have ended
		t.add("server process killed")
	}
}

// childrenOf returns the processes that a process has started.
func childrenOf(pid int) (children []int) {
	tasks, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid)) // none if it has ended
	for _, task := range tasks {
		list, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/children", pid, task.Name()))
		for _, field := range strings.Fields(string(list)) {
			if child, err := strconv.Atoi(field); err == nil {
				children = append(children, child)
			}
		}
	}
	return children
}
