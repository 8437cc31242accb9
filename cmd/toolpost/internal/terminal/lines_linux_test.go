package terminal_test

import (
	"context"
	"errors"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/terminal"
)

// A screen is a terminal with a person before it.
type screen struct {
	*testing.T
	lines  *terminal.Lines
	master *os.File

	mu    sync.Mutex
	shown string // since the last wait
	more  chan struct{}
}

func newScreen(t *testing.T) *screen {
	t.Setenv("TERM", "xterm")
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no terminals here: %v", err)
	}
	t.Cleanup(func() { _ = master.Close() })
	number, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(int(master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Col: 100, Row: 50})
	}
	if err != nil {
		t.Skipf("no terminals here: %v", err)
	}
	slave, err := os.OpenFile("/dev/pts/"+strconv.Itoa(number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no terminals here: %v", err)
	}
	t.Cleanup(func() { _ = slave.Close() })
	s := &screen{T: t, lines: terminal.NewLines(slave, slave), master: master, more: make(chan struct{}, 1)}
	if !s.lines.Interactive {
		t.Fatal("it is not a terminal")
	}
	go func() {
		buf := make([]byte, 1024)
		for {
			n, err := master.Read(buf)
			if err != nil {
				return
			}
			s.mu.Lock()
			s.shown += string(buf[:n])
			s.mu.Unlock()
			select {
			case s.more <- struct{}{}:
			default:
			}
		}
	}()
	return s
}

// sees waits until the screen shows a text.
func (s *screen) sees(text string) {
	s.Helper()
	timeout := time.After(time.Minute)
	for {
		s.mu.Lock()
		_, rest, found := strings.Cut(s.shown, text)
		if found {
			s.shown = rest
		}
		s.mu.Unlock()
		if found {
			return
		}
		select {
		case <-s.more:
		case <-timeout:
			s.Fatalf("the screen does not show %q but %q", text, s.shown)
		}
	}
}

func (s *screen) types(keys string) {
	s.Helper()
	if _, err := s.master.WriteString(keys); err != nil {
		s.Fatal(err)
	}
}

// asks begins a prompt. Answer waits for its line.
func (s *screen) asks(ctx context.Context, prompt string) (answer func() (string, error)) {
	type line struct {
		text string
		err  error
	}
	lines := make(chan line, 1)
	go func() {
		text, err := s.lines.Read(ctx, prompt)
		lines <- line{text, err}
	}()
	s.sees(prompt)
	return func() (string, error) { l := <-lines; return l.text, l.err }
}

// TestPromptGivenUp types into a prompt whose question is taken back: that is not part
// of the answer to the next one, which gets all of its own line.
func TestPromptGivenUp(t *testing.T) {
	s := newScreen(t)
	for _, typed := range []string{"", "y", "y\r"} {
		ctx, cancel := context.WithCancel(t.Context())
		answer := s.asks(ctx, "Question? ")
		if typed == "y" {
			s.types("y")
			s.sees("y")
		}
		cancel()
		if text, err := answer(); !errors.Is(err, context.Canceled) {
			t.Fatalf("%q: %q, %v", typed, text, err)
		}
		if typed == "y\r" { // after it was taken back
			s.types(typed)
			for end := time.Now().Add(time.Minute); !s.lines.LeftIsRead(); time.Sleep(time.Millisecond) {
				if time.Now().After(end) {
					t.Fatal("the line is not read")
				}
			}
		}
		answer = s.asks(t.Context(), "> ")
		s.types("hello\r")
		if text, err := answer(); text != "hello" || err != nil {
			t.Errorf("after %q: %q, %v", typed, text, err)
		}
	}
}
