package terminal_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/terminal"
	"github.com/toolpost/toolpost/dev/screen"
)

// A person is before a terminal.
type person struct {
	*testing.T
	*screen.Terminal
	lines *terminal.Lines
}

func newPerson(t *testing.T, width int) *person {
	t.Helper()
	t.Setenv("TERM", "xterm")
	s, err := screen.OpenTerminal(width, 24)
	if err != nil {
		t.Skipf("no terminals here: %v", err)
	}
	t.Cleanup(func() { _ = s.Close() })
	p := &person{t, s, terminal.NewLines(s.File, s.File)}
	if !p.lines.Interactive {
		t.Fatal("it is not a terminal")
	}
	return p
}

func (p *person) check(err error) {
	p.Helper()
	if err != nil {
		p.Fatal(err)
	}
}

// asks begins a prompt. Answer waits for its line.
func (p *person) asks(ctx context.Context, prompt string) (answer func() (string, error)) {
	return p.begins(prompt, func() (string, error) { return p.lines.Read(ctx, prompt) })
}

func (p *person) begins(prompt string, read func() (string, error)) (answer func() (string, error)) {
	p.Helper()
	type line struct {
		text string
		err  error
	}
	lines := make(chan line, 1)
	go func() {
		text, err := read()
		lines <- line{text, err}
	}()
	p.check(p.Await(prompt))
	return func() (string, error) { l := <-lines; return l.text, l.err }
}

// TestPromptGivenUp types into a prompt whose question is taken back: that is not part
// of the answer to the next one, which gets all of its own line.
func TestPromptGivenUp(t *testing.T) {
	p := newPerson(t, 100)
	for _, typed := range []string{"", "y"} {
		ctx, cancel := context.WithCancel(t.Context())
		answer := p.asks(ctx, "Question? ")
		if typed != "" {
			p.check(p.Type(typed))
			p.check(p.Await(typed))
		}
		cancel()
		if text, err := answer(); !errors.Is(err, context.Canceled) {
			t.Fatalf("%q: %q, %v", typed, text, err)
		}
		answer = p.asks(t.Context(), "> ")
		p.check(p.Type("hello\r"))
		if text, err := answer(); text != "hello" || err != nil {
			t.Errorf("after %q: %q, %v", typed, text, err)
		}
	}
}

// TestLines: lines that arrive together are read one after the other, and a paste of
// several lines is one.
func TestLines(t *testing.T) {
	p := newPerson(t, 100)
	answer := p.asks(t.Context(), "> ")
	p.check(p.Type("one\rtwo\r\nthree\r\x1b[200~a\rb\x1b[201~c\r"))
	for i, want := range []string{"one", "two", "three", "a\nbc"} {
		if i > 0 {
			answer = func() (string, error) { return p.lines.Read(t.Context(), "> ") }
		}
		if text, err := answer(); text != want || err != nil {
			t.Errorf("got %q, %v, want %q", text, err, want)
		}
	}
	answer = p.asks(t.Context(), "up> ")
	p.check(p.Type("\x1b[A\x1b[A\r"))
	if text, err := answer(); text != "three" || err != nil {
		t.Errorf("from the history: %q, %v", text, err)
	}
	answer = p.asks(t.Context(), "end> ")
	p.check(p.Type("half\x03"))
	if text, err := answer(); err != terminal.ErrInterrupt {
		t.Errorf("%q, %v", text, err)
	}
}

