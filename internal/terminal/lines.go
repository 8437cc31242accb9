package terminal

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"sync/atomic"

	"golang.org/x/term"
)

// ErrInterrupt is the error of [Lines.Read] if the user presses Ctrl-C.
var ErrInterrupt = errors.New("interrupted")

// Lines reads the lines that a user types. On a terminal they can be edited, and
// earlier ones return with the arrow keys.
type Lines struct {
	Interactive bool // input and output are a terminal

	plain       *bufio.Reader // if they are not
	file        *os.File
	out         io.Writer
	terminal    *term.Terminal
	interrupted atomic.Bool // Ctrl-C was pressed
}

// NewLines returns a reader of lines from in, whose prompts are written to out.
func NewLines(in io.Reader, out io.Writer) *Lines {
	l := &Lines{}
	file, _ := in.(*os.File)
	if width, _ := Size(out); file != nil && Is(file) && width > 0 {
		l.Interactive, l.file, l.out = true, file, Unsafe(out)
		l.begin()
		return l
	}
	l.plain = bufio.NewReader(in)
	return l
}

// begin makes the editor of lines. An editor keeps the Ctrl-C that ended a line,
// so another one follows it.
func (l *Lines) begin() {
	t := term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{&keys{l.file, &l.interrupted}, l.out}, "")
	if l.terminal != nil {
		t.History = l.terminal.History
	} else {
		t.History = &history{t.History}
	}
	l.terminal = t
}

// history remembers lines, but not short answers to questions.
type history struct{ term.History }

func (h *history) Add(line string) {
	if len(line) > 1 {
		h.History.Add(line)
	}
}

// keys notices Ctrl-C, which a terminal that reads keys does not turn into a
// signal.
type keys struct {
	file        *os.File
	interrupted *atomic.Bool
}

func (k *keys) Read(p []byte) (int, error) {
	n, err := k.file.Read(p)
	if strings.ContainsRune(string(p[:n]), 3) {
		k.interrupted.Store(true)
	}
	return n, err
}

// Read returns the next line, without its end. A paste of several lines is one
// line. The error is io.EOF at the end of the input, and [ErrInterrupt] after
// Ctrl-C. When ctx ends, the terminal is as it was before. Prompts are shown on
// terminals only, and may have styles.
func (l *Lines) Read(ctx context.Context, prompt string) (string, error) {
	if !l.Interactive {
		return wait(ctx, l.readPlain)
	}
	before, err := term.MakeRaw(int(l.file.Fd()))
	if err != nil {
		return "", err
	}
	restore := func() error { return term.Restore(int(l.file.Fd()), before) }
	l.interrupted.Store(false)
	if width, height := Size(l.out); width > 0 {
		_ = l.terminal.SetSize(width, height) // the line is then wrapped elsewhere
	}
	l.terminal.SetPrompt(prompt)
	l.terminal.SetBracketedPasteMode(true)
	text, err := wait(ctx, l.readKeys)
	l.terminal.SetBracketedPasteMode(false)
	if err == io.EOF && l.interrupted.Load() {
		err = ErrInterrupt
		_, _ = io.WriteString(l.out, "\r\n") // the prompt follows
		l.begin()
	}
	if failed := restore(); failed != nil && err == nil {
		err = failed
	}
	return text, err
}

func (l *Lines) readPlain() (string, error) {
	line, err := l.plain.ReadString('\n')
	if err == io.EOF && line != "" {
		err = nil
	}
	return strings.TrimRight(line, "\r\n"), err
}

func (l *Lines) readKeys() (string, error) {
	var pasted string
	for {
		line, err := l.terminal.ReadLine()
		if !errors.Is(err, term.ErrPasteIndicator) {
			return pasted + line, err
		}
		pasted += line + "\n"
	}
}

// wait returns what read returns, or the reason why ctx has ended if that comes
// first: a terminal may never answer.
func wait(ctx context.Context, read func() (string, error)) (string, error) {
	type answer struct {
		text string
		err  error
	}
	answers := make(chan answer, 1)
	go func() {
		text, err := read()
		answers <- answer{text, err}
	}()
	select {
	case a := <-answers:
		return a.text, a.err
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}
