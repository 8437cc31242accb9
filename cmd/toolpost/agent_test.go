package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/toolpost/toolpost/dev/modeltest"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/usage"
)

// secretKey must not appear in what the commands write.
const secretKey = "sk-ant-very-secret-0123456789"

// A home is where commands of a test run: a folder, the programs, and more variables.
type home struct {
	dir, bin string
	env      []string
}

func newHome(t *testing.T) *home {
	t.Helper()
	h := &home{dir: t.TempDir(), bin: t.TempDir()}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"toolpost", "fixture"} {
		if err := os.Symlink(self, filepath.Join(h.bin, name)); err != nil {
			t.Skipf("no links here: %v", err)
		}
	}
	return h
}

// command is toolpost with these arguments.
func (h *home) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, filepath.Join(h.bin, "toolpost"), args...)
	cmd.Dir = h.dir
	cmd.Env = []string{"PATH=" + h.bin, "HOME=" + h.dir, "ANTHROPIC_API_KEY=" + secretKey, "OTHER_KEY=" + secretKey, "GORACE=" + os.Getenv("GORACE"), "GOCOVERDIR=" + os.Getenv("GOCOVERDIR")}
	cmd.Env = append(cmd.Env, h.env...)
	return cmd
}

// run runs toolpost and returns what it writes and its exit code.
func (h *home) run(t *testing.T, args ...string) (out, log string, code int) {
	t.Helper()
	cmd := h.command(t.Context(), args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	if all := stdout.String() + stderr.String(); strings.Contains(all, secretKey) {
		t.Errorf("%v writes the key:\n%s", args, all)
	}
	return stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()
}

func callOf(name, arguments string) []model.Part {
	return []model.Part{{Type: model.TypeText, Text: "I call."}, {Type: model.TypeCall, ID: "call_1", Name: name, Arguments: []byte(arguments)}}
}

func sayOf(text string) []model.Part { return []model.Part{{Type: model.TypeText, Text: text}} }

// contains checks that the body of a request has a text.
func contains(text string) func([]byte) error {
	return func(body []byte) error {
		if !bytes.Contains(body, []byte(text)) {
			return fmt.Errorf("the request has no %q", text)
		}
		return nil
	}
}

// TestRunProviders does a task with every provider: a call with an approval, an
// answer, tokens and costs.
func TestRunProviders(t *testing.T) {
	t.Parallel()
	for _, p := range []struct {
		model, suffix, cost string
		wire                modeltest.Wire
	}{
		{"anthropic/claude-sonnet-5-5", "", "$0.0035", modeltest.Anthropic()},
		{"openai/gpt-6.2-sol", "/v1", "$0.0035", modeltest.Responses()},
		{"gemini/gemini-2.5-flash", "", "$0.0007", modeltest.Gemini()},
		{"openai-compatible/some", "/v1", "price unknown", modeltest.Chat()},
	} {
		t.Run(strings.ReplaceAll(p.model, "/", "-"), func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			tokens := usage.Tokens{Input: 500, Output: 75}
			server := modeltest.Serve(t, p.wire,
				modeltest.Turn{Parts: callOf("write", `{"path":"a.txt","content":"hello\n"}`), Tokens: tokens, Check: contains("look here")},
				modeltest.Turn{Parts: sayOf("Written."), Tokens: tokens, Check: contains("wrote 6 bytes")})
			out, log, code := h.run(t, "run", "--model", p.model, "--base-url", server.URL+p.suffix, "--yes", "look here")
			if code != 0 || out != "I call.\nWritten.\n" || !strings.Contains(log, p.cost) || !strings.Contains(log, "1,000 tokens in, 150 out") {
				t.Errorf("exit code %d, %q, %q", code, out, log)
			}
			if data, err := os.ReadFile(filepath.Join(h.dir, "a.txt")); err != nil || string(data) != "hello\n" {
				t.Errorf("the file has %q, %v", data, err)
			}
		})
	}
}

