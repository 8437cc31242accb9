package longjson

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"sync"
)

// inBuffers is the number of bytes of a message that are kept in memory. A
// longer message is moved to a file as a whole.
const inBuffers = 2 << 20

// A Spool holds a message that arrives in pieces. It keeps a message of up to
// inBuffers bytes in memory, and a longer one in a file. Without a folder for
// files, or on a full disk, it keeps the whole message in memory.
type Spool struct {
	dir     string // "" for none
	from    *Buffers
	buffers []*Buffer
	file    *os.File
	size    int64
	Err     error // the error that prevented the file; nil if there was none
}

// A Buffer is a piece of memory that long JSON is stored in or copied through.
type Buffer [64 << 10]byte

// Buffers is a pool of unused buffers. The zero value is ready to use.
type Buffers struct{ pool sync.Pool }

// Get returns a buffer from the pool, or a new one.
func (b *Buffers) Get() *Buffer {
	if used, ok := b.pool.Get().(*Buffer); ok {
		return used
	}
	return new(Buffer)
}

// Put returns a buffer that is no longer used to the pool.
func (b *Buffers) Put(used *Buffer) { b.pool.Put(used) }

// NewSpool returns a spool whose files are in a folder, which need not exist.
func NewSpool(dir string, from *Buffers) *Spool { return &Spool{dir: dir, from: from} }

// Add appends p. Where the file cannot take it, all goes back to memory, which
// may take most bytes; Add returns an error if that is not enough.
func (s *Spool) Add(p []byte, most int64) error {
	if s.file == nil && s.dir != "" && s.Err == nil && s.size+int64(len(p)) > inBuffers {
		s.Err = s.toFile()
	}
	if s.file != nil {
		if _, s.Err = s.file.WriteAt(p, s.size); s.Err == nil {
			s.size += int64(len(p))
			return nil
		}
	}
	if s.Err != nil && s.size+int64(len(p)) > most {
		return s.Err
	}
	if s.file != nil {
		if err := s.toMemory(); err != nil {
			return err
		}
	}
	s.fill(p)
	return nil
}

// fill appends p to the buffers.
func (s *Spool) fill(p []byte) {
	for len(p) > 0 {
		at := int(s.size % int64(len(Buffer{})))
		if at == 0 {
			s.buffers = append(s.buffers, s.from.Get())
		}
		n := copy(s.buffers[len(s.buffers)-1][at:], p)
		s.size += int64(n)
		p = p[n:]
	}
}

// toFile moves what there is to a file. It has no name where the system allows
// that, so that nothing is left of it whatever happens.
func (s *Spool) toFile() error {
	file, err := os.CreateTemp(s.dir, "toolpost-message-*")
	if errors.Is(err, fs.ErrNotExist) && os.MkdirAll(s.dir, 0o700) == nil { // the folder was removed
		file, err = os.CreateTemp(s.dir, "toolpost-message-*")
	}
	if err != nil {
		return err
	}
	_ = os.Remove(file.Name()) // Close tries again
	if err = s.Copy(file, Span{0, s.size}); err != nil {
		remove(file)
		return err
	}
	s.release()
	s.file = file
	return nil
}

// toMemory moves what is in the file to buffers.
func (s *Spool) toMemory() error {
	file, size := s.file, s.size
	defer remove(file)
	s.file, s.size = nil, 0
	buffer := s.from.Get()
	defer s.from.Put(buffer)
	for r := io.NewSectionReader(file, 0, size); s.size < size; {
		n, err := r.Read(buffer[:])
		if err != nil {
			return err
		}
		s.fill(buffer[:n])
	}
	return nil
}

func remove(file *os.File) {
	_ = file.Close()
	_ = os.Remove(file.Name()) // where open files cannot be removed
}

func (s *Spool) release() {
	for _, b := range s.buffers {
		s.from.Put(b)
	}
	s.buffers = nil
}

// ReadAt implements [io.ReaderAt].
func (s *Spool) ReadAt(p []byte, from int64) (n int, err error) {
	if s.file != nil {
		n, err = s.file.ReadAt(p, from)
		return n, withoutPath(err)
	}
	for n < len(p) && from < s.heldBytes() {
		part := copy(p[n:], s.after(from))
		n, from = n+part, from+int64(part)
	}
	if n < len(p) {
		err = io.EOF
	}
	return n, err
}

// heldBytes returns how much is in the buffers; nothing after Close.
func (s *Spool) heldBytes() int64 {
	if s.buffers == nil {
		return 0
	}
	return s.size
}

// after returns what the buffer at an offset has from there on.
func (s *Spool) after(from int64) []byte {
	size := int64(len(Buffer{}))
	b := s.buffers[from/size]
	return b[from%size : min(size, s.size-from/size*size)]
}

// piece returns bytes that a part begins with, all of it or as many as an escape has: those
// in one buffer, or all, which are read into b.
func (s *Spool) piece(part Span, b []byte) ([]byte, error) {
	if s.file == nil && part.size() > 0 && part.To <= s.heldBytes() {
		p := s.after(part.From)
		if p = p[:min(int64(len(p)), part.size())]; len(p) >= longest || int64(len(p)) == part.size() {
			return p, nil
		}
	}
	n, err := s.ReadAt(b[:part.size()], part.From)
	switch {
	case int64(n) == part.size():
		return b[:n], nil
	case err == io.EOF:
		err = io.ErrUnexpectedEOF
	}
	return nil, err
}

// Copy writes a part. If w is a connection, the operating system copies a file.
func (s *Spool) Copy(w io.Writer, part Span) error {
	if s.file == nil {
		for from := part.From; from < part.To; {
			if part.To > s.heldBytes() {
				return errClosed
			}
			b := s.after(from)
			b = b[:min(int64(len(b)), part.To-from)]
			if _, err := w.Write(b); err != nil {
				return err
			}
			from += int64(len(b))
		}
		return nil
	}
	if _, err := s.file.Seek(part.From, io.SeekStart); err != nil {
		return withoutPath(err)
	}
	buffer := s.from.Get()
	defer s.from.Put(buffer)
	n, err := io.CopyBuffer(w, io.LimitReader(s.file, part.size()), buffer[:])
	if err == nil && n < part.size() {
		err = io.ErrUnexpectedEOF
	}
	return withoutPath(err)
}

// withoutPath leaves out where a file is: clients hear of the error.
func withoutPath(err error) error {
	if path := (*fs.PathError)(nil); errors.As(err, &path) {
		return path.Err
	}
	return err
}

// Close releases the buffers and removes the file. The file of a Spool that is
// not closed remains until the garbage collector finds it.
func (s *Spool) Close() {
	s.release()
	if s.file != nil {
		remove(s.file)
		s.file = nil
	}
}
