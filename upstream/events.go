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

// events reads events from r. One that the end of the stream cuts off is not
// one. The last error is why the stream ended. Keeps is that of a [body].
func events(r io.Reader, l *limits, keeps func() bool) iter.Seq2[event, error] {
	return func(yield func(event, error) bool) {
		lines := &eventLines{from: r, limits: l, keeps: keeps}
		if lines.r, _ = l.readers.Get().(*bufio.Reader); lines.r == nil {
			lines.r = bufio.NewReaderSize(nil, 64<<10)
		}
		lines.r.Reset(lines)
		defer func() {
			lines.r.Reset(nil)
			l.readers.Put(lines.r)
		}()
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
				ev.data.drop()
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
		if part, ended, err = lines.next(); isData {
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

// isMessage reports whether an event is of the kind that brings messages of MCP.
func (ev *event) isMessage() bool { return ev.name == "" || ev.name == "message" }

// takeEvent hands on the messages of an event. Other data is released.
func (p *peer) takeEvent(ev *event, from *exchange) error {
	switch {
	case ev.data == nil || ev.data.size == 0:
		return nil
	case !ev.isMessage():
		ev.data.drop()
		return nil
	}
	found, err := p.take(ev.data, from)
	if found == 0 && err == nil {
		p.skipBroken("an event", ev.data.begin(), from)
	}
	return err
}

// eventLines splits lines at LF, CR LF or CR.
type eventLines struct {
	from   io.Reader
	cr     bool          // an LF that comes next belongs to a CR
	r      *bufio.Reader // of the lines with LF at their ends
	limits *limits
	keeps  func() bool
}

// next returns a line, or as much of it as the buffer holds; ended reports whether
// its end came. The line is valid until the next call.
func (l *eventLines) next() (line []byte, ended bool, err error) {
	line, err = l.r.ReadSlice('\n')
	switch err {
	case nil:
		return line[:len(line)-1], true, nil
	case bufio.ErrBufferFull:
		return line, false, nil
	}
	return nil, false, err
}

// Read reads with LF in place of each CR LF and CR.
func (l *eventLines) Read(p []byte) (int, error) {
	n, err := l.from.Read(p)
	if !l.cr && bytes.IndexByte(p[:n], '\r') < 0 {
		return n, err
	}
	kept := p[:0]
	for _, c := range p[:n] {
		isRest := l.cr && c == '\n'
		if l.cr = c == '\r'; l.cr {
			c = '\n'
		}
		if !isRest {
			kept = append(kept, c)
		}
	}
	return len(kept), err
}
