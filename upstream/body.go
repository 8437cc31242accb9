package upstream

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync"

	"github.com/toolpost/toolpost/internal/longjson"
	"github.com/toolpost/toolpost/internal/wire"
)

var errTooLong = errors.New("the answer is too long")

// Limits say how messages are read.
type limits struct {
	max int    // bytes of one in memory
	dir string // of files for longer results of tools; "" for none

	readers sync.Pool // of streams of events
	buffers longjson.Buffers
}

const (
	short   = 64 << 10 // bytes up to which a message is joined to one piece
	longest = 2 << 30  // bytes of one in a file
	edge    = 4 << 10  // bytes at the beginning of a message that are kept if it is too long
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

// A body is a message as it comes: in one piece, or in a spool and scanned while
// it comes. A message that is too long is scanned, and only its beginning is kept.
type body struct {
	limits *limits
	keeps  func() bool       // whether anybody can use what is too long for memory; nil if so
	data   []byte            // if it is in one piece
	spool  *longjson.Spool   // if it is not; nil if it is too long
	scan   *longjson.Scanner // of what may stay in the spool, or is too long
	size   int64
	head   []byte // if it is too long
	err    error  // why the spool does not take it
}

// most is how long the message may be in memory or in a file.
func (b *body) most() int64 {
	if b.keeps != nil && !b.keeps() {
		return int64(b.limits.max)
	}
	return b.limits.most()
}

// readFrom takes all that r has, of which so many bytes are expected; -1 if that
// is not known.
func (b *body) readFrom(r io.Reader, expected int64) error {
	if expected > 0 && expected <= int64(min(short, b.limits.max)) {
		b.data = make([]byte, expected)
		n, err := io.ReadFull(r, b.data)
		if b.size = int64(n); err != nil {
			return err
		}
	}
	r = io.LimitReader(r, b.most()+1)
	part := b.limits.buffers.Get()
	defer b.limits.buffers.Put(part)
	for {
		n, err := r.Read(part[:])
		b.add(part[:n])
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
	switch {
	case len(part) == 0:
	case b.head != nil:
		b.size += int64(len(part))
		_, _ = b.scan.Write(part) // it never fails
	case b.spool == nil && b.size+int64(len(part)) <= min(short, b.limits.most()):
		b.data = append(b.data, part...)
		b.size += int64(len(part))
	case b.spool == nil:
		b.spill()
		b.add(part)
	default:
		b.put(part)
	}
}

// spill moves what there is to a spool, because more of it comes.
func (b *body) spill() {
	if b.spool == nil && b.head == nil {
		data := b.data
		b.data, b.size, b.spool = nil, 0, longjson.NewSpool(b.limits.dir, &b.limits.buffers)
		b.put(data)
	}
}

// put takes more of a message in the spool.
func (b *body) put(part []byte) {
	if size := b.size + int64(len(part)); size > int64(b.limits.max) && size > b.most() {
		b.giveUp(part)
		return
	}
	if b.err = b.spool.Add(part, int64(b.limits.max)); b.err != nil {
		b.giveUp(part)
		return
	}
	b.size += int64(len(part))
	if b.scan != nil {
		_, _ = b.scan.Write(part) // Done reports errors
	} else if b.limits.dir != "" && b.size > int64(min(short, b.limits.max)) {
		b.beginScan()
	}
}

// beginScan scans the beginning of the message, which is in the spool.
func (b *body) beginScan() {
	b.scan = new(longjson.Scanner)
	_ = b.spool.Copy(b.scan, longjson.Span{To: b.size}) // without it, the scan is not done
}

// giveUp drops a message that is too long with the part that comes, but for its
// beginning and its scan.
func (b *body) giveUp(part []byte) {
	if b.scan == nil {
		b.beginScan()
	}
	head := b.begin()
	b.head = append(head, part[:min(len(part), edge-len(head))]...)
	b.drop()
	b.add(part)
}

// settle joins a message to one piece, if it may not be long. It reports whether
// it is in one piece.
func (b *body) settle() bool {
	if b.spool != nil && b.scan == nil {
		b.data, b.err = b.load()
		b.drop()
	}
	return b.head == nil && b.spool == nil && b.err == nil
}

// tooLong returns the error for a message that is too long, with what to do.
func (b *body) tooLong() error {
	switch path := (*fs.PathError)(nil); {
	case errors.As(b.err, &path): // the path is internal
		return fmt.Errorf("%w for memory, and it cannot be kept in a file: %v; free space in the folder for temporary files", errTooLong, path.Err)
	case b.limits.dir != "" && b.size > longest:
		return fmt.Errorf("%w: it has more than %d bytes; ask for less", errTooLong, int64(longest))
	}
	return b.limits.tooLong()
}

// drop gives up what is in the spool, if there is anything.
func (b *body) drop() {
	if b != nil && b.spool != nil {
		b.spool.Close()
		b.spool = nil
	}
}

// An unread is an answer that is not in one piece.
type unread struct {
	id  json.RawMessage
	err error // that it is too long, or a *longResult
}

// messages returns the messages that arrived. One that is too long fails the
// call that it answers; if that call is unknown, messages returns an error.
func (b *body) messages() ([]wire.Message, *unread, error) {
	if b.settle() {
		return wire.Read(b.data), nil, nil
	}
	if b.spool != nil && b.scan.Broken {
		b.repair()
	}
	if b.spool != nil {
		if l := b.long(); l != nil {
			b.spool = nil // who gets the result may give it up at any time
			return nil, &unread{b.scan.ID, l}, nil
		}
		data, err := b.load()
		if err == nil {
			b.drop()
			found := wire.Read(data)
			if len(found) == 0 { // what it is, logs and errors show
				b.head = bytes.Clone(data[:min(len(data), edge)])
			}
			return found, nil, nil
		}
		b.giveUp(nil)
	}
	begin := bytes.TrimLeft(b.head, " \t\r\n")
	switch {
	case b.scan.Request || len(begin) == 0 || begin[0] != '{' && begin[0] != '[': // no call waits for it
		return nil, nil, nil
	case isNumber(b.scan.ID):
		return nil, &unread{b.scan.ID, b.tooLong()}, nil
	}
	return nil, nil, b.tooLong()
}

// Write adds more of the message. It never fails.
func (b *body) Write(part []byte) (int, error) {
	b.add(part)
	return len(part), nil
}

// load returns what is in the spool, unless it is too long for memory.
func (b *body) load() ([]byte, error) {
	if b.size > int64(b.limits.max) {
		return nil, b.limits.tooLong()
	}
	data := make([]byte, b.size)
	_, err := b.spool.ReadAt(data, 0)
	return data, err
}

// begin is what the message begins with, for logs and errors.
func (b *body) begin() []byte {
	if b.spool == nil {
		return append(b.data, b.head...) // there is one of them
	}
	head := make([]byte, min(b.size, edge))
	_, _ = b.spool.ReadAt(head, 0)
	return head
}

// isNumber reports whether raw may be an id of ours.
func isNumber(raw []byte) bool {
	_, ok := wire.Number(raw)
	return ok
}
