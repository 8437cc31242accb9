package upstream

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/toolpost/toolpost/internal/wire"
)

var errTooLong = errors.New("the answer is too long")

// Limits say how messages are read.
type limits struct {
	max int    // bytes of one in memory
	dir string // of files for longer results of tools; "" for none

	buffers sync.Pool // of streams of events
}

const (
	early   = 4 << 20 // bytes from which on a message comes into a file, if it may
	longest = 2 << 30 // bytes of one in a file
	edge    = 4 << 10 // bytes at both ends of a message that are looked at if it is too long
)

// tooLong names the limit and what raises it.
func (l *limits) tooLong() error {
	return fmt.Errorf("%w: it has more than %d bytes; raise maxMessage in the server's entry", errTooLong, l.max)
}

// most is how long a message may be in memory or in a file.
func (l *limits) most() int64 {
	if l.dir != "" {
		return longest
	}
	return int64(l.max)
}

// A body is a message as it comes: in memory, and from some size on in a file.
// Of what is too long for both, the ends are kept.
type body struct {
	limits     *limits
	data       []byte // if all of it is in memory
	file       *os.File
	size       int64
	head, tail []byte // if not
	err        error  // of the file
}

// readFrom takes all that r has, of which so many bytes are expected; -1 if that
// is not known.
func (b *body) readFrom(r io.Reader, expected int64) error {
	if r = io.LimitReader(r, b.limits.most()+1); expected < 0 || expected > early {
		expected = 4 << 10
	}
	b.data = make([]byte, 0, expected+1) // with room to find the end
	for b.inMemory() {
		b.data = slices.Grow(b.data, 1)
		n, err := r.Read(b.data[len(b.data):cap(b.data)])
		b.data = b.data[:len(b.data)+n]
		b.size += int64(n)
		b.settle()
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
	}
	part := make([]byte, 64<<10)
	for {
		n, err := r.Read(part)
		b.addLong(part[:n])
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
	}
}

// add takes more of the message.
func (b *body) add(part []byte) {
	if !b.inMemory() {
		b.addLong(part)
		return
	}
	if len(part) > cap(b.data)-len(b.data) { // large messages come in many parts
		b.data = slices.Grow(b.data, max(len(part), len(b.data)))
	}
	b.data = append(b.data, part...)
	b.size += int64(len(part))
	b.settle()
}

// settle moves the message out of memory, if it is too long for that by now.
func (b *body) settle() {
	if b.inMemory() {
		return
	}
	part := b.data
	b.data, b.size = nil, 0
	if b.limits.dir != "" {
		b.create()
	}
	b.addLong(part)
}

// addLong takes more of a message that is not in memory.
func (b *body) addLong(part []byte) {
	b.size += int64(len(part))
	b.head = append(b.head, part[:min(len(part), edge-len(b.head))]...)
	b.tail = append(b.tail, part[max(0, len(part)-edge):]...)
	b.tail = append(b.tail[:0], b.tail[max(0, len(b.tail)-edge):]...)
	if b.file != nil {
		_, b.err = b.file.Write(part)
	}
	if b.err != nil && b.toMemory(part) {
		return
	}
	if b.err != nil || b.size > b.limits.most() {
		b.drop()
	}
}

// toMemory takes the message into memory, if it is not too long for that, once
// the file cannot take more: the disk may be full. Part is what comes last.
func (b *body) toMemory(part []byte) bool {
	if b.size > int64(b.limits.max) {
		return false
	}
	data := make([]byte, b.size-int64(len(part)), b.size)
	if len(data) > 0 {
		if b.file == nil {
			return false
		}
		if _, err := b.file.ReadAt(data, 0); err != nil {
			return false
		}
	}
	b.drop()
	b.limits, b.data = &limits{max: b.limits.max}, append(data, part...)
	b.head, b.tail = nil, nil
	return true
}

// tooLong says that it is, and what can be done.
func (b *body) tooLong() error {
	switch path := (*fs.PathError)(nil); {
	case errors.As(b.err, &path): // where it is, is nobody's business
		return fmt.Errorf("%w for memory, and it cannot be kept in a file: %v; free space in the folder for temporary files", errTooLong, path.Err)
	case b.limits.dir != "" && b.size > longest:
		return fmt.Errorf("%w: it has more than %d bytes; ask for less", errTooLong, int64(longest))
	}
	return b.limits.tooLong()
}

