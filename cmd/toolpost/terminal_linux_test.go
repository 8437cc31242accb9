package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/terminal"
	"github.com/toolpost/toolpost/dev/screen"
)

// pty opens a terminal of 100 columns: master reads what is written to slave.
func pty(t *testing.T) (master, slave *os.File) {
	t.Helper()
	master, slave, err := screen.Open(100, 50)
	if err != nil {
		t.Skipf("no terminals here: %v", err)
	}
	t.Cleanup(func() { _ = slave.Close() })
	t.Cleanup(func() { _ = master.Close() })
	return master, slave
}

// onTerminal runs toolpost on a terminal, until it ends or its output has
// until, and returns what the terminal got.
func onTerminal(t *testing.T, dir, until string, args ...string) string {
	t.Helper()
	var got bytes.Buffer
	onScreen(t, &got, dir, 100, 50, func() bool { return until != "" && strings.Contains(got.String(), until) }, args...)
	return got.String()
}

// onScreen is onTerminal for a terminal of a size, whose output is written to out; the
// program is interrupted once done returns true.
func onScreen(t *testing.T, out io.Writer, dir string, width, height int, done func() bool, args ...string) {
	t.Helper()
	master, slave := pty(t)
	if err := screen.SetSize(slave, width, height); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe")
	cmd.Args = append([]string{"toolpost"}, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, slave, slave
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TERM=xterm", "LANG=C.UTF-8"}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = slave.Close() // the program has its own
	part := make([]byte, 4096)
	for interrupted := false; ; {
		n, err := master.Read(part) // an error is the end: nobody has the terminal open
		if !interrupted {
			_, _ = out.Write(part[:n])
		}
		if !interrupted && done() {
			interrupted = true
			_ = cmd.Process.Signal(os.Interrupt)
		}
		if err != nil {
			break
		}
	}
	_ = cmd.Wait() // most of these commands fail
}

// TestFirstScreen: at once and in a small terminal, a person reads where the endpoint is
// and what to do next, although a server does not answer.
func TestFirstScreen(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	config := filepath.Join(dir, "toolpost.json")
	if err := os.WriteFile(config, []byte(`{"mcpServers": {"silent": {"command": "sleep", "args": ["1000"]}, "missing": {"command": "no-such-program"}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	s := screen.New(80, 24)
	onScreen(t, s, dir, 80, 24, func() bool {
		return strings.Contains(s.String(), "missing  ") && strings.Contains(s.String(), "failed") && strings.HasSuffix(s.String(), "tools\n")
	},
		"serve", "--addr", "127.0.0.1:0", "--config", config)
	got := regexp.MustCompile(`127\.0\.0\.1:\d+`).ReplaceAllString(s.All(), "127.0.0.1:PORT")
	got = regexp.MustCompile(`\d+ s\b`).ReplaceAllString(got, "N s")
	got = strings.Replace(got, "  tried again\n", "  tried again in N s\n", 1)
	want := `Serving http://127.0.0.1:PORT/mcp

  Connect clients  toolpost link --url http://127.0.0.1:PORT/mcp
  Add a server     toolpost add NAME
  Watch            toolpost top http://127.0.0.1:PORT

SERVER        STATE         TOOLS    TIME
silent        connecting        -     N s
missing       failed            -       -  tried again in N s
  command "no-such-program" is not found; install it, or give its full path as
  the command
http://127.0.0.1:PORT/mcp  0 of 2 servers ready, 0 tools
`
	if got != want {
		t.Errorf("got:\n%s", got)
	}
}

// TestErrorOnTerminal: an error is wrapped at words, so that the commands in it can be read.
func TestErrorOnTerminal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, ".cursor"), 0o700); err != nil {
		t.Fatal(err)
	}
	s := screen.New(80, 24)
	onScreen(t, s, dir, 80, 24, func() bool { return false }, "link")
	want := `toolpost: there is no toolpost.json that clients could serve; run "toolpost
import" or "toolpost add" first, name one with --config, or connect them to a
serve that runs with --url http://127.0.0.1:7717/mcp
`
	if got := s.All(); got != want {
		t.Errorf("got:\n%s", got)
	}
}

// TestTerminalIsNotSteered has hostile servers, files and names on a terminal.
func TestTerminalIsNotSteered(t *testing.T) {
	t.Parallel()
	const hostile = "\x1b]0;T\x07\x1b[2J\x1b]52;c;cm0gLXJmIH4=\x07\u009b2J\u202e\u200b\U000e0041\b\rEND"
	dir := t.TempDir()
	server := []string{"--", "/bin/sh", "-c", `printf '` + strings.NewReplacer("\x1b", `\033`, "\x07", `\007`, "\b", `\010`, "\r", `\015`).Replace(hostile) + `\n' >&2; exit 3`}
	tools := filepath.Join(dir, "tools.json")
	quoted := `\u001b]0;T\u0007\u001b[2J` + "\u202e\u200b\U000e0041" + `END`
	err := os.WriteFile(tools, []byte(`[{"name":"a`+quoted+`","description":"`+quoted+`","inputSchema":{"type":"object","properties":{"`+quoted+`":{"description":"`+quoted+`","type":7}}}}]`), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(dir, "\x1b]0;T\x07\u202eEND")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		until string
		args  []string
	}{
		{"", append([]string{"list"}, server...)},
		{"", append([]string{"call", "x"}, server...)},
		{"", append([]string{"lint"}, server...)},
		{"", append([]string{"adapt", "--for", "mcp"}, server...)},
		{"", append([]string{"run", "--model", "claude", "hello"}, server...)},
		{"", []string{"lint", tools}},
		{"", []string{"lint", "--verbose", tools}},
		{"", []string{"lint", "--diff", "--for", "gemini", tools}},
		{"", []string{"lint", "--format", "json", tools}},
		{"", []string{"lint", "--format", "github", "--verbose", tools}},
		{"", []string{"adapt", "--for", "mcp", tools}},
		{"", []string{"call", hostile}},
		{"", []string{hostile}},
		{"", []string{"list", "--config", hostile}},
		{"", []string{"cache", "show", hostile}},
		{"toolpost top", []string{"serve", "--addr", "127.0.0.1:0", "--root", folder}},
	} {
		got := onTerminal(t, dir, tt.until, tt.args...)
		rest := strings.ReplaceAll(got, "\r\n", "\n") // what the terminal makes of line ends
		for _, bad := range []string{"\x1b]", "\x1b[2J", "\x07", "\u009b", "\u202e", "\u200b", "\U000e0041", "\b", "\r"} {
			if strings.Contains(rest, bad) {
				t.Errorf("%.60q wrote %+q in %+q", tt.args, bad, got)
			}
		}
		if tt.args[0] == "lint" && len(tt.args) == 2 && !strings.Contains(got, "\x1b[1m") {
			t.Errorf("%.60q has no colours: %+q", tt.args, got)
		}
		if !strings.Contains(got, "END") {
			t.Errorf("%.60q does not show what came: %q", tt.args, got)
		}
	}
}

// TestLogOnTerminal writes log lines where no table is drawn: for a client on
// stdio, and on a terminal that cannot be drawn on.
func TestLogOnTerminal(t *testing.T) {
	for term, stdio := range map[string]bool{"xterm": true, "dumb": false} {
		t.Setenv("TERM", term)
		master, slave := pty(t)
		o := serveOptions{stdio: stdio, logFormat: "json"}
		s := o.newDisplay(terminal.Safe(slave), true)
		s.log.Warn("a\u009b2J\u202eEND")
		s.close()
		part := make([]byte, 4096)
		n, err := master.Read(part)
		if got := string(part[:n]); err != nil || !strings.Contains(got, `"msg":"a·2J·END"`) {
			t.Errorf("TERM=%s: %+q, %v", term, got, err)
		}
	}
}

// TestListReportsWaiting has a server that does not answer.
func TestListReportsWaiting(t *testing.T) {
	t.Parallel()
	got := onTerminal(t, t.TempDir(), "", "list", "--timeout", "1500ms", "--", "sleep", "100")
	for _, want := range []string{"waiting up to 1.5s for sleep", `server "sleep" is skipped`, "no server could be reached"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in %q", want, got)
		}
	}
}

// TestTerminalKeepsCharacters writes characters in parts, and some that are not
// seen but belong to the writing.
func TestTerminalKeepsCharacters(t *testing.T) {
	master, slave := pty(t)
	w := terminal.Safe(slave)
	const text = "課題 a\u00a0b\u3000c. 👩"
	for i := range len(text) {
		if n, err := w.Write([]byte{text[i]}); n != 1 || err != nil {
			t.Fatal(n, err)
		}
	}
	if _, err := io.WriteString(w, "\x1b[31m\xff!\nمی\u200cخواهم 👩\u200d👧.\n"); err != nil {
		t.Fatal(err)
	}
	var got []byte
	part := make([]byte, 4096)
	for bytes.Count(got, []byte("\n")) < 2 {
		n, err := master.Read(part)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, part[:n]...)
	}
	if want := text + "·[31m·!\r\nمی\u200cخواهم 👩\u200d👧.\r\n"; string(got) != want {
		t.Errorf("%q, want %q", got, want)
	}
}
