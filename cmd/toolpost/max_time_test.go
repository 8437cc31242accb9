package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/cli"
	"github.com/toolpost/toolpost/dev/modeltest"
)

// TestMaxTime: whatever hangs when the time is over is ended, with exit code 3. On a
// slow machine the time may be over before it hangs, which ends the same way.
func TestMaxTime(t *testing.T) {
	t.Parallel()
	silent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // otherwise the end of the connection is not noticed
		switch {
		case strings.HasPrefix(r.URL.Path, "/busy"):
			w.Header().Set("Retry-After", "60")
			w.WriteHeader(http.StatusTooManyRequests)
			return
		case strings.HasPrefix(r.URL.Path, "/stream"):
			w.Header().Set("Content-Type", "text/event-stream")
			_ = http.NewResponseController(w).Flush()
		}
		<-r.Context().Done()
	}))
	t.Cleanup(silent.Close)
	calls := func(name, arguments string) []string {
		server := modeltest.Serve(t, modeltest.Anthropic(), modeltest.Turn{Parts: callOf(name, arguments)}, modeltest.Turn{Parts: sayOf("Done.")})
		return []string{"--yes", "--model", "anthropic/claude-sonnet-5-5", "--base-url", server.URL, "x"}
	}
	other := func(path string) []string {
		return []string{"--model", "openai-compatible/some", "--base-url", silent.URL + path, "x"}
	}
	h := newHome(t)
	h.env = []string{"PATH=" + h.bin + string(os.PathListSeparator) + os.Getenv("PATH")}
	claude := filepath.Join(h.bin, "claude")
	if err := os.Symlink(filepath.Join(h.bin, "toolpost"), claude); err != nil {
		t.Fatal(err)
	}
	fixture := []string{"--", filepath.Join(h.bin, "fixture")}
	for name, args := range map[string][]string{
		"no answer":        other("/v1"),
		"a silent stream":  other("/stream/v1"),
		"waits":            other("/busy/v1"),
		"anthropic":        {"--model", "anthropic/claude-sonnet-5-5", "--base-url", silent.URL, "x"},
		"gemini":           {"--model", "gemini/gemini-2.5-flash", "--base-url", silent.URL, "--api-key-env", "OTHER_KEY", "x"},
		"openai":           {"--model", "openai/gpt-6.2-sol", "--base-url", silent.URL, "--api-key-env", "OTHER_KEY", "x"},
		"a server":         append([]string{silent.URL + "/mcp"}, other("/v1")...),
		"claude":           append([]string{"--model", "claude", "--cli", claude, "wait"}, fixture...),
		"claude, a server": {silent.URL + "/mcp", "--model", "claude", "--cli", claude, "talk"},
		"claude-cli":       {"--model", "claude-cli/sonnet", "--cli", claude, "--tools", "none", "wait"},
		"a tool":           append(calls("wait", fmt.Sprintf(`{"started":%q,"release":%q}`, filepath.Join(h.dir, "started"), filepath.Join(h.dir, "never"))), fixture...),
		"a command":        calls("bash", `{"command":"trap '' TERM INT HUP; while :; do sleep 60; done"}`),
	} {
		t.Run(strings.ReplaceAll(name, ",", ""), func(t *testing.T) {
			if name == "a command" && runtime.GOOS == "windows" {
				t.Skip("no such shell")
			}
			t.Parallel()
			_, log, code := h.run(t, append([]string{"run", "--max-time", "500ms"}, args...)...)
			if code != cli.ExitLimit || !strings.Contains(log, "the limit of time is reached") && !strings.Contains(log, "the time of --max-time 500ms is over") {
				t.Errorf("exit code %d, %s", code, log)
			}
			if strings.Contains(log, "the limit of time is reached") && !strings.Contains(log, "to continue, run: toolpost run --resume ") {
				t.Errorf("the session cannot be continued: %s", log)
			}
		})
	}
}