// inMemory says that the message is in data.
func (b *body) inMemory() bool {
	most := b.limits.max
	if b.limits.dir != "" {
		most = min(most, early)
	}
	return b.head == nil && b.size <= int64(most)
}

// create makes the file. It has no name where the system allows that, so that
// nothing is left of it whatever happens. Without it the message is too long.
func (b *body) create() {
	f, err := os.CreateTemp(b.limits.dir, "toolpost-message-*")
	if errors.Is(err, fs.ErrNotExist) && os.MkdirAll(b.limits.dir, 0o700) == nil { // somebody cleaned up
		f, err = os.CreateTemp(b.limits.dir, "toolpost-message-*")
	}
	if err != nil {
		b.err = err
		return
	}
	_ = os.Remove(f.Name()) // drop tries again
	b.file = f
}

// drop gives the file up.
func (b *body) drop() {
	if b.file != nil {
		_ = b.file.Close()
		_ = os.Remove(b.file.Name()) // where open files cannot be removed
		b.file = nil
	}
}

// An unread is an answer that is not in memory.
type unread struct {
	id  json.RawMessage
	err error // that it is too long, or a *longResult if it is in a file
}

// messages returns the messages that came. One that is too long fails the call
// that it answers; only if that cannot be told, there is an error.
func (b *body) messages() ([]wire.Message, *unread, error) {
	if b.inMemory() {
		return wire.Read(b.data), nil, nil
	}
	if b.file != nil {
		if l := b.long(); l != nil {
			return nil, &unread{l.id, l}, nil
		}
		data, err := b.load()
		b.drop()
		if err == nil {
			return wire.Read(data), nil, nil
		}
	}
	id, found, waited := answers(b.head, b.tail)
	switch {
	case found:
		return nil, &unread{id, b.tooLong()}, nil
	case waited:
		return nil, nil, b.tooLong()
	}
	return nil, nil, nil
}

// load returns what is in the file, unless it is too long for memory.
func (b *body) load() ([]byte, error) {
	if b.size > int64(b.limits.max) {
		return nil, b.limits.tooLong()
	}
	data := make([]byte, b.size)
	_, err := b.file.ReadAt(data, 0)
	return data, err
}

// begin is what the message begins with, for logs and errors.
func (b *body) begin() []byte {
	if b.inMemory() {
		return b.data
	}
	return b.head
}

// lastID finds the id at the end of a message: the brace after it is the last.
var lastID = regexp.MustCompile(`"id"\s*:\s*(-?[0-9]+|"(?:[^"\\]|\\.)*")\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$`)

// answers returns the id of the call that a message answers, by its two ends;
// waited says that somebody may wait for it all the same.
func answers(head, tail []byte) (id json.RawMessage, found, waited bool) {
	d := jsontext.NewDecoder(bytes.NewReader(head), jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
	if t, err := d.ReadToken(); err != nil || t.Kind() != '{' {
		return id, false, err == nil && t.Kind() == '['
	}
	id, found, other := idIn(d)
	if other {
		return id, false, false
	}
	if m := lastID.FindSubmatch(tail); !found && m != nil {
		id, found = m[1], isNumber(m[1])
	}
	return id, found, true
}

// idIn returns the first id of the object whose members d reads; other says that
// it is no answer.
func idIn(d *jsontext.Decoder) (id json.RawMessage, found, other bool) {
	for d.PeekKind() == '"' {
		name, err := d.ReadToken()
		if err != nil {
			break
		}
		key := name.String()
		if key == "method" || key == "params" {
			return id, false, true
		}
		value, err := d.ReadValue()
		if err != nil {
			break
		}
		if key == "id" && !found {
			id, found = json.RawMessage(value.Clone()), isNumber(value)
		}
	}
	return id, found, false
}

// isNumber reports whether raw may be an id of ours.
func isNumber(raw []byte) bool {
	_, ok := wire.Number(raw)
	return ok
}
