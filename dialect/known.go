package dialect

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

//go:embed targets/*.json
var targets embed.FS

// builtIn reads the dialects of targets, once.
var builtIn = sync.OnceValues(func() (*reader, *Book) {
	written, err := readTargets()
	if err != nil {
		panic(err)
	}
	r := &reader{sheets: written, pages: map[string]*page{}}
	b, err := r.book(nil)
	if err != nil {
		panic(err) // a file of this package is wrong, which its tests report first
	}
	return r, b
})

func readTargets() (map[string]jsontext.Value, error) {
	files, err := fs.Glob(targets, "targets/*.json")
	if err != nil {
		return nil, err
	}
	written := map[string]jsontext.Value{}
	for _, f := range files {
		text, err := targets.ReadFile(f)
		if err != nil {
			return nil, err
		}
		written[strings.TrimSuffix(path.Base(f), ".json")] = text
	}
	return written, nil
}

func builtInBook() *Book {
	_, b := builtIn()
	return b
}

// All returns the built-in dialects, sorted by id. They are shared: do not
// change them.
func All() []*Dialect { return builtInBook().All() }

// Find returns the built-in dialect with that id. It is shared: do not change
// it.
func Find(id string) (*Dialect, error) { return builtInBook().Find(id) }

// A Book contains the dialects of a configuration: the built-in ones with the
// user's overlays applied. The dialects that it returns are shared: do not change them.
type Book struct {
	dialects map[string]*Dialect
	clients  []*match // those that come first are asked first
}

// NewBook applies overlays to the built-in dialects. An overlay is a dialect in
// JSON. It changes the built-in dialect with its id, or is a new dialect that
// extends another one. It is merged member by member: null removes a member,
// lists and scalars replace, sources are added. A change to a dialect also
// applies to those that extend it. The error is [OverlayErrors].
func NewBook(overlays map[string][]byte) (*Book, error) {
	r, b := builtIn()
	if len(overlays) == 0 {
		return b, nil
	}
	return r.with(overlays).book(overlays)
}

// book reads all dialects; clients of overlays win.
func (r *reader) book(overlays map[string][]byte) (*Book, error) {
	b := &Book{dialects: map[string]*Dialect{}}
	var wrong, also OverlayErrors // those of overlays, and of others because of them
	for _, id := range slices.Sorted(maps.Keys(r.sheets)) {
		p := r.read(id)
		err := p.err
		if err == nil {
			b.dialects[id] = p.dialect
			err = b.addClients(p.dialect, member(overlays[id], "clients") != nil)
		}
		switch {
		case err == nil:
		case overlays[id] != nil:
			wrong = append(wrong, newOverlayError(id, err))
		case !isInherited(err):
			also = append(also, newOverlayError(id, err))
		}
	}
	if len(wrong) == 0 {
		wrong = also
	}
	if len(wrong) > 0 {
		return nil, wrong
	}
	slices.SortStableFunc(b.clients, byRank)
	return b, nil
}

func (b *Book) addClients(d *Dialect, overlaid bool) error {
	for i, c := range d.Clients {
		m, err := newMatch(d, c, overlaid)
		if err != nil {
			return newFault(fmt.Sprintf("/clients/%d", i), "is not valid: %w", err)
		}
		b.clients = append(b.clients, m)
	}
	return nil
}

// All returns the dialects of the book, sorted by id.
func (b *Book) All() []*Dialect {
	return slices.SortedFunc(maps.Values(b.dialects), func(x, y *Dialect) int { return strings.Compare(x.ID, y.ID) })
}

// Find returns the dialect with that id; the error lists the known ids.
func (b *Book) Find(id string) (*Dialect, error) {
	if d := b.dialects[id]; d != nil {
		return d, nil
	}
	return nil, missing(id, b.dialects)
}

// missing returns the error for an unknown dialect; it lists the known ones.
func missing[V any](id string, known map[string]V) error {
	if id == "" {
		return errors.New("no dialect is named; the dialects are " + listed(known))
	}
	return fmt.Errorf("unknown dialect %.80q; the dialects are %s", id, listed(known))
}

func listed[V any](known map[string]V) string {
	return strings.Join(slices.Sorted(maps.Keys(known)), ", ")
}
