//go:build unix

package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolpost/toolpost/internal/access/trail"
)

// TestAuditSurvivesKill kills a gateway while it serves calls, several times: every
// call that the client got an answer for is in the log, and so is the start of every
// call that the server may have got.
func TestAuditSurvivesKill(t *testing.T) {
	t.Parallel()
	dir, bin := t.TempDir(), t.TempDir()
	for _, name := range []string{"toolpost", "fixture"} {
		if err := os.Symlink(os.Args[0], filepath.Join(bin, name)); err != nil {
			t.Fatal(err)
		}
	}
	configuration := filepath.Join(dir, "toolpost.json")
	if err := os.WriteFile(configuration, []byte(`{"mcpServers": {"one": {"command": "`+filepath.Join(bin, "fixture")+`"}}, "audit": {"level": "args"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	answered := map[string]bool{}
	for round := range 4 {
		cmd := exec.Command(filepath.Join(bin, "toolpost"), "serve", "--stdio", "--log-level", "error", "--config", configuration)
		cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_STATE_HOME="+dir, "XDG_CONFIG_HOME="+dir, "XDG_CACHE_HOME="+dir)
		cmd.Stderr = os.Stderr
		for _, id := range killedCalls(t, cmd, round) {
			answered[id] = true
		}
	}
	calls, damaged, err := trail.Calls(filepath.Join(dir, "toolpost", "audit"), &trail.Filter{})
	if err != nil || damaged > 0 {
		t.Fatal(damaged, err)
	}
	logged, unknown := map[string]bool{}, 0
	for _, c := range calls {
		switch c.Outcome {
		case "ok":
			logged[string(c.Args)] = true
		case trail.Unknown:
			unknown++
		}
	}
	for id := range answered {
		if !logged[fmt.Sprintf(`{"s":%q}`, id)] {
			t.Errorf("the answer to call %s was sent, and the call is not in the log", id)
		}
	}
	if len(answered) < 100 {
		t.Errorf("only %d calls were answered", len(answered))
	}
	t.Logf("%d calls answered, %d in the log, %d with unknown outcome", len(answered), len(logged), unknown)
	v, err := trail.Verify(filepath.Join(dir, "toolpost", "audit"))
	if err != nil || len(v.Problems) > 0 {
		t.Errorf("%+v, %v", v, err)
	}
}

// killedCalls sends calls until the gateway is killed, after some answers. It returns
// the ids of the calls that were answered.
func killedCalls(t *testing.T, cmd *exec.Cmd, round int) (answered []string) {
	t.Helper()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { // until the pipe breaks
		_, err := io.WriteString(in, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`+"\n"+
			`{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n")
		for i := 0; err == nil; i++ {
			_, err = fmt.Fprintf(in, `{"jsonrpc":"2.0","id":"%d-%d","method":"tools/call","params":{"name":"one__show","arguments":{"s":"%[1]d-%[2]d"}}}`+"\n", round, i)
		}
	}()
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if _, rest, ok := strings.Cut(lines.Text(), `"id":"`); ok && strings.Contains(rest, `"result":{`) {
			id, _, _ := strings.Cut(rest, `"`)
			answered = append(answered, id)
		}
		if len(answered) == 40+20*round {
			_ = cmd.Process.Kill()
		}
	}
	_ = cmd.Wait() // it was killed
	return answered
}
