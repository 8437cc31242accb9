package upstream

import (
	"bufio"
	"bytes"
	"io"
	"iter"
	"strconv"
	"time"
)

// An event is one server-sent event (WHATWG HTML, 9.2.6).
type event struct {
	name, id string
	data     []byte
	retry    time.Duration // 0 if not said
}

// events reads events of at most max bytes from r. An event that the end of
// the stream cuts off is not one. The last error is why the stream ended.
func events(r io.Reader, max int) iter.Seq2[event, error] {
	return func(yield func(event, error) bool) {
		lines := &eventLines{r: bufio.NewReaderSize(r, 16<<10)}
		var ev event
		for first := true; ; first = false {
			line, err := lines.next(max - len(ev.data))
			if err == errTooLong {
				err = tooLong(max)
			}
			if err != nil {
				yield(event{}, err)
				return
			}
			if first {
				line = bytes.TrimPrefix(line, []byte("\uFEFF"))
			}
			if len(line) > 0 {
				ev.field(line)
				continue
			}
			done := ev
			done.data = bytes.TrimSuffix(ev.data, []byte("\n"))
			ev = event{}
			if !yield(done, nil) {
				return
			}
		}
	}
}

func (ev *event) field(line []byte) {
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "event":
		ev.name = string(value)
	case "id":
		ev.id = string(value)
	case "data":
		ev.data = append(append(ev.data, value...), '\n')
	case "retry":
		if ms, err := strconv.ParseUint(string(value), 10, 31); err == nil {
			ev.retry = time.Duration(ms) * time.Millisecond
		}
	}
}

// eventLines splits lines at LF, CR LF or CR.
type eventLines struct {
	r  *bufio.Reader
	cr bool // the last line ended with CR: an LF that follows belongs to it
}

func (l *eventLines) next(max int) ([]byte, error) {
	var line []byte
	for {
		if _, err := l.r.Peek(1); err != nil {
			return nil, err
		}
		part, _ := l.r.Peek(l.r.Buffered())
		if l.cr && part[0] == '\n' {
			l.cr = false
			l.r.Discard(1)
			continue
		}
		l.cr = false
		end := bytes.IndexAny(part, "\r\n")
		if end < 0 {
			end = len(part)
		}
		if line = append(line, part[:end]...); len(line) > max {
			return nil, errTooLong
		}
		if end == len(part) {
			l.r.Discard(end)
			continue
		}
		l.cr = part[end] == '\r'
		l.r.Discard(end + 1)
		return line, nil
	}
}
