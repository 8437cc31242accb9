package terminal

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"golang.org/x/term"
)

// A keyboard is where keys come from. A read can be given up, although the system knows no
// such thing: it goes on, and what it returns is that of the next one.
type keyboard struct {
	from io.Reader
	rest []byte     // was read, and is of the next line
	late chan typed // of a read that was given up; nil if there is none
}

// typed is what a read returned.
type typed struct {
	keys []byte
	err  error
}

// maxKeys is how many bytes are read at once: an editor takes no more.
const maxKeys = 128

// next returns the keys that come next, at most those of one line. Tick is called now and
// then while there are none.
func (k *keyboard) next(ctx context.Context, tick func()) ([]byte, error) {
	keys := k.rest
	if len(keys) == 0 {
		var err error
		if keys, err = k.await(ctx, k.read, tick); err != nil {
			return nil, err
		}
	}
	end := len(keys)
	if i := bytes.IndexAny(keys, "\r\n"); i >= 0 {
		end = i + 1
		if bytes.HasPrefix(keys[i:], []byte("\r\n")) {
			end++
		}
	}
	k.rest = keys[end:]
	return keys[:end], nil
}

func (k *keyboard) read() ([]byte, error) {
	b := make([]byte, maxKeys)
	n, err := k.from.Read(b)
	return b[:n], err
}

// resizeEvery is how often the size of the terminal is looked at while a line is typed.
const resizeEvery = 200 * time.Millisecond

// await returns what read returns, or the reason why ctx has ended if that comes first.
func (k *keyboard) await(ctx context.Context, read func() ([]byte, error), tick func()) ([]byte, error) {
	late := k.late
	if late == nil {
		late = make(chan typed, 1)
		go func() {
			keys, err := read()
			late <- typed{keys, err}
		}()
	}
	k.late = nil
	var ticks <-chan time.Time
	if tick != nil {
		ticker := time.NewTicker(resizeEvery)
		defer ticker.Stop()
		ticks = ticker.C
	}
	for {
		select {
		case t := <-late:
			return t.keys, t.err
		case <-ticks:
			tick()
		case <-ctx.Done():
			k.late = late
			return nil, context.Cause(ctx)
		}
	}
}

// forget drops what was typed into a prompt after it was given up: that was for another
// question.
func (k *keyboard) forget() {
	select {
	case <-k.late: // a nil channel is never ready
		k.late = nil
	default:
	}
}

// typing is one line that is being typed.
type typing struct {
	ctx         context.Context
	lines       *Lines
	editor      *term.Terminal
	interrupted bool // Ctrl-C was pressed
}

// Read gives keys to the editor.
func (t *typing) Read(p []byte) (int, error) {
	keys, err := t.lines.keys.next(t.ctx, t.resize)
	t.interrupted = t.interrupted || strings.Contains(string(keys), ctrlC)
	n := copy(p, keys)
	t.lines.keys.rest = append(keys[n:], t.lines.keys.rest...) // the editor holds a part of a key
	return n, err
}

// resize adopts the size of the terminal, which the user may have changed.
func (t *typing) resize() {
	if width, height := Size(t.lines.out); width > 0 {
		_ = t.editor.SetSize(width, height) // an error is that of the next write
	}
}

func (t *typing) read() (string, error) {
	var pasted string
	for {
		line, err := t.editor.ReadLine()
		switch {
		case err == io.EOF && t.interrupted:
			return "", ErrInterrupt
		case !errors.Is(err, term.ErrPasteIndicator):
			return pasted + line, err
		}
		pasted += line + "\n"
	}
}
