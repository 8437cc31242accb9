package gateway

import (
	"slices"

	"github.com/tailscale/hujson"
	"github.com/toolpost/toolpost/dialect"
)

// dialects are what a file says about dialects.
type dialects struct {
	chosen *hujson.Value // the id of the one for all clients
	own    []*overlay
}

// An overlay is a dialect of the user, in JSON.
type overlay struct {
	id     string
	offset int
	json   []byte
	err    error
}

func (f *file) dialect(v hujson.Value, path string) {
	if f.cfg.Dialect = f.text(v, path); v.Value.Kind() == '"' {
		f.chosen = &v
	}
}

func (f *file) overlays(v hujson.Value, path string) {
	f.members(v, path, func(m *hujson.ObjectMember) {
		if key(m) == NoDialect {
			f.fail(m.Name.StartOffset, "%q stands for no dialect; give this one another name", NoDialect)
			return
		}
		plain := m.Value.Clone()
		plain.Standardize()
		f.own = append(f.own, &overlay{id: key(m), offset: m.Name.StartOffset, json: plain.Pack()})
	})
}

// bind makes the book of dialects and looks the chosen one up, when the whole
// file is read. An overlay may extend another, in any order: each is added as
// soon as what it needs is there, and those that are left are wrong.
func (f *file) bind() {
	book, err := dialect.NewBook(nil)
	texts := map[string][]byte{}
	left := f.own
	for before := -1; before != len(left); {
		before = len(left)
		left = slices.DeleteFunc(left, func(o *overlay) bool {
			texts[o.id] = o.json
			larger, err := dialect.NewBook(texts)
			if o.err = err; err != nil {
				delete(texts, o.id)
				return false
			}
			book = larger
			return true
		})
	}
	for _, o := range left {
		f.fail(o.offset, "%v", o.err)
	}
	if len(texts) > 0 {
		f.cfg.Dialects = book
	}
	if f.chosen == nil || len(left) > 0 {
		return
	}
	if err == nil {
		err = (&choices{book: book}).check(f.cfg.Dialect)
	}
	if err != nil {
		f.fail(f.chosen.StartOffset, "%v", err)
	}
}
