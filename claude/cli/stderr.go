package cli

import (
	"bufio"
	"bytes"
	"strings"
	"sync"

	"github.com/toolpost/toolpost/internal/group"
)

const (
	maxTail      = 8 << 10
	maxErrorLine = 64 << 10 // of a longer one the beginning is told
)

// A stderr reads the standard error output and keeps its end.
type stderr struct {
	output *group.Output
	done   chan struct{} // closed at its end

	mu   sync.Mutex
	last []byte // whole lines, without secrets
}

func newStderr(output *group.Output) *stderr {
	return &stderr{output: output, done: make(chan struct{})}
}

func (s *stderr) read(tell func(line string), hide *strings.Replacer) {
	defer close(s.done)
	r := bufio.NewReaderSize(s.output, maxErrorLine)
	for within := false; ; {
		part, err := r.ReadSlice('\n')
		if !within && len(part) > 0 {
			line := string(bytes.TrimRight(part, "\r\n"))
			s.keep(hide.Replace(line))
			if tell != nil {
				tell(line)
			}
		}
		within = err == bufio.ErrBufferFull
		if err != nil && !within {
			return
		}
	}
}

func (s *stderr) keep(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = append(append(s.last, line...), '\n')
	if excess := len(s.last) - maxTail; excess > 0 {
		cut := excess
		if end := bytes.IndexByte(s.last[excess-1:len(s.last)-1], '\n'); end >= 0 {
			cut = excess + end // whole lines only, if there is more than one
		}
		s.last = bytes.Clone(s.last[cut:])
	}
}

// tail returns the last lines.
func (s *stderr) tail() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.ToValidUTF8(strings.TrimSpace(string(s.last)), "\ufffd")
}
