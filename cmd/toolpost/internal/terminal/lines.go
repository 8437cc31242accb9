package terminal

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"
)

// ErrInterrupt is the error of [Lines.Read] and [Lines.Choose] if the user presses Ctrl-C.
var ErrInterrupt = errors.New("interrupted")

// Lines reads what a user types. On a terminal lines can be edited, and earlier ones
// return with the arrow keys.
type Lines struct {
	Interactive bool // input and output are a terminal

	// Complete returns the words that the text before the cursor may end with, and where
	// in the text they begin. It may be nil.
	Complete func(before string) (start int, words []string)

	plain   *bufio.Reader // if they are not
	file    *os.File
	before  *term.State // of the terminal; nil if it is unknown
	out     io.Writer
	keys    keyboard
	history *history
}

// NewLines returns a reader of lines from in, whose prompts are written to out.
func NewLines(in io.Reader, out io.Writer) *Lines {
	file, _ := in.(*os.File)
	if width, _ := Size(out); file == nil || !Is(file) || width == 0 {
		return &Lines{plain: bufio.NewReader(in)}
	}
	before, _ := term.GetState(int(file.Fd()))
	return &Lines{Interactive: true, file: file, before: before, out: Unsafe(out), keys: keyboard{from: file}, history: &history{}}
}

// Restore makes the terminal as it was when l was made, for a process that ends at once.
func (l *Lines) Restore() {
	if l.before != nil {
		_ = term.Restore(int(l.file.Fd()), l.before) // nobody is left to be told
	}
}

// Read returns the next line, without its end. A paste of several lines is one
// line. The error is io.EOF at the end of the input, and [ErrInterrupt] after
// Ctrl-C. When ctx ends, the terminal is as it was before. Prompts are shown on
// terminals only, and may have styles.
func (l *Lines) Read(ctx context.Context, prompt string) (string, error) {
	if !l.Interactive {
		return l.readPlain(ctx)
	}
	return inRaw(l, func() (string, error) {
		l.keys.forget()
		t := &typing{ctx: ctx, lines: l}
		t.editor = term.NewTerminal(struct {
			io.Reader
			io.Writer
		}{t, l.out}, prompt)
		t.editor.History = l.history
		if l.Complete != nil {
			t.editor.AutoCompleteCallback = t.complete
		}
		t.resize()
		t.editor.SetBracketedPasteMode(true)
		text, err := t.read()
		t.editor.SetBracketedPasteMode(false)
		if err != nil {
			_, _ = io.WriteString(l.out, "\r\n") // the prompt ends
		}
		return text, err
	})
}

// Choose returns the key that the user presses, in lower case: one of choices. The user
// does not press Enter, and what was typed before the question is dropped. Without a
// terminal, Choose returns the first character of the next line, or 0 if that is not one
// of choices.
func (l *Lines) Choose(ctx context.Context, prompt, choices string) (rune, error) {
	if !l.Interactive {
		line, err := l.readPlain(ctx)
		return choice(line, choices), err
	}
	dropTyped(int(l.file.Fd())) // in raw mode a read that was given up would get it
	return inRaw(l, func() (rune, error) {
		l.keys.forget()
		l.keys.rest = nil
		_, _ = io.WriteString(l.out, prompt)
		shown := ""
		defer func() { _, _ = io.WriteString(l.out, shown+"\r\n") }()
		for {
			keys, err := l.keys.next(ctx, nil)
			switch text := strings.TrimRight(string(keys), "\r\n"); {
			case err != nil:
				return 0, err
			case strings.Contains(text, ctrlC):
				return 0, ErrInterrupt
			case text == ctrlD:
				return 0, io.EOF
			case utf8.RuneCountInString(text) == 1 && choice(text, choices) != 0:
				shown = strings.ToLower(text)
				return choice(text, choices), nil
			default: // an arrow, a paste, or a mistake
				_, _ = io.WriteString(l.out, bell)
			}
		}
	})
}

const (
	bell  = "\a"
	ctrlC = "\x03"
	ctrlD = "\x04"
)

// choice returns the first character of a text in lower case if it is one of choices,
// otherwise 0.
func choice(text, choices string) rune {
	first, _ := utf8.DecodeRuneInString(strings.ToLower(strings.TrimSpace(text)))
	if first == utf8.RuneError || !strings.ContainsRune(choices, first) {
		return 0
	}
	return first
}

// inRaw returns what read returns while the terminal passes every key on.
func inRaw[T any](l *Lines, read func() (T, error)) (value T, err error) {
	before, err := term.MakeRaw(int(l.file.Fd()))
	if err != nil {
		return value, err
	}
	defer func() {
		if failed := term.Restore(int(l.file.Fd()), before); failed != nil && err == nil {
			err = failed
		}
	}()
	return read()
}

// readPlain reads a line of what is not a terminal. A read that is given up goes on, and
// its line is that of the next one.
func (l *Lines) readPlain(ctx context.Context) (string, error) {
	line, err := l.keys.await(ctx, func() ([]byte, error) { return l.plain.ReadBytes('\n') }, nil)
	if err == io.EOF && len(line) > 0 {
		err = nil
	}
	return strings.TrimRight(string(line), "\r\n"), err
}

// Echo turns the display of what the user types on or off, until restore is called.
// Nothing changes without a terminal, and in the background.
func (l *Lines) Echo(on bool) (restore func()) {
	if !l.Interactive {
		return func() {}
	}
	return setEcho(int(l.file.Fd()), on)
}

// history remembers the lines that were typed last, the newest first, but not short
// answers to questions. It implements [term.History].
type history struct{ lines []string }

const maxHistory = 100

// Add implements [term.History].
func (h *history) Add(line string) {
	if len(line) > 1 {
		h.lines = append([]string{line}, h.lines[:min(len(h.lines), maxHistory-1)]...)
	}
}

// Len implements [term.History].
func (h *history) Len() int { return len(h.lines) }

// At implements [term.History].
func (h *history) At(i int) string { return h.lines[i] }
