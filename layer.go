package toolpost

import (
	"context"
	"slices"
	"sync"
)

// Layer returns ts with its tools and features replaced by the results of the
// functions; a nil function changes nothing. Each function is called only when
// its input has changed, and never concurrently with itself; features is not
// called if ts has none. The functions must not modify their arguments.
func Layer(ts Toolset, tools func([]*Tool) ([]*Tool, error), features func(*Features) *Features) Toolset {
	return &layer{Toolset: ts, tools: tools, features: features}
}

type layer struct {
	Toolset
	tools    func([]*Tool) ([]*Tool, error)
	features func(*Features) *Features

	listing   sync.Mutex
	in, out   []*Tool // of the last listing
	mu        sync.Mutex
	from, own *Features
}

func (l *layer) Tools(ctx context.Context) ([]*Tool, error) {
	in, err := l.Toolset.Tools(ctx)
	if err != nil || l.tools == nil {
		return in, err
	}
	l.listing.Lock()
	defer l.listing.Unlock()
	if l.out != nil && slices.Equal(in, l.in) {
		return l.out, nil
	}
	out, err := l.tools(in)
	if err != nil {
		return nil, err
	}
	l.in, l.out = slices.Clone(in), out
	return out, nil
}

func (l *layer) Features() *Features {
	f := l.Toolset.Features()
	if f == nil || l.features == nil {
		return f
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if f != l.from {
		l.from, l.own = f, l.features(f)
	}
	return l.own
}
