package stdtool

import "sync/atomic"

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
