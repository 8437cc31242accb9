package stdtool

import (
	"io/fs"
	"slices"
	"strings"
	"sync/atomic"
)

// A place is an open folder. It is closed when nobody uses it any more.
type place struct {
	handle
	users atomic.Int32
}

func newPlace(h handle) *place {
	p := &place{handle: h}
	p.users.Store(1)
	return p
}

func (p *place) hold() { p.users.Add(1) }

func (p *place) release() {
	if p.users.Add(-1) == 0 {
		p.close()
	}
}

// sorted returns the entries of a folder, in order of names.
func (p *place) sorted() []fs.DirEntry {
	entries := p.entries()
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries
}
