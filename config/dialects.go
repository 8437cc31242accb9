package config

import (
	"errors"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/tailscale/hujson"
	"github.com/toolpost/toolpost/schema/dialect"
)

// dialects are what a file says about dialects.
type dialects struct {
	chosen *hujson.Value // the id of the one for all clients
	own    []*hujson.ObjectMember
}

func (f *file) dialect(v hujson.Value, path string) {
	if f.cfg.Dialect = f.text(v, path); v.Value.Kind() == '"' {
		f.chosen = &v
	}
}

func (f *file) overlays(v hujson.Value, path string) {
	f.members(v, path, func(m *hujson.ObjectMember) {
		if key(m) == "none" {
			f.fail(m.Name.StartOffset, `"none" means that tools are not adapted; give this dialect another name`)
			return
		}
		f.own = append(f.own, m)
	})
}

// bind makes the book of dialects and looks the chosen one up, when the whole
// file is read.
func (f *file) bind() {
	if len(f.own) == 0 && len(f.wanted) == 0 && len(f.named) == 0 && f.chosen == nil {
		f.checkProfiles(nil, nil)
		return // reading the dialects takes a millisecond
	}
	texts := map[string][]byte{}
	for _, m := range f.own {
		plain := m.Value.Clone()
		plain.Standardize()
		texts[key(m)] = plain.Pack()
	}
	book, err := dialect.NewBook(texts)
	switch {
	case err != nil:
		f.wrong(err)
	case len(texts) > 0:
		f.cfg.Dialects = book
	}
	if book == nil {
		book, _ = dialect.NewBook(nil) // only overlays can be wrong
	}
	f.checkProfiles(book, texts)
	if f.chosen == nil || texts[f.cfg.Dialect] != nil {
		return
	}
	if err := book.Check(f.cfg.Dialect); err != nil {
		f.fail(f.chosen.StartOffset, "%v", err)
	}
}

// wrong reports what is wrong with overlays where it stands.
func (f *file) wrong(err error) {
	all := []error{err}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		all = joined.Unwrap()
	}
	for _, err := range all {
		at := f.own[0].Name.StartOffset // an overlay can spoil a dialect that extends it
		for _, m := range f.own {
			if e, ok := errors.AsType[*dialect.OverlayError](err); ok && key(m) == e.ID {
				at = place(m, e.Pointer)
			}
		}
		f.fail(at, "%v", err)
	}
}

// place returns the offset of the part of m that a JSON pointer names, or of
// what that part is missing in.
func place(m *hujson.ObjectMember, pointer string) int {
	at, v := m.Name.StartOffset, m.Value
	for token := range jsontext.Pointer(pointer).Tokens() {
		switch whole := v.Value.(type) {
		case *hujson.Object:
			i := slices.IndexFunc(whole.Members, func(m hujson.ObjectMember) bool { return key(&m) == token })
			if i < 0 {
				return at
			}
			at, v = whole.Members[i].Name.StartOffset, whole.Members[i].Value
		case *hujson.Array:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(whole.Elements) {
				return at
			}
			at, v = whole.Elements[i].StartOffset, whole.Elements[i]
		}
	}
	return at
}
