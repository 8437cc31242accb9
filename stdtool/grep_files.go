package stdtool

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"runtime"
	"sync"
	"unicode/utf8"

	"github.com/toolpost/toolpost/internal/grep"
	"github.com/toolpost/toolpost/stdtool/internal/encodings"
)

const (
	batchSize = 32        // files that a worker takes at once
	ahead     = 8         // batches that wait
	wholeFile = 256 << 10 // files below that size are read at once
)

// A fileResult is what a search found in one file.
type fileResult struct {
	entry
	result  *grep.Result // nil if the file is binary or cannot be read
	foreign bool         // searched as bytes, although it is not UTF-8 and that matters
}

// A batch is files that are searched one after the other.
type batch struct {
	files []fileResult
	done  chan struct{}
}

// run searches files over the cores, and shows what they found in order of
// names:
//
//	walk ─▶ batches ─▶ workers
//	           └───────────┴─▶ add, in order
func (s *search) run(ctx context.Context, root *os.Root, dir string) (late bool, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, maxRun, errLate)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	work, ordered := make(chan *batch, ahead), make(chan *batch, ahead)
	for range runtime.GOMAXPROCS(0) {
		running.Go(func() {
			buf := make([]byte, wholeFile)
			for b := range work {
				for i := range b.files {
					s.search(ctx, &b.files[i], buf)
				}
				close(b.done)
			}
		})
	}
	running.Go(func() {
		defer close(ordered)
		defer close(work)
		late, err = s.collect(ctx, root, dir, func(b *batch) {
			ordered <- b
			work <- b
		})
	})
	for b := range ordered {
		<-b.done
		for i := range b.files {
			if f := &b.files[i]; !s.full && (f.result != nil || ctx.Err() == nil) {
				s.add(f)
			}
		}
		if s.full {
			cancel() // what is under way ends soon, and adds nothing
		}
	}
	if errors.Is(context.Cause(ctx), errLate) {
		return true, err // some file was not searched to its end
	}
	if s.full {
		return false, nil
	}
	return late, err
}

// collect walks, and sends the files that are to be searched in batches.
func (s *search) collect(ctx context.Context, root *os.Root, dir string, send func(*batch)) (late bool, err error) {
	b := &batch{done: make(chan struct{})}
	w := walk{root: root, all: s.Ignored, visit: func(_ context.Context, e entry) error {
		if !e.mode.IsRegular() || !s.selects(relativeTo(dir, e.name)) {
			return nil
		}
		e.place.hold()
		if b.files = append(b.files, fileResult{entry: e}); len(b.files) == batchSize {
			send(b)
			b = &batch{done: make(chan struct{})}
		}
		return nil
	}}
	late, err = w.run(ctx, dir)
	send(b)
	return late, err
}

// search searches one file by means of buf, and lets its folder go.
func (s *search) search(ctx context.Context, f *fileResult, buf []byte) {
	defer f.place.release()
	if ctx.Err() != nil {
		return
	}
	n, err := patiently(ctx, func() (int, error) { return f.place.read(f.file, buf) })
	if err != nil {
		return
	}
	head := buf[:min(n, encodings.BinaryHead)]
	utf16 := encodings.UTF16(head)
	if utf16 == nil && s.legacy != nil && s.legacy.IsUTF16() && binary(head) {
		utf16 = s.legacy
	}
	switch {
	case utf16 == nil && binary(head):
		return
	case n == len(buf):
		f.result, err = s.large(ctx, f, buf, utf16)
	default:
		f.result, err = s.whole(ctx, f, buf[:n], utf16)
	}
	if err != nil {
		f.result = nil
	}
}

// whole searches the content of a file.
func (s *search) whole(ctx context.Context, f *fileResult, content []byte, utf16 *encodings.Encoding) (*grep.Result, error) {
	content, err := s.decode(content, utf16)
	if err != nil {
		return nil, err
	}
	r, err := s.compiled.Bytes(ctx, bytes.TrimPrefix(content, bom), s.limits)
	f.foreign = err == nil && (r.Matches > 0 || s.beyondASCII) && !utf8.Valid(content)
	return r, err
}

// decode returns the text of a file, and its bytes if they are in another encoding than
// the one that is given.
func (s *search) decode(content []byte, utf16 *encodings.Encoding) ([]byte, error) {
	switch {
	case utf16 != nil:
		text, err := utf16.Text(content)
		if err == nil && utf16 == s.legacy && bytes.ContainsAny(text, "\x00\uFFFD") {
			err = errBinary
		}
		return text, err
	case s.legacy != nil && !utf8.Valid(content):
		if text, err := s.legacy.Text(content); err == nil && !bytes.ContainsRune(text, utf8.RuneError) {
			return text, nil
		}
	}
	return content, nil
}

// large searches a file of which buf is the beginning. It is decoded in memory if it
// has to be, and is small enough.
func (s *search) large(ctx context.Context, f *fileResult, buf []byte, utf16 *encodings.Encoding) (*grep.Result, error) {
	file, err := patiently(ctx, func() (*os.File, error) { return f.place.file(f.file) })
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	size := info.Size()
	text := utf8.Valid(wholeRunes(buf))
	decode := utf16 != nil || s.legacy != nil && !text
	if decode && size <= encodings.MaxTried {
		content, err := io.ReadAll(io.LimitReader(file, encodings.MaxTried))
		if err != nil {
			return nil, err
		}
		return s.whole(ctx, f, content, utf16)
	}
	if utf16 != nil {
		return nil, errBinary
	}
	from := int64(len(buf) - len(bytes.TrimPrefix(buf, bom)))
	r, err := s.compiled.File(ctx, io.NewSectionReader(file, from, size-from), size-from, s.limits)
	f.foreign = err == nil && (r.Matches > 0 || s.beyondASCII) && !text
	return r, err
}

// errBinary reports that a file is not searched.
var errBinary = errors.New("the file is binary")
