package upstream

import (
	"bytes"
	"strings"
	"sync"
)

const (
	tailKept  = 8 << 10
	tailShown = 2 << 10
)

// A tail keeps the last bytes written to it.
type tail struct {
	mu   sync.Mutex
	kept []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.kept == nil {
		t.kept = make([]byte, 0, 2*tailKept)
	}
	t.kept = append(t.kept, p[max(0, len(p)-tailKept):]...)
	t.kept = t.kept[:copy(t.kept, t.kept[max(0, len(t.kept)-tailKept):])]
	return len(p), nil
}

// String returns the last lines, short enough for an error.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	b := bytes.TrimSpace(t.kept)
	if len(b) > tailShown {
		b = b[len(b)-tailShown:]
		if i := bytes.IndexByte(b, '\n'); i >= 0 {
			b = b[i+1:]
		}
	}
	return strings.ToValidUTF8(string(b), "\uFFFD")
}
