package upstream

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"regexp"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

var errTooLong = errors.New("the answer is too long")

// tooLong names the limit and what raises it.
func tooLong(max int) error {
	return fmt.Errorf("%w: it has more than %d bytes; raise maxMessage in the server's entry", errTooLong, max)
}

// edge is how much of a long message is looked at, at its beginning and end.
const edge = 4 << 10

// An oversize is what is kept of a message that is too long.
type oversize struct{ head, tail []byte }

// add takes more of the message.
func (o *oversize) add(part []byte) {
	o.head = append(o.head, part[:min(len(part), edge-len(o.head))]...)
	o.tail = append(o.tail, part[max(0, len(part)-edge):]...)
	o.tail = append(o.tail[:0], o.tail[max(0, len(o.tail)-edge):]...)
}

// lastID finds the id at the end of a message: the brace after it is the last.
var lastID = regexp.MustCompile(`"id"\s*:\s*(-?[0-9]+|"(?:[^"\\]|\\.)*")\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$`)

// answers returns the id of the call that the message answers; waited says
// that somebody may wait for it all the same.
func (o *oversize) answers() (id jsonrpc.ID, found, waited bool) {
	d := jsontext.NewDecoder(bytes.NewReader(o.head), jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
	if t, err := d.ReadToken(); err != nil || t.Kind() != '{' {
		return id, false, err == nil && t.Kind() == '['
	}
	for d.PeekKind() == '"' {
		name, err := d.ReadToken()
		if err != nil {
			break
		}
		key := name.String()
		if key == "method" || key == "params" {
			return id, false, false
		}
		value, err := d.ReadValue()
		if err != nil {
			break
		}
		if key == "id" {
			id, found = parseID([]byte(value))
		}
	}
	if m := lastID.FindSubmatch(o.tail); !found && m != nil {
		id, found = parseID(m[1])
	}
	return id, found, true
}

// skipLong takes the rest of a line that is too long: it fails the call that
// the line answers, and ends the connection only if it cannot tell which.
func (c *lines) skipLong(begin []byte, ended bool) error {
	long := &oversize{}
	for long.add(begin); !ended; {
		part, err := c.r.ReadSlice('\n')
		long.add(part)
		ended = !errors.Is(err, bufio.ErrBufferFull)
	}
	id, found, waited := long.answers()
	switch {
	case found:
		c.queue = append(c.queue, &jsonrpc.Response{ID: id, Error: tooLong(c.max)})
	case waited:
		return tooLong(c.max)
	default:
		c.log.Warn("the server wrote a line that is too long", "line", excerpt(long.head, 200), "err", tooLong(c.max))
	}
	return nil
}
