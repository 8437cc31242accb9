package grep

import (
	"bytes"
	"fmt"
	"io"
)

// blockSize is about what fits into the cache of a core.
const blockSize = 256 << 10

// A block is a part of what is searched: whole lines, or one that is too long
// to be kept.
type block struct {
	data []byte
	long *Line // instead of data
	size int64 // bytes, of a long line too

	file *file // if data is still to be read
	at   int64 // there
}

// A source hands out blocks in order. One is valid until w asks for the next.
// With the last one or after it comes io.EOF.
type source interface {
	next(w *worker, l *Limits) (block, error)
}

// search has w search b. It returns false if the search was stopped, and the
// error that comes with the block.
func (b *block) search(w *worker, end error) (bool, error) {
	switch {
	case b.long != nil:
		return true, end
	case b.file == nil:
		return w.block(b.data), end
	}
	end = b.load(w, end)
	return w.block(b.data), end
}

// load reads the data of b, outside the lock that next is called in: to read is
// most of the work. It returns the error that comes with the block.
func (b *block) load(w *worker, end error) error {
	buf := w.buffer()[:b.size]
	n, err := b.file.r.ReadAt(buf, b.at)
	whole := n == len(buf)
	b.data, b.size = buf[:n], int64(n)
	switch {
	case whole:
		return end
	case err == nil || err == io.EOF:
		return io.EOF // it has been cut off meanwhile
	}
	return fmt.Errorf("read after %d bytes: %w", b.at+int64(n), err)
}

// memory is a source of data at hand.
type memory struct{ data []byte }

func (m *memory) next(_ *worker, _ *Limits) (block, error) {
	n := min(len(m.data), blockSize)
	if n < len(m.data) && m.data[n-1] != '\n' {
		n = min(len(m.data), lineEnd(m.data, n)+1)
	}
	b := block{data: m.data[:n], size: int64(n)}
	if m.data = m.data[n:]; len(m.data) == 0 {
		return b, io.EOF
	}
	return b, nil
}

// tail is how much is looked at for the end of the last line of a block.
const tail = 4 << 10

// A file is a source of what can be read anywhere. Where a line may be longer
// than tail, it goes on as a stream.
type file struct {
	r        io.ReaderAt
	at, size int64
	rest     *stream
}

func (f *file) next(w *worker, l *Limits) (block, error) {
	if f.rest != nil {
		return f.rest.next(w, l)
	}
	b := block{file: f, at: f.at, size: f.size - f.at}
	if b.size <= blockSize {
		f.at = f.size
		return b, io.EOF
	}
	end := w.buffer()[:tail]
	n, err := f.r.ReadAt(end, f.at+blockSize-tail)
	feed := bytes.LastIndexByte(end[:n], '\n')
	if err != nil || feed < 0 {
		f.rest = &stream{r: io.NewSectionReader(f.r, f.at, f.size-f.at), read: f.at}
		return f.rest.next(w, l)
	}
	b.size = blockSize - tail + int64(feed+1)
	f.at += b.size
	return b, nil
}

// A stream is a source of what is read.
type stream struct {
	r     io.Reader
	read  int64
	carry []byte // read, but of the next block
	err   error  // io.EOF at the end
}

func (s *stream) next(w *worker, l *Limits) (block, error) {
	n := s.fill(w, w.buffer())
	data := w.buf[:n]
	end := n
	if s.err == nil {
		end = lineStart(data, len(data))
	}
	if end == 0 && n == len(w.buf) {
		return s.long(w, l)
	}
	s.carry = append(s.carry[:0], data[end:]...)
	return block{data: data[:end], size: int64(end)}, s.fault()
}

// fill reads until buf is full, the stream ends or the search is stopped, and
// returns the number of bytes there are.
func (s *stream) fill(w *worker, buf []byte) int {
	n := copy(buf, s.carry)
	s.carry = s.carry[:copy(s.carry, s.carry[n:])]
	for idle := 0; n < len(buf) && s.err == nil && !w.isStopped(); idle++ {
		var k int
		k, s.err = s.r.Read(buf[n:])
		n += k
		s.read += int64(k)
		if k > 0 {
			idle = 0
		}
		if idle > 100 && s.err == nil {
			s.err = io.ErrNoProgress
		}
	}
	return n
}

// fault returns the error that comes with a block, which is nil as long as what
// was read is not in a block.
func (s *stream) fault() error {
	switch {
	case len(s.carry) > 0 || s.err == nil:
		return nil
	case s.err == io.EOF:
		return io.EOF
	}
	return fmt.Errorf("read after %d bytes: %w", s.read, s.err)
}
