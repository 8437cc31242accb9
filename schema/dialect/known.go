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

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/toolpost/toolpost/internal/suggest"
)

//go:embed targets/*.json
var targets embed.FS

// builtIn is the book of targets. Each of its dialects is read when it is needed:
// a program uses few of them, and reading all takes ten milliseconds. An error
// means that a file of this package is wrong, which its tests report first.
var builtIn = sync.OnceValue(func() *Book {
	written, err := readTargets()
	if err != nil {
		panic(err)
	}
	b := &Book{ids: slices.Sorted(maps.Keys(written)), dialects: map[string]*Dialect{}, unread: &reader{sheets: written, pages: map[string]*page{}}}
	for _, id := range b.ids {
		var clients []Client
		if text := member(written[id], "clients"); text != nil {
			if err := json.Unmarshal(text, &clients); err != nil {
				panic(err)
			}
		}
		if err := b.addClients(id, clients, false); err != nil {
			panic(err)
		}
	}
	slices.SortStableFunc(b.clients, byRank)
	return b
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

// All returns the built-in dialects, sorted by id. They are shared: do not
// change them.
func All() []*Dialect { return builtIn().All() }

// Find returns the built-in dialect with that id. It is shared: do not change
// it.
func Find(id string) (*Dialect, error) { return builtIn().Find(id) }

// A Book contains the dialects of a configuration: the built-in ones with the
// user's overlays applied. The dialects that it returns are shared: do not change them.
type Book struct {
	ids     []string // sorted
	clients []*match // those that come first are asked first

	mu       sync.Mutex
	dialects map[string]*Dialect // those that were read
	unread   *reader             // reads the others; nil if all were read
}

// NewBook applies overlays to the built-in dialects. An overlay is a dialect in
// JSON. It changes the built-in dialect with its id, or is a new dialect that
// extends another one. It is merged member by member: null removes a member,
// lists and scalars replace, sources are added. A change to a dialect also
// applies to those that extend it. The error joins an [*OverlayError] for each
// overlay with a mistake, sorted by id.
func NewBook(overlays map[string][]byte) (*Book, error) {
	b := builtIn()
	if len(overlays) == 0 {
		return b, nil
	}
	b.mu.Lock()
	r := b.unread.with(overlays)
	b.mu.Unlock()
	return r.book(overlays)
}

// book reads all dialects; clients of overlays win.
func (r *reader) book(overlays map[string][]byte) (*Book, error) {
	b := &Book{dialects: map[string]*Dialect{}, ids: slices.Sorted(maps.Keys(r.sheets))}
	var wrong, also []error // those of overlays, and of others because of them
	for _, id := range b.ids {
		p := r.read(id)
		err := p.err
		if err == nil {
			b.dialects[id] = p.dialect
			err = b.addClients(id, p.dialect.Clients, member(overlays[id], "clients") != nil)
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
		return nil, errors.Join(wrong...)
	}
	slices.SortStableFunc(b.clients, byRank)
	return b, nil
}

func (b *Book) addClients(id string, clients []Client, overlaid bool) error {
	for i, c := range clients {
		m, err := newMatch(id, c, overlaid)
		if err != nil {
			return newFault(fmt.Sprintf("/clients/%d", i), "is not valid: %w", err)
		}
		b.clients = append(b.clients, m)
	}
	return nil
}

// All returns the dialects of the book, sorted by id.
func (b *Book) All() []*Dialect {
	all := make([]*Dialect, len(b.ids))
	for i, id := range b.ids {
		all[i] = b.dialect(id)
	}
	return all
}

// IDs returns the ids of the dialects of the book, sorted. It reads none of them.
func (b *Book) IDs() []string { return slices.Clone(b.ids) }

// dialect returns the dialect with that id, and reads it if it was not read. It
// returns nil if there is none.
func (b *Book) dialect(id string) *Dialect {
	b.mu.Lock()
	defer b.mu.Unlock()
	d := b.dialects[id]
	if d != nil || b.unread == nil || b.unread.sheets[id] == nil {
		return d
	}
	p := b.unread.read(id)
	if p.err != nil {
		panic(p.err)
	}
	b.dialects[id] = p.dialect
	return p.dialect
}

// Find returns the dialect with that id; the error lists the known ids.
func (b *Book) Find(id string) (*Dialect, error) {
	if d := b.dialect(id); d != nil {
		return d, nil
	}
	return nil, missing(id, b.ids)
}

// Check returns an error if id cannot be chosen: the book has no such dialect, and it is not
// "none", which adapts nothing. The error proposes a similar id.
func (b *Book) Check(id string) error {
	const none = "none"
	if id == none || b.dialect(id) != nil {
		return nil
	}
	if near := suggest.Nearest(id, append(slices.Clone(b.ids), none)); near != "" {
		return fmt.Errorf("unknown dialect %q; did you mean %q?", id, near)
	}
	return fmt.Errorf("%w; %q adapts nothing", missing(id, b.ids), none)
}

// missing returns the error for an unknown dialect; it lists the known ones.
func missing(id string, known []string) error {
	if id == "" {
		return errors.New("no dialect is named; the dialects are " + strings.Join(known, ", "))
	}
	return fmt.Errorf("unknown dialect %.80q; the dialects are %s", id, strings.Join(known, ", "))
}