// TestRunAddressOfEnvironment uses the address that the provider's SDK reads from the
// environment, with the key of the environment.
func TestRunAddressOfEnvironment(t *testing.T) {
	t.Parallel()
	for _, p := range []struct {
		model, key, address, suffix string
		wire                        modeltest.Wire
	}{
		{"anthropic", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "", modeltest.Anthropic()},
		{"openai", "OPENAI_API_KEY", "OPENAI_BASE_URL", "/v1", modeltest.Responses()},
		{"gemini", "GEMINI_API_KEY", "GOOGLE_GEMINI_BASE_URL", "", modeltest.Gemini()},
	} {
		t.Run(p.model, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			server := modeltest.Serve(t, p.wire, modeltest.Turn{Parts: sayOf("Good day.")})
			h.env = append(h.env, p.key+"="+secretKey, p.address+"="+server.URL+p.suffix)
			out, log, code := h.run(t, "run", "--model", p.model, "hello")
			if code != 0 || out != "Good day.\n" {
				t.Errorf("exit code %d, %q, %q", code, out, log)
			}
		})
	}
}

// TestRunStops: each way in which a run ends has its exit code, and the key is
// never shown.
func TestRunStops(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	for name, tt := range map[string]struct {
		turn modeltest.Turn
		code int
		want string
	}{
		"refusal": {modeltest.Turn{Parts: sayOf("No."), Stop: model.StopRefusal}, 5, "the model refused"},
		"length":  {modeltest.Turn{Parts: sayOf("Half of"), Stop: model.StopLength}, 3, "the answer is incomplete"},
		"auth":    {modeltest.Turn{Fail: &modeltest.Failure{Kind: model.KindAuth}}, 1, "auth (HTTP 401)"},
	} {
		server := modeltest.Serve(t, modeltest.Anthropic(), tt.turn)
		_, log, code := h.run(t, "run", "--model", "anthropic/claude-sonnet-5-5", "--base-url", server.URL, "--api-key-env", "OTHER_KEY", "hello")
		if code != tt.code || !strings.Contains(log, tt.want) {
			t.Errorf("%s: exit code %d, %q", name, code, log)
		}
	}
	server := modeltest.Serve(t, modeltest.Anthropic(), modeltest.Turn{Parts: callOf("write", `{"path":"a.txt","content":"x"}`)})
	if _, log, code := h.run(t, "run", "--model", "anthropic/claude-sonnet-5-5", "--base-url", server.URL, "hello"); code != 4 || !strings.Contains(log, "waits for your approval: write") {
		t.Errorf("waiting: exit code %d, %q", code, log)
	}
}

// TestResume ends toolpost while a tool runs, and continues. The model learns that
// the outcome of the call is unknown, and nothing runs again.
func TestResume(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		signal os.Signal
		want   string // of the next request
		calls  string // shown after resuming
	}{
		"killed":      {os.Kill, "its outcome is unknown", "✗ 1 wait"},
		"interrupted": {os.Interrupt, "it may or may not have taken effect", ""},
	} {
		t.Run(name, func(t *testing.T) {
			if tt.signal == os.Interrupt && runtime.GOOS == "windows" {
				t.Skip("no such signal")
			}
			t.Parallel()
			h := newHome(t)
			started := filepath.Join(h.dir, "started")
			server := modeltest.Serve(t, modeltest.Anthropic(),
				modeltest.Turn{Parts: callOf("wait", fmt.Sprintf(`{"started":%q,"release":%q}`, started, filepath.Join(h.dir, "never")))},
				modeltest.Turn{Parts: sayOf("I look first."), Check: contains(tt.want)})
			common := []string{"--yes", "--tools", "none", "--model", "anthropic/claude-sonnet-5-5", "--base-url", server.URL, "--", filepath.Join(h.bin, "fixture")}
			cmd := h.command(t.Context(), append([]string{"run", "wait here"}, common...)...)
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			awaitPath(t, started)
			_ = cmd.Process.Signal(tt.signal)
			_ = cmd.Wait()
			if tt.signal == os.Interrupt && (cmd.ProcessState.ExitCode() != 130 || !strings.Contains(stderr.String(), "to continue, run: toolpost run --resume ")) {
				t.Errorf("interrupted: exit code %d, %q", cmd.ProcessState.ExitCode(), stderr.String())
			}
			out, log, code := h.run(t, append([]string{"run", "--resume=last"}, common...)...)
			if code != 0 || out != "I look first.\n" || !strings.Contains(log, tt.calls) {
				t.Errorf("exit code %d, %q, %q", code, out, log)
			}
		})
	}
}

func awaitPath(t *testing.T, path string) {
	t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(time.Millisecond) { // there is nothing to listen to
		if _, err := os.Stat(path); err == nil {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%s does not appear", path)
		}
	}
}
