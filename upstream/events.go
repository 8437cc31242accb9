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
	data     *body         // nil if it has none
	retry    time.Duration // 0 if not said
}

// buffer returns a buffer of a stream that has ended, or a new one.
func (l *limits) buffer(r io.Reader) *bufio.Reader {
	b, _ := l.readers.Get().(*bufio.Reader)
	if b == nil {
		b = bufio.NewReaderSize(nil, 64<<10)
	}
	b.Reset(r)
	return b
}

func (l *limits) done(b *bufio.Reader) {
	b.Reset(nil)
	l.readers.Put(b)
}

// events reads events from r. One that the end of the stream cuts off is not
// one. The last error is why the stream ended. Keeps is that of a [body].
func events(r io.Reader, l *limits, keeps func() bool) iter.Seq2[event, error] {
	return func(yield func(event, error) bool) {
		lines := &eventLines{r: l.buffer(r), limits: l, keeps: keeps}
		defer l.done(lines.r)
		var ev event
		for first := true; ; first = false {
			line, ended, err := lines.next()
			if first {
				line = bytes.TrimPrefix(line, []byte("\uFEFF"))
			}
			if err == nil && (len(line) > 0 || !ended) {
				err = ev.field(line, ended, lines)
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
func (ev *event) field(line []byte, ended bool, lines *eventLines) (err error) {
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "event":
		ev.name = string(value)
	case "id":
		ev.id = string(value)
	case "data":
		ev.beginData(lines, !ended)
		ev.data.add(value)
	case "retry":
		if ms, err := strconv.ParseUint(string(value), 10, 31); err == nil {
			ev.retry = time.Duration(ms) * time.Millisecond
		}
	}
	for isData := string(name) == "data"; !ended && err == nil; { // the rest overwrites the line
		var part []byte
		if part, ended, err = lines.rest(); isData {
			ev.data.add(part)
		}
		if ev.data != nil && ev.data.size > lines.limits.most() {
			return ev.data.tooLong()
		}
	}
	return err
}

// beginData begins a line of data; long means that it comes in several parts.
func (ev *event) beginData(lines *eventLines, long bool) {
	if ev.data == nil {
		ev.data = &body{limits: lines.limits, keeps: lines.keeps}
	} else {
		ev.data.add([]byte{'\n'})
	}
	if long {
		ev.data.spill()
	}
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

// isMessage reports whether the event has a message as its data. Other
// data is released.
func (ev *event) isMessage() bool {
	switch {
	case ev.data == nil || ev.data.size == 0:
		return false
	case ev.name != "" && ev.name != "message":
		ev.drop()
		return false
	}
	return true
}

// takeEvent hands on the messages of an event.
func (p *peer) takeEvent(ev *event, from *exchange) error {
	if !ev.isMessage() {
		return nil
	}
	found, err := p.take(ev.data, from)
	if found == 0 && err == nil {
		p.log.Warn("the server sent an event that is not a message", "data", excerpt(ev.data.begin(), 200))
	}
	return err
}

// eventLines splits lines at LF, CR LF or CR.
type eventLines struct {
	r      *bufio.Reader
	cr     bool // the last line ended with CR: an LF that follows belongs to it
	limits *limits
	keeps  func() bool
}

// partOfLine is more than the name of a field.
const partOfLine = 4 << 10

// next returns a line, or at least so much of it; ended reports whether its end
// came. The line is valid until more is read.
func (l *eventLines) next() (line []byte, ended bool, err error) {
	for !ended && len(line) < partOfLine {
		var part []byte
		if part, ended, err = l.rest(); err != nil {
			return nil, false, err
		}
		if line == nil && (ended || len(part) >= partOfLine) {
			return part, ended, nil
		}
		line = append(line, part...)
	}
	return line, ended, nil
}

// rest returns more of a line. It is valid until the next call.
func (l *eventLines) rest() (part []byte, ended bool, err error) {
	for {
		if _, err := l.r.Peek(1); err != nil {
			return nil, false, err
		}
		part, _ = l.r.Peek(l.r.Buffered())
		if !l.cr || part[0] != '\n' {
			break
		}
		l.cr = false
		l.r.Discard(1)
	}
	l.cr = false
	end := bytes.IndexByte(part, '\n')
	if end < 0 {
		end = len(part)
	}
	if cr := bytes.IndexByte(part[:end], '\r'); cr >= 0 {
		end, l.cr = cr, true
	}
	if end == len(part) {
		l.r.Discard(end)
		return part, false, nil
	}
	l.r.Discard(end + 1)
	return part[:end], true, nil
}
