package upstream

import (
	"bytes"
	"context"

	"github.com/toolpost/toolpost"
)

// A Known is everything that a server listed at one moment, in a form that can
// be stored. An upstream that is started with it lists the same at once, while
// it connects; calls of these tools wait for the server. Its JSON has the raw
// JSON of the server as base64, because encoding it again would change its bytes.
type Known struct {
	Transport    Transport           `json:"transport"`
	Version      string              `json:"version"`        // of MCP
	Server       string              `json:"server"`         // the name and version that the server gave
	Info         []byte              `json:"info,omitempty"` // MCP's Implementation object
	Instructions string              `json:"instructions,omitempty"`
	Capabilities []byte              `json:"capabilities,omitempty"`
	Lists        map[string][][]byte `json:"lists"` // the definitions, by the method that lists them

	// Asks reports that the server has sent something that is for one client alone, such as
	// a question that names no call. An upstream does not set it: it is a note of who starts it.
	Asks bool `json:"asks,omitempty"`
}

// Known returns the last listing, nil before the first. While the listing is the
// same, Known returns the same pointer.
func (u *Upstream) Known() *Known {
	v, _ := u.view()
	return v.listing.known
}

// recall makes a listing of what is known, as list makes one of what the server
// answers.
func (u *Upstream) recall(k *Known) *listing {
	r := newLister(u, &hello{version: k.Version, server: k.Server, info: k.Info, instructions: k.Instructions, capabilities: k.Capabilities}, k.Transport)
	r.pages = func(_ context.Context, method, _ string) ([][]byte, error) { return k.Lists[method], nil }
	_ = r.listTools(u.ctx, slowList) // what is known can be listed
	r.features(u.ctx)
	r.l.known = k
	return r.listing()
}

// listing returns what was listed.
func (r *lister) listing() *listing {
	r.hash.Sum(r.l.sum[:0])
	return r.l
}

// reuse keeps the tools of the listing before whose definitions are the same, so
// that layers above recognize them.
func (l *listing) reuse(before *listing) {
	same := before.known != nil && before.known.Transport == l.known.Transport
	l.byName = make(map[string]*toolpost.Tool, len(l.tools))
	for i, t := range l.tools {
		if old := before.byName[t.Name]; same && old != nil && bytes.Equal(old.Raw, t.Raw) {
			l.tools[i] = old
		}
		l.byName[t.Name] = l.tools[i]
	}
}

// checkListed reports why a tool must not be called although a client has it: the
// server has listed since, and the tool has gone or has become another one.
func (u *Upstream) checkListed(name string, definition []byte) error {
	v, _ := u.view()
	t := v.listing.byName[name]
	switch {
	case t == nil:
		return toolpost.Failed.Errorf("server %q no longer has a tool %q; list the tools again", u.cfg.Name, name)
	case u.opts.ofGateway.Vet == nil || bytes.Equal(t.Raw, definition):
		return nil
	}
	return u.opts.ofGateway.Vet(t)
}
