package output_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"iter"
	"strings"
	"sync"
	"testing"

	"github.com/toolpost/toolpost/store"
)

// A shelf is a store that can be made to fail, and shows what it holds.
type shelf struct {
	mu     sync.Mutex
	blobs  map[string]string
	create error
	write  error // after room bytes
	room   int
	commit error
}

func newShelf() *shelf { return &shelf{blobs: map[string]string{}} }

func (s *shelf) Create(_ context.Context, name string) (store.Writer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.blobs[name]; ok {
		return nil, fs.ErrExist
	}
	return &shelfWriter{shelf: s, name: name}, s.create
}

func (s *shelf) Open(_ context.Context, name string) (store.Blob, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text, ok := s.blobs[name]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return &shelfBlob{Reader: strings.NewReader(text), text: text}, nil
}

func (s *shelf) List(context.Context) iter.Seq2[store.Info, error] {
	return func(func(store.Info, error) bool) {}
}

func (s *shelf) Remove(_ context.Context, name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.blobs, name)
	return nil
}

// whole returns what is stored under a reference, of whatever session.
func (s *shelf) whole(t *testing.T, ref string) string {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, text := range s.blobs {
		if strings.HasSuffix(name, "."+ref) {
			return text
		}
	}
	t.Fatalf("nothing is stored under %q", ref)
	return ""
}

func (s *shelf) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.blobs)
}

type shelfWriter struct {
	*shelf
	name string
	buf  bytes.Buffer
	done bool
}

func (w *shelfWriter) Write(p []byte) (int, error) {
	if w.done {
		return 0, errors.New("written after the end")
	}
	if w.shelf.write != nil && w.buf.Len()+len(p) > w.room {
		return 0, w.shelf.write
	}
	return w.buf.Write(p)
}

// AvailableBuffer lets texts be decoded into the shelf, as the writer of a folder does.
func (w *shelfWriter) AvailableBuffer() []byte {
	w.buf.Grow(1000)
	return w.buf.AvailableBuffer()
}

func (w *shelfWriter) Commit() (store.Info, error) {
	if w.done {
		return store.Info{}, errors.New("committed after the end")
	}
	w.done = true
	if w.shelf.commit != nil {
		return store.Info{}, w.shelf.commit
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.blobs[w.name] = w.buf.String()
	return store.Info{}, nil
}

func (w *shelfWriter) Close() error {
	w.done = true
	return nil
}

type shelfBlob struct {
	*strings.Reader
	text string
}

func (b *shelfBlob) Close() error { return nil }

func (b *shelfBlob) Info() store.Info {
	return store.Info{Size: int64(len(b.text)), Lines: countLines(b.text)}
}

func (b *shelfBlob) Line(n int64) (int64, error) {
	at := 0
	for ; n > 0; n-- {
		i := strings.IndexByte(b.text[at:], '\n')
		if i < 0 {
			return int64(len(b.text)), nil
		}
		at += i + 1
	}
	return int64(at), nil
}

func countLines(text string) int64 {
	n := int64(strings.Count(text, "\n"))
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}
