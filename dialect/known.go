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
)

//go:embed targets/*.json
var targets embed.FS

// builtIn holds the dialects of targets, read once.
var builtIn = sync.OnceValue(func() *Book {
	written, err := readTargets()
	if err != nil {
		panic(err)
	}
	b, err := written.book(nil)
	if err != nil {
		panic(err) // a file of this package is wrong, which its tests tell first
	}
	return b
})

func readTargets() (sheets, error) {
	files, err := fs.Glob(targets, "targets/*.json")
	if err != nil {
		return nil, err
	}
	written := sheets{}
	for _, f := range files {
		text, err := targets.ReadFile(f)
		if err != nil {
			return nil, err
		}
		written[strings.TrimSuffix(path.Base(f), ".json")] = text
	}
	return written, nil
}

// All returns the built-in dialects, sorted by id. They are shared: do not
// change them.
func All() []*Dialect { return builtIn().All() }

// Find returns the built-in dialect of that id. It is shared: do not change
// it.
func Find(id string) (*Dialect, error) { return builtIn().Find(id) }

// A Book is the dialects that a configuration knows: the built-in ones with
// the user's own over them. What it returns is shared: do not change it.
type Book struct {
	dialects map[string]*Dialect
	clients  []*match // those that come first are asked first
}

// NewBook adds overlays to the built-in dialects. An overlay is a dialect in
// JSON; it changes the built-in one of its id, or is a new one that extends
// another. It is laid over the other member by member: null takes a member
// away, lists and scalars replace, sources are added. A change to a dialect
// also holds for those that extend it.
func NewBook(overlays map[string][]byte) (*Book, error) {
	if len(overlays) == 0 {
		return builtIn(), nil
	}
	written, err := readTargets()
	if err != nil {
		return nil, err
	}
	for _, id := range slices.Sorted(maps.Keys(overlays)) {
		if err := written.overlay(id, overlays[id]); err != nil {
			return nil, fmt.Errorf("dialect %q: %w", id, err)
		}
	}
	return written.book(overlays)
}

// book reads all dialects, those of overlays first: they are the likelier to
// be wrong, and their clients win.
func (s sheets) book(overlays map[string][]byte) (*Book, error) {
	b := &Book{dialects: map[string]*Dialect{}}
	ids := append(slices.Sorted(maps.Keys(overlays)), slices.Sorted(maps.Keys(s))...)
	for _, id := range ids {
		if b.dialects[id] != nil {
			continue
		}
		d, err := s.dialect(id)
		if err != nil {
			return nil, fmt.Errorf("dialect %q: %w", id, err)
		}
		b.dialects[id] = d
		for _, c := range d.Clients {
			m, err := newMatch(d, c, member(overlays[id], "clients") != nil)
			if err != nil {
				return nil, fmt.Errorf("dialect %q: clients: %w", id, err)
			}
			b.clients = append(b.clients, m)
		}
	}
	slices.SortStableFunc(b.clients, byRank)
	return b, nil
}

// All returns the dialects of the book, sorted by id.
func (b *Book) All() []*Dialect {
	return slices.SortedFunc(maps.Values(b.dialects), func(x, y *Dialect) int { return strings.Compare(x.ID, y.ID) })
}

// Find returns the dialect of that id; the error names what there is.
func (b *Book) Find(id string) (*Dialect, error) {
	if d := b.dialects[id]; d != nil {
		return d, nil
	}
	return nil, missing(id, b.dialects)
}

// missing tells that there is no dialect of that id, and which there are.
func missing[V any](id string, known map[string]V) error {
	if id == "" {
		return errors.New("no dialect is named: there are " + listed(known))
	}
	return fmt.Errorf("there is no dialect %q: there are %s", id, listed(known))
}

func listed[V any](known map[string]V) string {
	return strings.Join(slices.Sorted(maps.Keys(known)), ", ")
}
