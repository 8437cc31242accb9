package procgroup

import (
	"bytes"
	"strings"
	"sync"
)

// A Tail keeps the end of what is written to it, such as what a process writes to
// its standard error output.
type Tail struct {
	Most int // bytes that String returns

	mu   sync.Mutex
	kept []byte
}

// Write keeps the last bytes. It never fails.
func (t *Tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	keep := 2 * t.Most // white space at the end does not count
	if t.kept == nil {
		t.kept = make([]byte, 0, 2*keep)
	}
	t.kept = append(t.kept, p[max(0, len(p)-keep):]...)
	t.kept = t.kept[:copy(t.kept, t.kept[max(0, len(t.kept)-keep):])]
	return len(p), nil
}

// String returns the last lines, whole ones if there are several.
func (t *Tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	b := bytes.TrimSpace(t.kept)
	if len(b) > t.Most {
		b = b[len(b)-t.Most:]
		if i := bytes.IndexByte(b, '\n'); i >= 0 {
			b = b[i+1:]
		}
	}
	return strings.ToValidUTF8(string(b), "\uFFFD")
}