// TestChoose: a question takes one of its keys, and nothing else: no arrow, no paste, and
// nothing that was typed before it was asked.
func TestChoose(t *testing.T) {
	p := newPerson(t, 100)
	choose := func() (func() (string, error), string) {
		const prompt = "Run it? "
		return p.begins(prompt, func() (string, error) {
			key, err := p.lines.Choose(t.Context(), prompt, "yn")
			return string(key), err
		}), prompt
	}
	for keys, want := range map[string]error{"\x1b[A": nil, "yes": nil, "x": nil, "\r": nil, "\x03": terminal.ErrInterrupt, "\x04": io.EOF} {
		answer, _ := choose()
		p.check(p.Type(keys))
		if want == nil {
			p.check(p.Await("\a"))
			p.check(p.Type("N"))
		}
		if key, err := answer(); err != want || err == nil && key != "n" {
			t.Errorf("%q: %q, %v", keys, key, err)
		}
	}
	p.check(p.Type("y\n")) // before the question
	p.check(p.Await("y\r\n"))
	answer, _ := choose()
	p.check(p.Type("n"))
	if key, err := answer(); key != "n" || err != nil {
		t.Errorf("%q, %v", key, err)
	}
	line := p.asks(t.Context(), "> ")
	p.check(p.Type("a task\ry\r")) // a paste, in a terminal that does not say so
	if text, err := line(); text != "a task" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
	answer, _ = choose()
	p.check(p.Type("n"))
	if key, err := answer(); key != "n" || err != nil {
		t.Errorf("the second line of a paste answers: %q, %v", key, err)
	}
	if rows := p.String(); !strings.Contains(rows, "Run it? n\n") {
		t.Errorf("the answer is not shown:\n%s", rows)
	}
	plain := terminal.NewLines(strings.NewReader("Yes\nwhy?\n"), io.Discard)
	for _, want := range []rune{'y', 0} {
		if key, err := plain.Choose(t.Context(), "", "yn"); key != want || err != nil {
			t.Errorf("without a terminal: %q, %v, want %q", key, err, want)
		}
	}
}

// TestKeysBeforeQuestion: a key that was pressed after a question was given up does not
// answer the next one, although a read still waits for the answer of the first.
func TestKeysBeforeQuestion(t *testing.T) {
	p := newPerson(t, 40)
	for range 20 {
		ctx, cancel := context.WithCancel(t.Context())
		choose := func() (string, error) {
			key, err := p.lines.Choose(ctx, "run? ", "yn")
			return string(key), err
		}
		answer := p.begins("run? ", choose)
		cancel()
		if _, err := answer(); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		p.check(p.Type("y"))
		p.check(p.Await("y")) // the terminal has the key
		ctx = t.Context()
		answer = p.begins("run? ", choose)
		p.check(p.Type("n"))
		if key, err := answer(); key != "n" || err != nil {
			t.Fatalf("%q, %v", key, err)
		}
	}
}

// TestComplete: Tab completes a word as far as it is known, and then lists the words.
func TestComplete(t *testing.T) {
	p := newPerson(t, 40)
	p.lines.Complete = func(before string) (int, []string) {
		start := strings.LastIndex(before, " ") + 1
		var found []string
		for _, w := range []string{"cmd/", "chat.go", "chäos", "chart.go"} {
			if strings.HasPrefix(w, before[start:]) {
				found = append(found, w)
			}
		}
		return start, found
	}
	answer := p.asks(t.Context(), "> ")
	p.check(p.Type("see ch\t"))
	p.check(p.Until("a list", func(rows string) bool { return rows == "chat.go chäos chart.go\n> see ch\n" }))
	p.check(p.Type("a\tt\tand cm\tx\tx\r"))
	if text, err := answer(); text != "see chat.go and cmd/xx" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
}

// TestPromptIsResized: a line that is typed fits the window, however it changes.
func TestPromptIsResized(t *testing.T) {
	p := newPerson(t, 40)
	answer := p.asks(t.Context(), "> ")
	p.check(p.Type("a line"))
	p.check(p.Await("line"))
	p.check(p.SetSize(20, 24))
	p.check(p.Await("> a line")) // drawn again
	p.check(p.Type(" that is as long as two\r"))
	if text, err := answer(); text != "a line that is as long as two" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
	p.check(p.Until("two rows", func(rows string) bool { return rows == "> a line that is as\nlong as two\n" }))
}

// TestEcho: what is typed is not shown while that is turned off.
func TestEcho(t *testing.T) {
	p := newPerson(t, 40)
	isOn := func() bool {
		mode, err := unix.IoctlGetTermios(int(p.File.Fd()), unix.TCGETS)
		p.check(err)
		return mode.Lflag&unix.ECHO != 0
	}
	restore := p.lines.Echo(false)
	if group, err := unix.IoctlGetInt(int(p.File.Fd()), unix.TIOCGPGRP); err != nil || group != unix.Getpgrp() {
		if !isOn() {
			t.Error("the terminal of other processes is changed")
		}
		return
	}
	if isOn() {
		t.Error("it is on")
	}
	restore()
	if !isOn() {
		t.Error("it is off")
	}
}
