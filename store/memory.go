package store

import (
	"container/list"
	"context"
	"io"
	"io/fs"
	"iter"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Memory returns a Store in memory.
func Memory(opts *Options) Store {
	return &memory{limits: opts.withDefaults(256 << 20), blobs: map[string]*list.Element{}, used: list.New()}
}

type memory struct {
	limits Options

	mu    sync.Mutex
	size  int64 // of the blobs
	held  int64 // bytes of writers, and of blobs that are removed and still read
	blobs map[string]*list.Element
	used  *list.List // of *kept, oldest use first
}

type keptBlob struct {
	info    Info // of the last use
	index   index
	pages   pages
	readers int
	removed bool
}

func (m *memory) Create(ctx context.Context, name string) (Writer, error) {
	err := begin(ctx, name)
	if err == nil && m.find(name) != nil {
		err = fs.ErrExist
	}
	if err != nil {
		return nil, failure("create", name, err)
	}
	return &memoryWriter{store: m, name: name, blob: &keptBlob{}}, nil
}

func (m *memory) Open(ctx context.Context, name string) (Blob, error) {
	if err := begin(ctx, name); err != nil {
		return nil, failure("open", name, err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.expire()
	e := m.blobs[name]
	if e == nil {
		return nil, failure("open", name, fs.ErrNotExist)
	}
	b := e.Value.(*keptBlob)
	b.info.Used = now()
	b.readers++
	m.used.MoveToBack(e)
	return &memoryBlob{store: m, kept: b, info: b.info}, nil
}

func (m *memory) List(ctx context.Context) iter.Seq2[Info, error] {
	return func(yield func(Info, error) bool) {
		for _, info := range m.list() {
			if err := ctx.Err(); err != nil {
				yield(Info{}, err)
				return
			}
			if !yield(info, nil) {
				return
			}
		}
	}
}

func (m *memory) list() []Info {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.expire()
	var all []Info
	for e := m.used.Front(); e != nil; e = e.Next() {
		all = append(all, e.Value.(*keptBlob).info)
	}
	return all
}

func (m *memory) Remove(ctx context.Context, name string) error {
	if err := begin(ctx, name); err != nil {
		return failure("remove", name, err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.expire()
	e := m.blobs[name]
	if e == nil {
		return failure("remove", name, fs.ErrNotExist)
	}
	m.drop(e)
	return nil
}

func (m *memory) find(name string) *list.Element {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.expire()
	return m.blobs[name]
}

// keep gives a blob its name.
func (m *memory) keep(b *keptBlob) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.expire()
	if m.blobs[b.info.Name] != nil {
		return fs.ErrExist
	}
	for e := m.used.Front(); e != nil && m.size+b.info.Size > m.limits.Max; {
		oldest := e
		e = e.Next()
		m.dropUnread(oldest)
	}
	if m.size+b.info.Size > m.limits.Max {
		return m.limits.full()
	}
	m.blobs[b.info.Name] = m.used.PushBack(b)
	m.size += b.info.Size
	return nil
}

// expire drops what was not used for too long, and is not in use.
func (m *memory) expire() {
	for e := m.used.Front(); e != nil && m.limits.isExpired(e.Value.(*keptBlob).info.Used, time.Now()); {
		oldest := e
		e = e.Next()
		m.dropUnread(oldest)
	}
}

func (m *memory) dropUnread(e *list.Element) {
	if e.Value.(*keptBlob).readers == 0 {
		m.drop(e)
	}
}

func (m *memory) drop(e *list.Element) {
	b := m.used.Remove(e).(*keptBlob)
	delete(m.blobs, b.info.Name)
	m.size -= b.info.Size
	if b.removed = true; b.readers > 0 {
		m.held += b.info.Size
	}
}

// hold counts bytes that no blob has yet. Together they have the limit of all blobs: no
// blob goes for output that may never be complete.
func (m *memory) hold(n int64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if n > m.limits.Max-m.held {
		return m.limits.full()
	}
	m.held += n
	return nil
}

func (m *memory) release(n int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.held -= n
}

type memoryWriter struct {
	store *memory
	name  string

	mu   sync.Mutex
	blob *keptBlob
	err  error // why nothing more is taken
}

func (w *memoryWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		if err := w.store.hold(int64(len(p))); err != nil {
			w.end(err)
		}
	}
	if w.err != nil {
		return 0, failure("write", w.name, w.err)
	}
	w.blob.index.add(p)
	w.blob.pages.add(p)
	return len(p), nil
}

func (w *memoryWriter) Commit() (Info, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return Info{}, failure("commit", w.name, w.err)
	}
	b, at := w.blob, now()
	info := Info{Name: w.name, Size: b.index.size, Lines: b.index.total(), Created: at, Used: at}
	b.info = info
	err := w.store.keep(b)
	w.end(fs.ErrClosed)
	if err != nil {
		return Info{}, failure("commit", w.name, err)
	}
	return info, nil
}

func (w *memoryWriter) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		w.end(fs.ErrClosed)
	}
	return nil
}

func (w *memoryWriter) end(why error) {
	w.store.release(w.blob.index.size)
	w.err, w.blob = why, nil
}

type memoryBlob struct {
	store  *memory
	kept   *keptBlob
	info   Info
	closed atomic.Bool
}

func (b *memoryBlob) Info() Info { return b.info }

func (b *memoryBlob) ReadAt(p []byte, at int64) (int, error) {
	if b.closed.Load() {
		return 0, failure("read", b.info.Name, fs.ErrClosed)
	}
	return b.kept.pages.ReadAt(p, at)
}

func (b *memoryBlob) Line(n int64) (int64, error) {
	at, err := b.kept.index.find(b, n)
	if err != nil {
		return 0, failure("read", b.info.Name, err)
	}
	return at, nil
}

func (b *memoryBlob) Close() error {
	if !b.closed.Swap(true) {
		b.store.mu.Lock()
		defer b.store.mu.Unlock()
		if b.kept.readers--; b.kept.removed && b.kept.readers == 0 {
			b.store.held -= b.kept.info.Size
		}
	}
	return nil
}

// pages are bytes in pieces of the size of a chunk, so that they grow without
// being copied.
type pages [][]byte

func (s *pages) add(p []byte) {
	for len(p) > 0 {
		last := len(*s) - 1
		switch {
		case last < 0:
			*s = append(*s, nil) // grows, because most blobs end in it
			continue
		case len((*s)[last]) == chunk:
			*s = append(*s, make([]byte, 0, chunk))
			continue
		}
		n := min(len(p), chunk-len((*s)[last]))
		(*s)[last] = append((*s)[last], p[:n]...)
		p = p[n:]
	}
}

// ReadAt implements [io.ReaderAt].
func (s pages) ReadAt(p []byte, at int64) (n int, err error) {
	if at < 0 {
		return 0, io.EOF
	}
	for page := range slices.Values(s[min(at/chunk, int64(len(s))):]) {
		from := min(at%chunk, int64(len(page)))
		if n > 0 {
			from = 0
		}
		n += copy(p[n:], page[from:])
		if n == len(p) {
			return n, nil
		}
	}
	return n, io.EOF
}
