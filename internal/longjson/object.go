package longjson

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"sync"
)

// An Object is a JSON object in a spool. Its offsets are those of the object. It
// is for one reader: the reader closes it after copying it.
type Object struct {
	Members []Member
	URIs    []string // see [Scanner]

	from, size int64 // in the spool

	mu    sync.Mutex // guards what follows
	spool *Spool     // nil if it was closed
	data  []byte     // all of it, if it was loaded
}

var errClosed = errors.New("it is not there any more: a result that is not in memory can be passed on once; look at its parts before to keep it")

// NewObject returns the result that s has found in a spool, which it takes over.
func NewObject(spool *Spool, s *Scanner) *Object {
	o := &Object{Members: make([]Member, len(s.Members)), URIs: s.URIs, spool: spool, from: s.Result.From, size: s.Result.size()}
	for i, m := range s.Members {
		m.From, m.To, m.Value = m.From-o.from, m.To-o.from, m.Value-o.from
		o.Members[i] = m
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

// Load returns all of the object, and keeps it in memory from now on.
func (o *Object) Load() ([]byte, error) {
	o.mu.Lock()
	data := o.data
	o.mu.Unlock()
	if data != nil {
		return data, nil
	}
	data, err := o.Read(Span{0, o.size})
	if err == nil {
		o.mu.Lock()
		o.data = data
		o.mu.Unlock()
		o.Close()
	}
	return data, err
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
