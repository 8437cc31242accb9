package stdtool

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode/utf8"
)

// A Recorder takes the output of a command while it runs.
type Recorder interface {
	io.Writer

	// Text returns what the model is shown, and the reference of the whole
	// output, empty if there is no more. Output may follow.
	Text(ctx context.Context) (text, ref string)

	// Close ends the output.
	io.Closer
}

// A memory is a Recorder that keeps the beginning and the end only.
type memory struct {
	mu   sync.Mutex
	kept headTail
}

func (m *memory) Write(p []byte) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.kept.write(p)
	return len(p), nil
}

func (m *memory) Text(context.Context) (text, ref string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	text, _ = m.kept.text()
	return text, ""
}

func (m *memory) Close() error { return nil }

// half is how much is kept of the beginning, and of the end. Its double, with
// what else a result tells, is below maxOutput.
const half = maxOutput/2 - 500

// A headTail keeps the beginning and the end of what is written.
type headTail struct {
	head, tail []byte // the tail's last bytes count, up to half
	total      int64
}

func (h *headTail) write(p []byte) {
	h.total += int64(len(p))
	n := min(len(p), half-len(h.head))
	h.head, p = append(h.head, p[:n]...), p[n:]
	p = p[max(0, len(p)-half):]
	if len(h.tail)+len(p) > 2*half {
		h.tail = h.tail[:copy(h.tail, h.tail[len(h.tail)-half:])]
	}
	h.tail = append(h.tail, p...)
}

// text returns what is kept, and how many bytes were left out between.
func (h *headTail) text() (text string, left int64) {
	head, tail := h.head, h.tail[max(0, len(h.tail)-half):]
	left = h.total - int64(len(head)+len(tail))
	if left == 0 {
		return validUTF8(string(head) + string(tail)), 0
	}
	if i := bytes.LastIndexByte(head, '\n'); i >= 0 {
		head = head[:i+1]
	}
	head = head[:len(head)-countUnfinished(head)]
	if i := bytes.IndexByte(tail, '\n'); i >= 0 && i+1 < len(tail) {
		tail = tail[i+1:]
	}
	for n := 0; n < utf8.UTFMax-1 && len(tail) > 0 && !utf8.RuneStart(tail[0]); n++ {
		tail = tail[1:]
	}
	left = h.total - int64(len(head)+len(tail))
	mark := fmt.Sprintf("\n[%d bytes are left out here: to see them, write the output to a file or filter it]\n\n", left)
	return validUTF8(string(head)) + mark + validUTF8(string(tail)), left
}

// dropUnfinished takes the beginning of a character away from the end.
func (h *headTail) dropUnfinished() []byte {
	end := &h.tail
	if len(h.tail) == 0 {
		end = &h.head
	}
	n := countUnfinished(*end)
	rest := bytes.Clone((*end)[len(*end)-n:])
	*end = (*end)[:len(*end)-n]
	h.total -= int64(n)
	return rest
}

// countUnfinished returns how many bytes at the end of a text begin a character that is not
// complete.
func countUnfinished(text []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if last := text[len(text)-n:]; utf8.RuneStart(last[0]) {
			if utf8.FullRune(last) {
				return 0
			}
			return n
		}
	}
	return 0
}

func validUTF8(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }
