package cli

import (
	"bytes"
	"errors"
	"os"
	"sync"
	"time"

	"github.com/toolpost/toolpost/internal/group"
)

// maxRest is more than a pipe holds, unless a stranger writes on.
const maxRest = 1 << 20

// An output is the reading end of a pipe. At the command's end it keeps what
// the pipe still holds: others may have the pipe open for longer.
type output struct {
	mu    sync.Mutex // held by who reads
	file  *os.File
	ended bool
	rest  bytes.Buffer
}

// Read implements io.Reader.
func (o *output) Read(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.ended {
		n, err := o.file.Read(b)
		if !errors.Is(err, os.ErrDeadlineExceeded) && !errors.Is(err, os.ErrClosed) {
			return n, err
		}
		o.collect()
	}
	return o.rest.Read(b)
}

// end takes what was written up to now, and closes the file.
func (o *output) end() {
	if o.file.SetReadDeadline(time.Unix(1, 0)) != nil { // wakes who reads
		_ = o.file.Close() // a system without deadlines: closing wakes too
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.collect()
}

func (o *output) collect() {
	if o.ended {
		return
	}
	o.ended = true
	_ = o.file.SetReadDeadline(time.Time{}) // what is there is read without waiting
	b := make([]byte, 64<<10)
	for o.rest.Len() < maxRest {
		n, err := group.ReadNow(o.file, b)
		if n <= 0 || err != nil {
			break
		}
		o.rest.Write(b[:n])
	}
	_ = o.file.Close() // nothing is lost
}
