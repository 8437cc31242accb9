package procgroup

import (
	"bytes"
	"errors"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// maxRest is more than a pipe holds. Endless output is cut there.
const maxRest = 1 << 20

// An Output reads what a command writes to a pipe. It ends with the command,
// also if others have the pipe open for longer.
type Output struct {
	ending atomic.Bool // readers are interrupted, where reading has no deadlines
	mu     sync.Mutex  // held by who reads
	file   *os.File
	ended  bool
	large  bool // its pipe counts in enlarged
	rest   bytes.Buffer
}

// maxEnlarged is how many pipes of a process hold more than others. Linux lets the pipes of a
// user hold 64 MiB, those of all programs together; beyond that, a pipe holds next to nothing.
const maxEnlarged = 64

var enlarged atomic.Int32

// Pipe returns an Output and the file for the command to write to, which the
// caller closes when the command has started.
func Pipe() (*Output, *os.File, error) {
	ours, theirs, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	return &Output{file: ours}, theirs, nil
}

// Enlarge lets the pipe hold more than others, where that is possible, for a command that
// writes much at once. It is called before anybody reads.
func (o *Output) Enlarge() {
	if enlarged.Add(1) > maxEnlarged {
		enlarged.Add(-1)
		return
	}
	o.large = true
	enlarge(o.file)
}

// Read implements io.Reader.
func (o *Output) Read(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.ended && !o.ending.Load() {
		n, err := o.file.Read(b)
		interrupted := errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, os.ErrClosed) ||
			err != nil && o.ending.Load()
		if n > 0 || !interrupted {
			return n, err
		}
	}
	o.collect()
	return o.rest.Read(b)
}

// End closes the pipe. Output that was written before can still be read.
func (o *Output) End() {
	if errors.Is(o.file.SetReadDeadline(time.Unix(1, 0)), os.ErrNoDeadline) { // it wakes who reads
		time.Sleep(250 * time.Millisecond) // on such a system what is there is read first
		o.ending.Store(true)
		for !o.mu.TryLock() { // a reader may just be about to read: one interrupt is not enough
			interrupt(o.file)
			time.Sleep(5 * time.Millisecond)
		}
	} else {
		o.mu.Lock()
	}
	defer o.mu.Unlock()
	o.collect()
}

func (o *Output) collect() {
	if o.ended {
		return
	}
	o.ended = true
	if o.large {
		enlarged.Add(-1)
	}
	_ = o.file.SetReadDeadline(time.Time{}) // what is there is read without waiting
	b := make([]byte, 64<<10)
	for o.rest.Len() < maxRest {
		n, err := readNow(o.file, b)
		if n <= 0 || err != nil {
			break
		}
		o.rest.Write(b[:n])
	}
	_ = o.file.Close() // nothing is lost
}
