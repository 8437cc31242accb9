package mcpserver

import (
	"bytes"
	"encoding/base64"
	"encoding/json"

	"github.com/toolpost/toolpost/internal/wire"
)

// pageSize is how many items one page of a list has. Few clients ask for a
// second page, so that the first one should be enough for most servers.
const pageSize = 1000

// A listing is the answer to a list method, encoded once.
type listing []page

type page struct {
	cursor string // "" for the first
	body   []byte // the result without its closing brace
}

// newListing encodes items, in order; keys are their identities, and name is
// the member of the result that holds them.
func newListing(name string, keys []string, items []json.RawMessage) listing {
	var l listing
	for start := 0; start == 0 || start < len(items); start += pageSize {
		end := min(start+pageSize, len(items))
		p := page{}
		if start > 0 {
			p.cursor = cursor(keys[start])
		}
		body := append([]byte{'{'}, wire.Quote(name)...)
		body = append(append(body, ":["...), bytes.Join(rawBytes(items[start:end]), []byte{','})...)
		body = append(body, ']')
		if end < len(items) {
			body = append(body, `,"nextCursor":"`+cursor(keys[end])+`"`...)
		}
		p.body = body
		l = append(l, p)
	}
	return l
}

// cursor names the first item of a page: it stays good when others change.
func cursor(key string) string { return base64.RawURLEncoding.EncodeToString([]byte(key)) }

func rawBytes(items []json.RawMessage) [][]byte {
	all := make([][]byte, len(items))
	for i, item := range items {
		all[i] = item
	}
	return all
}

// page returns the page at the cursor, nil if there is none.
func (l listing) page(cursor string) []byte {
	for _, p := range l {
		if p.cursor == cursor {
			return p.body
		}
	}
	return nil
}

func (l listing) equal(other listing) bool {
	if len(l) != len(other) {
		return false
	}
	for i := range l {
		if !bytes.Equal(l[i].body, other[i].body) {
			return false
		}
	}
	return true
}
