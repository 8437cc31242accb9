//go:build unix

package live

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// An inspectorSession is a connection of mcpdo, the Inspector for scripts. A
// daemon holds the connection, and each command is a process of its own.
type inspectorSession struct {
	node, mcpdo string
	env, dial   []string // dial is the command that connects
	commands    string   // the help text
	waiting     map[string]chan struct{}
}

// inspectorClient drives mcpdo.
func inspectorClient(t *testing.T, c client) func(*testing.T, assignment) []verdict {
	s := &inspectorSession{node: node(t), mcpdo: peer(t, c.peer, c.version, "node_modules/.bin/mcpdo")}
	return func(t *testing.T, a assignment) (verdicts []verdict) {
		s.waiting = a.waiting
		version, err := s.connect(t, a)
		if err != nil {
			return []verdict{{Step: "connect", Error: err.Error()}}
		}
		verdicts = append(verdicts, verdict{Step: "connect", Got: version})
		steps := slices.DeleteFunc(slices.Clone(matrixSteps), func(step string) bool { return step == "cancel" })
		for _, step := range append(steps, "cancel") { // it ends the connection
			for _, server := range a.Servers {
				v := verdict{Server: server, Step: step}
				if v.Got, err = s.step(t, server, step); err != nil {
					v.Error = err.Error()
				}
				verdicts = append(verdicts, v)
			}
		}
		return verdicts
	}
}

func (s *inspectorSession) connect(t *testing.T, a assignment) (version string, err error) {
	home, err := os.MkdirTemp("", "mcpdo-") // short, for the path of a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(home) })
	s.env = []string{"HOME=" + home, "MCP_INSPECTOR_DAEMON_DIR=" + home, "MCP_INSPECTOR_SECRET_STORE=file"}
	server, era := map[string]any{"url": a.Target[0], "type": map[string]string{"http": "streamable-http"}[a.Transport]}, "legacy"
	switch a.Transport {
	case "sse":
		server["type"] = "sse"
	case "stdio":
		server = map[string]any{"command": a.Target[0], "args": a.Target[1:]}
	}
	if a.Version == "2026-07-28" {
		era = "modern"
	}
	config, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"live": server}})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(home, "live.json")
	write(t, file, string(config))
	t.Cleanup(func() {
		start(t, s.env, s.node, s.mcpdo, "daemon", "stop").wait()
	})
	s.dial = []string{"connect", "live", "--config", file, "--era", era}
	if _, err := s.run(t, s.dial...); err != nil {
		return "", err
	}
	if _, err := s.run(t, "roots/set", "--roots-json", `[{"uri":"file:///live","name":"live"}]`); err != nil {
		return "", err
	}
	if s.commands, _, err = run(t, s.env, s.node, s.mcpdo, "--help"); err != nil {
		return "", err
	}
	shown, err := s.run(t, "connections/show")
	version = regexp.MustCompile(`20\d\d-\d\d-\d\d`).FindString(shown)
	return version, err
}

func (s *inspectorSession) command(args ...string) []string {
	return slices.Concat([]string{s.mcpdo, "--format", "json", "--connection", "live"}, args)
}

func (s *inspectorSession) run(t *testing.T, args ...string) (string, error) {
	stdout, stderr, err := runWithin(t, patience, s.env, s.node, s.command(args...)...)
	if err != nil {
		return stdout, fmt.Errorf("%w: %s%s", err, stdout, tail(stderr, 5))
	}
	return stdout, nil
}

// read runs a command, and decodes what it writes.
func (s *inspectorSession) read(t *testing.T, to any, args ...string) error {
	stdout, err := s.run(t, args...)
	if err != nil {
		return err
	}
	return json.Unmarshal([]byte(stdout), to)
}

// call calls a tool of a server, and answers what the tool asks.
func (s *inspectorSession) call(t *testing.T, tool string, args ...string) (string, error) {
	var result struct {
		Content            []struct{ Text string }
		ElicitationPending struct{ ElicitationID, Message string }
	}
	if err := s.read(t, &result, slices.Concat([]string{"tools/call", tool}, args)...); err != nil {
		return "", err
	}
	if pending := result.ElicitationPending; pending.ElicitationID != "" {
		answer := fmt.Sprintf("name:=Ada (%s)", pending.Message)
		if err := s.read(t, &result, "elicitation/respond", pending.ElicitationID, answer); err != nil {
			return "", err
		}
	}
	if len(result.Content) != 1 {
		return "", fmt.Errorf("%d contents", len(result.Content))
	}
	return result.Content[0].Text, nil
}

func (s *inspectorSession) step(t *testing.T, server, step string) (any, error) {
	switch step {
	case "list":
		return s.list(t, server)
	case "call":
		return s.call(t, server+"__echo", "text:=hi")
	case "cancel":
		return s.cancel(t, server)
	case "subscribe":
		return s.subscribe(t, server)
	case "progress", "changed":
		if word := map[string]string{"progress": "progress", "changed": "list_changed"}[step]; !strings.Contains(s.commands, word) {
			return nil, errors.New("no command shows it")
		}
		return nil, nil // it is time to use it
	}
	return s.call(t, server+"__"+step)
}

func (s *inspectorSession) list(t *testing.T, server string) (names []any, err error) {
	var result struct{ Tools []struct{ Name string } }
	until(t, "tools of "+server, func() error {
		names = nil
		if err := s.read(t, &result, "tools/list"); err != nil {
			return err
		}
		for _, tool := range result.Tools {
			if strings.HasPrefix(tool.Name, server+"__") {
				names = append(names, tool.Name)
			}
		}
		if names == nil {
			return errors.New("there are none")
		}
		return nil
	})
	return names, nil
}

// cancel interrupts a command that calls a tool. The daemon makes one call of a
// tool at a time, so that a call that goes on blocks the connection.
func (s *inspectorSession) cancel(t *testing.T, server string) (any, error) {
	if _, err := s.run(t, s.dial...); err != nil { // again, or anew
		return nil, err
	}
	if _, err := s.list(t, server); err != nil {
		return nil, err
	}
	p := start(t, s.env, s.node, s.command("tools/call", server+"__wait")...)
	select {
	case <-s.waiting[server]:
	case <-p.done:
		return nil, errors.New(p.output.String())
	case <-time.After(patience):
		return nil, fmt.Errorf("the call does not reach the server: %s", p.output.String())
	}
	p.stop(syscall.SIGINT)
	_, stderr, err := runWithin(t, 3*time.Second, s.env, s.node, s.command("tools/call", server+"__canceled")...)
	if _, failed := s.run(t, "disconnect", "live"); err == nil {
		err = failed
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, stderr)
	}
	return []any{"rejected", "canceled"}, nil
}

func (s *inspectorSession) subscribe(t *testing.T, server string) (any, error) {
	uri := "live://" + server + "/clock"
	p := start(t, s.env, s.node, s.command("resources/subscribe", uri)...)
	shows := func(what string) func() error {
		return func() error {
			if !strings.Contains(p.output.String(), what) {
				return errors.New(p.output.String())
			}
			return nil
		}
	}
	until(t, "mcpdo subscribes", shows(`"subscribed"`))
	if _, err := s.call(t, server+"__touch"); err != nil {
		return nil, err
	}
	until(t, "mcpdo shows the update", shows(`updated`))
	p.stop(syscall.SIGINT)
	var result struct{ Contents []struct{ Text string } }
	if err := s.read(t, &result, "resources/read", uri); err != nil {
		return nil, err
	}
	return result.Contents[0].Text, nil
}
