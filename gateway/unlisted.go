package gateway

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/toolpost/toolpost"
)

// Limits of the resources that are remembered because a server's results link to
// them.
const (
	maxLinked    = 1000
	maxLinkedURI = 2 << 10
)

// unlistedTime limits how long one server is asked for a resource that it may
// not have.
const unlistedTime = 10 * time.Second

// linked holds the URIs of resources that a server need not list: those that
// its results link to, and those that it has read. The oldest are forgotten.
type linked struct {
	mu    sync.Mutex
	uris  map[string]bool
	order []string
}

func (l *linked) add(uri string) {
	if uri == "" || len(uri) > maxLinkedURI {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.uris[uri] {
		return
	}
	if l.uris == nil {
		l.uris = map[string]bool{}
	}
	if len(l.order) == maxLinked {
		delete(l.uris, l.order[0])
		l.order = append(l.order[:0], l.order[1:]...)
	}
	l.uris[uri] = true
	l.order = append(l.order, uri)
}

func (l *linked) has(uri string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.uris[uri]
}

// addLinks adds the resources that a tool's result names. Most results name
// none, and are not decoded.
func (l *linked) addLinks(r *toolpost.Result) {
	if r == nil {
		return
	}
	if o := r.Encoded().Long; o != nil {
		for _, uri := range o.URIs {
			l.add(uri)
		}
		return
	}
	if found := r.Encoded().Scan; found != nil && !found.Links {
		return
	}
	for _, p := range r.Parts() {
		if p.Type == "resource_link" || p.Type == "resource" {
			l.add(p.URI)
		}
	}
}

// serverOf returns the server that reads and subscriptions of the URI go to: the
// first that lists it, else the first that has a template for it, else the
// first that is known to have it. Nil means that no server is known to have it.
func serverOf(members []*member, uri string) *member {
	for _, template := range []bool{false, true} {
		for _, m := range members {
			for _, r := range m.features().Resources {
				if r.Template == template && r.Matches(uri) {
					return m
				}
			}
		}
	}
	for _, m := range members {
		if m.linked.has(uri) {
			return m
		}
	}
	return nil
}

// subscribe asks the server that owns the URI.
func subscribe(ctx context.Context, members []*member, uri string, on bool) error {
	m, own := resolve(members, uri)
	if m == nil {
		return fmt.Errorf("watch resource %s: %w", uri, toolpost.ErrNotFound)
	}
	f := m.features()
	if f.Subscribe == nil {
		return fmt.Errorf("watch resource %s: its server %q does not offer subscriptions: %w", uri, m.server.Name, toolpost.ErrNotFound)
	}
	err := f.Subscribe(ctx, own, on)
	if m.process == nil { // that of a session ends with its subscriptions
		m.watch(own, on && err == nil)
	}
	return err
}

// readUnlisted reads a resource that no server lists from the server that owns
// it. If none does, the servers that have resources are asked in turn.
func readUnlisted(ctx context.Context, members []*member, call *toolpost.Call) (*toolpost.Result, error) {
	if m, own := resolve(members, call.Name); m != nil {
		if read := m.features().ReadUnlisted; read != nil {
			return m.toClient(m.toServer(read, readResource, own), false)(ctx, call)
		}
	}
	var cause error
	for _, m := range members {
		read := m.features().ReadUnlisted
		if read == nil {
			continue
		}
		attempt, cancel := context.WithTimeout(ctx, unlistedTime)
		result, err := m.toServer(read, readResource, "")(attempt, call)
		cancel()
		if err == nil {
			m.linked.add(call.Name)
			return result, nil
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		var refused *toolpost.ProtocolError
		if !errors.As(err, &refused) && cause == nil {
			cause = fmt.Errorf("server %q: %w", m.server.Name, err)
		}
	}
	if cause != nil {
		return nil, cause
	}
	return nil, fmt.Errorf("read resource %s: %w", call.Name, toolpost.ErrNotFound)
}
