package stdtool

import (
	"context"
	"errors"
	"io"
	"os"
	"runtime"
	"sync"
	"syscall"

	"github.com/toolpost/toolpost/grep"
)

const (
	batchSize = 32      // files that a worker takes at once
	ahead     = 8       // batches that wait
	wholeFile = 1 << 20 // files up to that size are read at once
)

// A found is what a search found in one file.
type found struct {
	entry
	result *grep.Result // nil if the file is binary or cannot be read
}

// A batch is files that are searched one after the other.
type batch struct {
	files []found
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
			var buf []byte
			for b := range work {
				for i := range b.files {
					buf = s.search(ctx, &b.files[i], buf)
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
	if s.full && !errors.Is(context.Cause(ctx), errLate) {
		return false, nil
	}
	return late, err
}

// collect walks, and sends the files that are to be searched in batches.
func (s *search) collect(ctx context.Context, root *os.Root, dir string, send func(*batch)) (late bool, err error) {
	b := &batch{done: make(chan struct{})}
	w := walk{root: root, all: s.Ignored, visit: func(_ context.Context, e entry) error {
		if !e.mode.IsRegular() || !s.wanted(below(dir, e.name)) {
			return nil
		}
		e.place.hold()
		if b.files = append(b.files, found{entry: e}); len(b.files) == batchSize {
			send(b)
			b = &batch{done: make(chan struct{})}
		}
		return nil
	}}
	late, err = w.run(ctx, dir)
	send(b)
	return late, err
}

// search searches one file, and lets its folder go. It uses buf, or returns a
// larger one.
func (s *search) search(ctx context.Context, f *found, buf []byte) []byte {
	defer f.place.release()
	if ctx.Err() != nil {
		return buf
	}
	// Non-blocking, and with a deadline, in case a pipe took the file's place.
	file, err := f.place.root.OpenFile(f.file, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return buf
	}
	defer file.Close()
	if deadline, ok := ctx.Deadline(); ok {
		_ = file.SetReadDeadline(deadline) // regular files have none
	}
	size := f.size
	if want := int(min(size, wholeFile)); len(buf) < want {
		buf = make([]byte, max(want, 64<<10))
	}
	n, err := io.ReadFull(file, buf[:min(size, wholeFile)])
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return buf
	}
	if binary(buf[:min(n, 8000)]) {
		return buf
	}
	if size > wholeFile {
		f.result, err = s.compiled.File(ctx, file, size, s.limits)
	} else {
		f.result, err = s.compiled.Bytes(ctx, buf[:n], s.limits)
	}
	if err != nil {
		f.result = nil
	}
	return buf
}
