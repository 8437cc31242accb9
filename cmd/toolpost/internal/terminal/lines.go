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
	keys        *keys
	interrupted atomic.Bool    // Ctrl-C was pressed
	left        chan typedLine // of a read whose prompt was given up; nil if there is none
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
	l.keys = &keys{file: l.file, interrupted: &l.interrupted}
	t := term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{l.keys, l.out}, "")
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
	restart     atomic.Bool // the line begins again with the next key
}

// eraseLine are the keys that erase a line: to its end, and back to its beginning.
const eraseLine = "\x05\x15"

func (k *keys) Read(p []byte) (int, error) {
	n, err := k.file.Read(p[:max(len(p)-len(eraseLine), 1)])
	if n > 0 && n+len(eraseLine) <= len(p) && k.restart.Swap(false) {
		copy(p[len(eraseLine):], p[:n])
		n += copy(p, eraseLine)
	}
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
		return l.wait(ctx, prompt, l.readPlain)
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
	text, err := l.wait(ctx, prompt, l.readKeys)
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

// A typedLine is a line that was read, or the reason why there is none.
type typedLine struct {
	text string
	err  error
}

// wait returns what read returns, or the reason why ctx has ended if that comes
// first: a terminal may never answer. Then the read goes on, and is that of the next
// prompt: two at the same time would share its keys. A line that the user typed before that
// prompt was for another question.
func (l *Lines) wait(ctx context.Context, prompt string, read func() (string, error)) (string, error) {
	if l.Interactive && l.left != nil {
		select {
		case <-l.left:
			l.left = nil
		default:
			l.keys.restart.Store(true)
			_, _ = io.WriteString(l.out, prompt) // the read has shown its own
		}
	}
	lines := l.left
	if lines == nil {
		lines = make(chan typedLine, 1)
		go func() {
			text, err := read()
			lines <- typedLine{text, err}
		}()
	}
	l.left = nil
	select {
	case line := <-lines:
		return line.text, line.err
	case <-ctx.Done():
		l.left = lines
		return "", context.Cause(ctx)
	}
}
