package cli

import (
	"bufio"
	"bytes"
	"strings"

	"github.com/toolpost/toolpost/internal/procgroup"
)

const (
	maxTail      = 8 << 10
	maxErrorLine = 64 << 10 // of a longer one the beginning is told
)

// A stderr reads the standard error output and keeps its end.
type stderr struct {
	output *procgroup.Output
	done   chan struct{}  // closed at its end
	tail   procgroup.Tail // without secrets
}

func newStderr(output *procgroup.Output) *stderr {
	return &stderr{output: output, done: make(chan struct{}), tail: procgroup.Tail{Most: maxTail}}
}

func (s *stderr) read(tell func(line string), hide *strings.Replacer) {
	defer close(s.done)
	r := bufio.NewReaderSize(s.output, maxErrorLine)
	for within := false; ; {
		part, err := r.ReadSlice('\n')
		if !within && len(part) > 0 {
			line := string(bytes.TrimRight(part, "\r\n"))
			_, _ = s.tail.Write([]byte(hide.Replace(line) + "\n"))
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
