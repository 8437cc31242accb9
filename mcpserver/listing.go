package mcpserver

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"

	"github.com/toolpost/toolpost/internal/wire"
)

// pageSize is how many items one page of a list has. Few clients ask for a
// second page, so that the first one should be enough for most servers.
const pageSize = 1000

// A listing is the answer to a list method, encoded once.
type listing struct {
	pages []page
	sum   listSum // of all pages
}

type page struct {
	cursor string // "" for the first
	body   []byte // the result without its closing brace
}

var (
	errNotObject = errors.New("it is not a JSON object")
	errRepeated  = errors.New("there is one before it")
)

// A collector gathers the items of a listing.
type collector struct {
	keys  []string // the identities of the items
	items []json.RawMessage
	seen  map[string]bool
}

// add adds an item, which must be an object with a key that no other one has.
func (c *collector) add(key string, item json.RawMessage) error {
	switch {
	case !wire.IsObject(item) || !wire.Valid(item):
		return errNotObject
	case c.seen[key]:
		return errRepeated
	case c.seen == nil:
		c.seen = map[string]bool{}
	}
	c.seen[key] = true
	c.keys, c.items = append(c.keys, key), append(c.items, item)
	return nil
}

// listing encodes the items, in order, as the member of a result with a name.
func (c *collector) listing(name string) (l listing) {
	sum := sha256.New()
	for start := 0; start == 0 || start < len(c.items); start += pageSize {
		end := min(start+pageSize, len(c.items))
		body := append(append([]byte{'{'}, wire.Quote(name)...), ":["...)
		for i, item := range c.items[start:end] {
			if i > 0 {
				body = append(body, ',')
			}
			body = append(body, item...)
		}
		body = append(body, ']')
		if end < len(c.items) {
			body = append(body, `,"nextCursor":"`+cursor(c.keys[end])+`"`...)
		}
		p := page{body: body}
		if start > 0 {
			p.cursor = cursor(c.keys[start])
		}
		l.pages = append(l.pages, p)
		sum.Write(body)
	}
	sum.Sum(l.sum[:0])
	return l
}

// cursor names the first item of a page: it stays good when others change.
func cursor(key string) string { return base64.RawURLEncoding.EncodeToString([]byte(key)) }

// page returns the page at the cursor, nil if there is none.
func (l listing) page(cursor string) []byte {
	for _, p := range l.pages {
		if p.cursor == cursor {
			return p.body
		}
	}
	return nil
}
