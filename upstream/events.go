package upstream

import (
	"bufio"
	"bytes"
	"io"
	"iter"
	"log/slog"
	"strconv"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// An event is one server-sent event (WHATWG HTML, 9.2.6).
type event struct {
	name, id string
	data     *body         // nil if it has none
	retry    time.Duration // 0 if not said
}

// events reads events from r. One that the end of the stream cuts off is not
// one. The last error is why the stream ended.
func events(r io.Reader, l *limits) iter.Seq2[event, error] {
	return func(yield func(event, error) bool) {
		lines := &eventLines{r: bufio.NewReaderSize(r, 16<<10)}
		var ev event
		for first := true; ; first = false {
			line, ended, err := lines.next()
			if first {
				line = bytes.TrimPrefix(line, []byte("\uFEFF"))
			}
			if err == nil && (len(line) > 0 || !ended) {
				err = ev.field(line, ended, lines, l)
			}
			if err != nil {
				ev.drop()
				yield(event{}, err)
				return
			}
			if len(line) > 0 || !ended {
				continue
			}
			done := ev
			ev = event{}
			if !yield(done, nil) {
				return
			}
		}
	}
}

// field takes a line of the event; if it has not ended, lines has the rest.
func (ev *event) field(line []byte, ended bool, lines *eventLines, l *limits) (err error) {
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "event":
		ev.name = string(value)
	case "id":
		ev.id = string(value)
	case "data":
		if ev.data == nil {
			ev.data = &body{limits: l}
		} else {
			ev.data.add([]byte{'\n'})
		}
		ev.data.add(value)
	case "retry":
		if ms, err := strconv.ParseUint(string(value), 10, 31); err == nil {
			ev.retry = time.Duration(ms) * time.Millisecond
		}
	}
	for !ended && err == nil {
		if line, ended, err = lines.next(); string(name) == "data" {
			ev.data.add(line)
		}
		if ev.data != nil && ev.data.size > l.most() {
			return ev.data.tooLong()
		}
	}
	return err
}

// text is the data of a short event.
func (ev *event) text() string {
	if ev.data == nil {
		return ""
	}
	return string(ev.data.begin())
}

func (ev *event) drop() {
	if ev.data != nil {
		ev.data.drop()
	}
}

// messages returns those of the event.
func (ev *event) messages(log *slog.Logger) ([]jsonrpc.Message, error) {
	if ev.data == nil || ev.data.size == 0 {
		return nil, nil
	}
	if ev.name != "" && ev.name != "message" {
		ev.drop()
		return nil, nil
	}
	found, err := ev.data.messages()
	if len(found) == 0 && err == nil {
		log.Warn("the server sent an event that is not a message", "data", excerpt(ev.data.begin(), 200))
	}
	return found, err
}

// eventLines splits lines at LF, CR LF or CR.
type eventLines struct {
	r  *bufio.Reader
	cr bool // the last line ended with CR: an LF that follows belongs to it
}

// partOfLine is more than the name of a field.
const partOfLine = 4 << 10

// next returns a line, or at least so much of it; ended says that its end came.
func (l *eventLines) next() (line []byte, ended bool, err error) {
	for len(line) < partOfLine {
		if _, err := l.r.Peek(1); err != nil {
			return nil, false, err
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
			line = append(line, part...)
			l.r.Discard(len(part))
			continue
		}
		line = append(line, part[:end]...)
		l.cr = part[end] == '\r'
		l.r.Discard(end + 1)
		return line, true, nil
	}
	return line, false, nil
}
