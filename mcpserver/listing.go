package mcpserver

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"

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
	cursor    string // "" for the first
	body      []byte // the result without its closing brace, for sessions
	stateless []byte // for requests since 2026-07-28; often the same
}

var (
	errNotObject = errors.New("it is not a JSON object")
	errRepeated  = errors.New("there is one before it")
)

// A collector gathers the items of a listing.
type collector struct {
	kind  wire.Kind
	log   *reports
	keys  []string // the identities of the items
	items []item
	seen  map[string]bool
}

// An item is a definition that is valid by the published schemas of MCP: of the
// newest version with sessions, which has all that older ones have, and of the
// version after it.
type item struct{ session, stateless json.RawMessage }

// add adds a definition, which must be an object with a key that no other one has.
// Members that clients would refuse are removed: they refuse the whole list because
// of one.
func (c *collector) add(key string, definition json.RawMessage) error {
	switch {
	case !wire.IsObject(definition):
		return errNotObject
	case c.seen[key]:
		return errRepeated
	case c.seen == nil:
		c.seen = map[string]bool{}
	}
	session, reasons, err := wire.Mend(definition, c.kind, wire.LastSession)
	if err != nil {
		return err
	}
	stateless := session
	if reasons != nil { // what is valid for sessions is valid after them
		var forAll []string
		if stateless, forAll, err = wire.Mend(definition, c.kind, wire.Stateless); err != nil {
			return err
		}
		c.log.reportMended(c.kind, key, reasons, forAll)
	}
	c.seen[key] = true
	c.keys, c.items = append(c.keys, key), append(c.items, item{session, stateless})
	return nil
}

// listing encodes the items, in order, as the member of a result with a name.
func (c *collector) listing(name string) (l listing) {
	sum := sha256.New()
	for start := 0; start == 0 || start < len(c.items); start += pageSize {
		end := min(start+pageSize, len(c.items))
		next := ""
		if end < len(c.items) {
			next = cursor(c.keys[end])
		}
		items := c.items[start:end]
		p := page{body: encodePage(name, next, items, func(i item) json.RawMessage { return i.session })}
		p.stateless = p.body
		if slices.ContainsFunc(items, func(i item) bool { return !bytes.Equal(i.session, i.stateless) }) {
			p.stateless = encodePage(name, next, items, func(i item) json.RawMessage { return i.stateless })
			sum.Write(p.stateless)
		}
		if start > 0 {
			p.cursor = cursor(c.keys[start])
		}
		l.pages = append(l.pages, p)
		sum.Write(p.body)
	}
	sum.Sum(l.sum[:0])
	return l
}

// encodePage encodes items as the member of a result with a name.
func encodePage(name, next string, items []item, of func(item) json.RawMessage) []byte {
	body := append(append([]byte{'{'}, wire.Quote(name)...), ":["...)
	for i := range items {
		if i > 0 {
			body = append(body, ',')
		}
		body = append(body, of(items[i])...)
	}
	body = append(body, ']')
	if next != "" {
		body = append(body, `,"nextCursor":"`+next+`"`...)
	}
	return body
}

// cursor names the first item of a page: it stays good when others change.
func cursor(key string) string { return base64.RawURLEncoding.EncodeToString([]byte(key)) }

// page returns the page at the cursor, nil if there is none.
func (l listing) page(cursor string) *page {
	for i := range l.pages {
		if l.pages[i].cursor == cursor {
			return &l.pages[i]
		}
	}
	return nil
}

// reports logs what is wrong with definitions, each once: lists are encoded for each
// view, and after each change.
type reports struct {
	log     *slog.Logger
	mu      sync.Mutex
	made    map[string]bool
	repairs repairs // of what is wrong with schemas
}

// maxReports is how many reports are remembered. After them, all are forgotten.
const maxReports = 10_000

// reportMended reports why a definition is changed: for clients of versions with sessions,
// and for all.
func (r *reports) reportMended(kind wire.Kind, key string, forSessions, forAll []string) {
	if forAll != nil {
		r.report(slog.LevelWarn, "a definition is not valid, and is changed", kind, key, strings.Join(forAll, "; "))
		return
	}
	r.report(slog.LevelInfo, "a definition is changed for clients of MCP up to "+wire.LastSession, kind, key, strings.Join(forSessions, "; "))
}

// reportOmitted reports why a definition is not listed.
func (r *reports) reportOmitted(kind wire.Kind, key string, err error) {
	r.report(slog.LevelWarn, "a definition is not listed", kind, key, err.Error())
}

func (r *reports) report(level slog.Level, message string, kind wire.Kind, key, why string) {
	key, why = clip(key), clip(why)
	about := strings.Join([]string{message, string(kind), key, why}, "\x00")
	r.mu.Lock()
	known := r.made[about]
	if r.made == nil || len(r.made) >= maxReports {
		r.made = map[string]bool{}
	}
	r.made[about] = true
	r.mu.Unlock()
	if !known {
		r.log.Log(context.Background(), level, message, "kind", kind, "name", key, "why", why)
	}
}
