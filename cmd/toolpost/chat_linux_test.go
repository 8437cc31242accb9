package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolpost/toolpost/dev/modeltest"
	"github.com/toolpost/toolpost/dev/screen"
)

// TestCancelOnTerminal: while a call runs, neither Ctrl-C nor what else is typed gets into
// the text.
func TestCancelOnTerminal(t *testing.T) {
	t.Parallel()
	s, err := screen.OpenTerminal(80, 24)
	if err != nil {
		t.Skipf("no terminals here: %v", err)
	}
	t.Cleanup(func() { _ = s.Close() })
	h := newHome(t)
	h.env = []string{"TERM=xterm"}
	started := filepath.Join(h.dir, "started")
	server := modeltest.Serve(t, modeltest.Anthropic(),
		modeltest.Turn{Parts: callOf("wait", fmt.Sprintf(`{"started":%q,"release":%q}`, started, filepath.Join(h.dir, "never")))},
		modeltest.Turn{Parts: sayOf("Good."), Check: contains("go on then")})
	cmd := h.command(t.Context(), "chat", "wait here", "--yes", "--tools", "none", "--model", "anthropic/claude-sonnet-5-5", "--base-url", server.URL, "--", filepath.Join(h.bin, "fixture"))
	cmd.Stdin, cmd.Stdout, cmd.Stderr = s.File, s.File, s.File
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	awaitPath(t, started)
	for _, step := range []struct{ keys, shown string }{
		{"typed\n\x03", "canceled"}, {"", "\x1b[?2004h"}, {"go on then\r", "Good."}, {"", "\x1b[?2004h"}, {"/exit\r", "/exit"},
	} {
		if step.keys != "" {
			if err := s.Type(step.keys); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Await(step.shown); err != nil {
			t.Fatal(err)
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v:\n%s", err, s.All())
	}
	if rows := s.All(); strings.Contains(rows, "^C") || strings.Contains(rows, "typed") {
		t.Errorf("what was typed is in the text:\n%s", rows)
	}
}

// TestQuitOnTerminal: SIGQUIT ends the program with a trace, and the terminal shows again
// what is typed.
func TestQuitOnTerminal(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args  []string
		shown string
	}{
		{[]string{"chat", "--model", "demo", "go on"}, "Run it?"},
		{[]string{"secret", "set", "KEY"}, "not shown"},
	} {
		s, err := screen.OpenTerminal(80, 24)
		if err != nil {
			t.Skipf("no terminals here: %v", err)
		}
		t.Cleanup(func() { _ = s.Close() })
		h := newHome(t)
		h.env = []string{"TERM=xterm", "TOOLPOST_VAULT=files"}
		cmd := h.command(t.Context(), c.args...)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = s.File, s.File, s.File
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		const echo = unix.ECHO | unix.ICANON | unix.ISIG
		isHidden := func() bool {
			mode, err := unix.IoctlGetTermios(int(s.File.Fd()), unix.TCGETS)
			return err == nil && mode.Lflag&echo != echo
		}
		if err := s.Await(c.shown); err != nil {
			t.Fatal(err)
		}
		for end := time.Now().Add(patience); !isHidden() && time.Now().Before(end); time.Sleep(time.Millisecond) {
		} // there is nothing to listen to
		if err := cmd.Process.Signal(syscall.SIGQUIT); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); err == nil || isHidden() {
			t.Errorf("%q: %v; the terminal hides what is typed: %v", c.args, err, isHidden())
		}
	}
}
