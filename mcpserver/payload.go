package mcpserver

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"slices"
	"strings"

	"github.com/toolpost/toolpost/internal/longjson"
)

// A payload is a result or a message as it is written: its parts in order. What
// is long stays in the file that it came in, which close gives up.
type payload []part

// A part is in memory, or in a file.
type part struct {
	data   []byte
	shared bool             // the data are held for others anyway
	file   *longjson.Object // nil if it is data
	span   longjson.Span    // in the file
}

// inMemory returns the payload that consists of data.
func inMemory[T string | []byte | json.RawMessage](data T) payload {
	return payload{{data: []byte(data)}}
}

func (p *part) size() int64 {
	if p.file != nil {
		return p.span.To - p.span.From
	}
	return int64(len(p.data))
}

// copy writes the bytes from one offset to another.
func (p *part) copy(w io.Writer, from, to int64) error {
	if p.file != nil {
		return p.file.Copy(w, longjson.Span{From: p.span.From + from, To: p.span.From + to})
	}
	_, err := w.Write(p.data[from:to])
	return err
}

func (p payload) size() (all int64) {
	for i := range p {
		all += p[i].size()
	}
	return all
}

// heldBytes returns how many bytes are in memory for this payload alone.
func (p payload) heldBytes() (all int) {
	for i := range p {
		switch part := &p[i]; {
		case part.file != nil && part.file.InMemory():
			all += int(part.size())
		case !part.shared:
			all += len(part.data)
		}
	}
	return all
}

// bytes returns what a payload in memory consists of.
func (p payload) bytes() []byte {
	if len(p) == 1 {
		return p[0].data
	}
	var all []byte
	for _, part := range p {
		all = append(all, part.data...)
	}
	return all
}

func (p payload) close() {
	for _, part := range p {
		if part.file != nil {
			part.file.Close()
		}
	}
}

// answer returns the response to a call with an id whose result is p.
func (p payload) answer(id []byte) payload {
	const before, between = `{"jsonrpc":"2.0","id":`, `,"result":`
	begin := make([]byte, 0, len(before)+len(id)+len(between))
	begin = append(append(append(begin, before...), id...), between...)
	all := append(make(payload, 0, len(p)+2), part{data: begin})
	return append(append(all, p...), part{data: closing})
}

// closing ends a response.
var closing = []byte{'}'}

// join returns the batch of responses.
func join(responses []payload) payload {
	all, before := payload{}, "["
	for _, r := range responses {
		all = append(append(all, part{data: []byte(before)}), r...)
		before = ","
	}
	return append(all, part{data: []byte("]")})
}

// A framing is how a transport writes a message. A line break is white space of
// its JSON; where the transport gives it another meaning, other bytes take its
// place.
type framing struct{ before, lineBreak, after string }

// event returns the framing of a server-sent event.
func event(name string) framing { return framing{"event: " + name + "\ndata: ", "\ndata: ", "\n\n"} }

// writeChunk is how much is written at once.
const writeChunk = 64 << 10

// write writes p in chunks. It calls next after each of them.
func (f framing) write(w io.Writer, p payload, next func()) error {
	if _, err := io.WriteString(w, f.before); err != nil {
		return err
	}
	to := w
	if f.lineBreak != "" {
		to = breaker{w, f.lineBreak}
	}
	left := int64(writeChunk)
	for i := range p {
		for at, size := int64(0), p[i].size(); at < size; {
			n := min(left, size-at)
			if err := p[i].copy(to, at, at+n); err != nil {
				return err
			}
			at += n
			if left -= n; left == 0 {
				left = writeChunk
				next()
			}
		}
	}
	_, err := io.WriteString(w, f.after)
	return err
}

// A breaker writes other bytes for each line feed, and a space for each carriage
// return.
type breaker struct {
	w         io.Writer
	lineBreak string
}

func (b breaker) Write(p []byte) (int, error) {
	message := p
	for _, c := range []struct{ from, to string }{{"\r", " "}, {"\n", b.lineBreak}} {
		if bytes.Contains(message, []byte(c.from)) {
			message = bytes.ReplaceAll(message, []byte(c.from), []byte(c.to))
		}
	}
	_, err := b.w.Write(message)
	return len(p), err
}

// applyEdits returns an object in a file with edits, which are in order, and with its
// own, but for those that lie within them.
func applyEdits(o *longjson.Object, edits []longjson.Edit) payload {
	edits = append(edits, o.Edits()...)
	slices.SortStableFunc(edits, func(a, b longjson.Edit) int { return cmp.Compare(a.From, b.From) })
	p := make(payload, 0, 2*len(edits)+1)
	at := int64(0)
	for _, e := range edits {
		if e.From < at {
			continue
		}
		p = append(p, part{file: o, span: longjson.Span{From: at, To: e.From}}, part{data: e.By})
		at = e.To
	}
	return append(p, part{file: o, span: longjson.Span{From: at, To: o.Size()}})
}

// removal removes a member of an object, and the comma beside it.
func removal(o *longjson.Object, i int) longjson.Edit {
	switch own := o.Members[i].Span; {
	case i > 0:
		return longjson.Edit{Span: longjson.Span{From: o.Members[i-1].To, To: own.To}}
	case len(o.Members) > 1:
		return longjson.Edit{Span: longjson.Span{From: own.From, To: o.Members[1].From}}
	default:
		return longjson.Edit{Span: own}
	}
}

// addition adds members at the end of an object, of which so many are removed.
func addition(o *longjson.Object, removed int, members []string) longjson.Edit {
	end, before := int64(1), ""
	if n := len(o.Members); n > 0 {
		end = o.Members[n-1].To
	}
	if len(o.Members) > removed {
		before = ","
	}
	return longjson.Edit{Span: longjson.Span{From: end, To: o.Size()}, By: []byte(before + strings.Join(members, ",") + "}")}
}
