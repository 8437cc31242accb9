package main

import (
	"io"
	"os"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/toolpost/toolpost/internal/cleartext"
)

// A terminal makes what is written to a terminal harmless: names, texts and
// errors come from foreign servers, and would steer it.
type terminal struct {
	*os.File

	mu   sync.Mutex
	rest []byte // the beginning of a character whose end has not come yet
}

// safely returns f, or if f is a terminal a writer that makes text harmless.
func safely(f *os.File) io.Writer {
	if isTerminal(f) {
		return &terminal{File: f}
	}
	return f
}

// unsafely returns the writer under a terminal, for text that steers it on
// purpose. All foreign parts of such text must have been made harmless.
func unsafely(w io.Writer) io.Writer {
	if t, ok := w.(*terminal); ok {
		return t.File
	}
	return w
}

// Write writes all of p but a character that is not whole yet.
func (t *terminal) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := append(t.rest, p...)
	end := len(text)
	for i := 1; i < utf8.UTFMax && i <= len(text); i++ {
		if start := len(text) - i; utf8.RuneStart(text[start]) {
			if !utf8.FullRune(text[start:]) {
				end = start
			}
			break
		}
	}
	t.rest = append([]byte(nil), text[end:]...)
	if _, err := io.WriteString(t.File, harmless(string(text[:end]))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// WriteString makes s harmless too: that of the file would not.
func (t *terminal) WriteString(s string) (int, error) { return t.Write([]byte(s)) }

// ReadFrom makes what it reads harmless too.
func (t *terminal) ReadFrom(r io.Reader) (int64, error) {
	return io.Copy(struct{ io.Writer }{t}, r)
}

// terminalSize returns the size of the terminal that w writes to, 0 if it is
// not a terminal that can be drawn on.
func terminalSize(w any) (width, height int) {
	if !isTerminal(w) || os.Getenv("TERM") == "dumb" {
		return 0, 0
	}
	width, height, err := term.GetSize(int(w.(interface{ Fd() uintptr }).Fd()))
	if err != nil || width < 1 {
		return 80, 24
	}
	return width, height
}

// isTerminal reports whether f is a terminal.
func isTerminal(f any) bool {
	file, ok := f.(interface{ Fd() uintptr })
	return ok && term.IsTerminal(int(file.Fd()))
}

// printable makes one line of s that cannot steer a terminal.
func printable(s string) string {
	return harmless(strings.NewReplacer("\t", " ", "\n", " ").Replace(s))
}

// harmless replaces what could steer a terminal or hide in it, and keeps lines
// and tabs.
func harmless(s string) string {
	return strings.Map(func(r rune) rune {
		visible := unicode.IsPrint(r) || unicode.In(r, unicode.Zs, unicode.Cf) || r == '\n' || r == '\t'
		if r == utf8.RuneError || !visible {
			return '·'
		}
		return r
	}, cleartext.Mark(strings.ReplaceAll(s, "\r\n", "\n"), '·'))
}
