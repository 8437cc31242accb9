package longjson

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"sync"

	"github.com/toolpost/toolpost/internal/wire"
)

// An Object is a JSON object in a spool. Its offsets are those of the object. It
// is for one reader: the reader closes it after copying it.
type Object struct {
	Members []Member
	URIs    []URI
	More    bool // it names more resources than these

	from, size int64 // in the spool

	mu    sync.Mutex // guards what follows
	spool *Spool     // nil if it was closed
	data  []byte     // all of it, if it was loaded
}

var errClosed = errors.New("it is not there any more: a result that is not in memory can be passed on once; look at its parts before to keep it")

// NewObject returns the result that s has found in a spool, which it takes over.
func NewObject(spool *Spool, s *Scanner) *Object {
	o := &Object{Members: make([]Member, len(s.Members)), URIs: s.URIs, More: s.More, spool: spool, from: s.Result.From, size: s.Result.size()}
	for i, m := range s.Members {
		m.From, m.To, m.Value = m.From-o.from, m.To-o.from, m.Value-o.from
		o.Members[i] = m
	}
	for i := range o.URIs {
		o.URIs[i].From, o.URIs[i].To = o.URIs[i].From-o.from, o.URIs[i].To-o.from
	}
	return o
}

// Size returns the number of bytes.
func (o *Object) Size() int64 { return o.size }

// Member returns the member of the name, nil if there is none.
func (o *Object) Member(name string) *Member {
	if i := slices.IndexFunc(o.Members, func(m Member) bool { return m.Name == name }); i >= 0 {
		return &o.Members[i]
	}
	return nil
}

// Read returns a part of the object.
func (o *Object) Read(part Span) ([]byte, error) {
	b := bytes.NewBuffer(make([]byte, 0, part.size()+bytes.MinRead))
	err := o.Copy(b, part)
	return b.Bytes(), err
}

// Rename gives the resources that the object names other URIs: those that f returns.
// Read and Copy still have the old ones, which [Object.Edits] replaces.
func (o *Object) Rename(f func(uri string) string) {
	for i := range o.URIs {
		u := &o.URIs[i]
		if uri := f(u.Text); uri != u.Text {
			u.Text, u.renamed = uri, true
		}
	}
}

// A Replacement is another text for a string of an object: Span is the string without its
// quotes.
type Replacement struct {
	Span
	Text string
}

// Replace replaces strings, which are in order. The object is in memory from then on.
func (o *Object) Replace(all []Replacement) error {
	size := o.size
	for _, r := range all {
		size += int64(len(r.Text)+len(r.Text)/16) - r.size()
	}
	b := bytes.NewBuffer(make([]byte, 0, size+bytes.MinRead))
	ends := make([]int64, len(all)) // where the replaced strings end now
	at := int64(0)
	for i, r := range all {
		if err := o.Copy(b, Span{at, r.From - 1}); err != nil {
			return err
		}
		b.Write(wire.AppendQuote(b.AvailableBuffer(), r.Text))
		at, ends[i] = r.To+1, int64(b.Len())
	}
	if err := o.Copy(b, Span{at, o.size}); err != nil {
		return err
	}
	moved := func(at *int64) {
		for i := len(all) - 1; i >= 0; i-- {
			if *at > all[i].To {
				*at += ends[i] - all[i].To - 1
				return
			}
		}
	}
	for i := range o.Members {
		m := &o.Members[i]
		moved(&m.From)
		moved(&m.To)
		moved(&m.Value)
	}
	for i := range o.URIs {
		moved(&o.URIs[i].From)
		moved(&o.URIs[i].To)
	}
	o.Close()
	o.mu.Lock()
	defer o.mu.Unlock()
	o.data, o.size = b.Bytes(), int64(b.Len())
	return nil
}

// InMemory reports whether the object is in memory.
func (o *Object) InMemory() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.data != nil
}

// Edits returns what Rename changed, in order.
func (o *Object) Edits() (edits []Edit) {
	for _, u := range o.URIs {
		if u.renamed {
			edits = append(edits, Edit{u.Span, wire.Quote(u.Text)})
		}
	}
	return edits
}

// Load returns all of the object, with its edits. It is in memory from now on.
func (o *Object) Load() ([]byte, error) {
	o.mu.Lock()
	data := o.data
	o.mu.Unlock()
	if data != nil {
		return o.edited(data), nil
	}
	data, err := o.Read(Span{0, o.size})
	if err == nil {
		o.mu.Lock()
		o.data = data
		o.mu.Unlock()
		o.Close()
	}
	return o.edited(data), err
}

// edited returns data, which is the whole object, with its edits.
func (o *Object) edited(data []byte) []byte {
	edits := o.Edits()
	if len(edits) == 0 || int64(len(data)) < o.size {
		return data
	}
	b, at := make([]byte, 0, len(data)+longestURI), int64(0)
	for _, e := range edits {
		b = append(append(b, data[at:e.From]...), e.By...)
		at = e.To
	}
	return append(b, data[at:]...)
}

// Copy writes a part of the object.
func (o *Object) Copy(w io.Writer, part Span) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.data != nil:
		_, err := w.Write(o.data[part.From:part.To])
		return err
	case o.spool == nil:
		return errClosed
	}
	return o.spool.Copy(w, Span{o.from + part.From, o.from + part.To})
}

// An Edit replaces a part of an object.
type Edit struct {
	Span
	By []byte
}

// Close gives the object up, unless it was loaded.
func (o *Object) Close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.spool != nil {
		o.spool.Close()
		o.spool = nil
	}
}
