// Package terminal reads from and writes to terminals: foreign text safely, pages in the
// width of the terminal, differences, edited lines and hidden input.
package terminal

import (
	"io"
	"os"
	"sync"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/toolpost/toolpost/internal/cleartext"
)

// A writer sanitizes what is written to a terminal: names, texts and errors come
// from foreign servers, and could control it.
type writer struct {
	*os.File

	mu   sync.Mutex
	rest []byte // the beginning of a character whose end has not come yet
}

// Safe returns f, or if f is a terminal a writer that sanitizes text.
func Safe(f *os.File) io.Writer {
	if Is(f) {
		return &writer{File: f}
	}
	return f
}

// Unsafe returns the terminal under a writer of [Safe], for text with control
// sequences of our own. All foreign parts of such text must be sanitized.
func Unsafe(w io.Writer) io.Writer {
	if t, ok := w.(*writer); ok {
		return t.File
	}
	return w
}

// Write writes all of p except an incomplete character at its end.
func (t *writer) Write(p []byte) (int, error) {
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
	if _, err := io.WriteString(t.File, cleartext.Sanitize(string(text[:end]))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// WriteString sanitizes too; the method of the file would not.
func (t *writer) WriteString(s string) (int, error) { return t.Write([]byte(s)) }

// ReadFrom sanitizes too.
func (t *writer) ReadFrom(r io.Reader) (int64, error) {
	return io.Copy(struct{ io.Writer }{t}, r)
}

// Size returns the columns and rows of the terminal that w writes to, 0 if it is
// not a terminal that can be drawn on.
func Size(w any) (width, height int) {
	if !Is(w) || os.Getenv("TERM") == "dumb" {
		return 0, 0
	}
	width, height, err := term.GetSize(int(w.(interface{ Fd() uintptr }).Fd()))
	if err != nil || width < 1 {
		return 80, 24
	}
	if height < 1 { // the terminal does not say
		height = 24
	}
	return width, height
}

// Is reports whether f is a terminal.
func Is(f any) bool {
	file, ok := f.(interface{ Fd() uintptr })
	return ok && term.IsTerminal(int(file.Fd()))
}
