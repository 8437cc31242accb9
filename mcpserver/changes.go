package mcpserver

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/toolpost/toolpost/internal/wire"
)

// Clients hear of changes in one way:
//
//	a list or resource changes ─▶ changes ─▶ listener.mark ─▶ (a stream is open) listener.run ─▶ client
//
// A listener keeps what its client has not heard yet until a stream is open.
// Each listener writes on its own goroutine, which ends when there is nothing
// left to say: a client that does not read holds up nobody else.

// A lists is a set of the lists of which clients hear.
type lists uint8

const (
	toolList lists = 1 << iota
	promptList
	resourceList // also the list of templates
	allLists     = toolList | promptList | resourceList
)

// listOf returns the list that a method returns, 0 for other methods.
func listOf(method string) lists {
	switch method {
	case listTools:
		return toolList
	case listPrompts:
		return promptList
	case listResources, listTemplates:
		return resourceList
	}
	return 0
}

// changeDelay collects changes that follow each other closely.
const changeDelay = 10 * time.Millisecond

// changes owns the notifications that something has changed.
type changes struct {
	views     *views
	mu        sync.Mutex
	listeners map[*listener]bool
}

func (c *changes) add(l *listener) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.listeners[l] = true
}

func (c *changes) remove(l *listener) {
	l.open(nil)
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.listeners, l)
}

// announce tells all listeners that lists have changed.
func (c *changes) announce(changed lists) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for l := range c.listeners {
		l.mark(changed, "")
	}
}

// A listener is a client that hears of changes.
type listener struct {
	changes      *changes
	wants        lists
	subscription json.RawMessage // the id of subscriptions/listen; nil for sessions

	mu      sync.Mutex
	stream  sender          // nil while none is open
	changed lists           // that the client has not heard of
	watched map[string]bool // by URI: whether the client has not heard of a change
	writing bool            // run is running, or soon will be
	gone    bool            // it watches nothing any more
	client  Client
	tools   *tools // the list that the client knows; nil if it knows none
}

// open gives the listener a stream, or none, and returns the one before it.
func (l *listener) open(stream sender) (before sender) {
	l.mu.Lock()
	defer l.mu.Unlock()
	before, l.stream = l.stream, stream
	l.wake()
	return before
}

// close takes a stream away, unless there is another one by now.
func (l *listener) close(stream sender) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stream == stream {
		l.stream = nil
	}
}

// mark records that lists have changed, or a watched resource unless uri is "".
func (l *listener) mark(changed lists, uri string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.changed |= changed & l.wants
	if _, watches := l.watched[uri]; watches {
		l.watched[uri] = true
	}
	l.wake()
}

// wake starts run soon if there is something to write. The lock is held.
func (l *listener) wake() {
	if l.stream != nil && !l.writing {
		if _, any := l.next(false); any {
			l.writing = true
			time.AfterFunc(changeDelay, l.run)
		}
	}
}

// A change is one notification.
type change struct {
	list lists
	uri  string
}

// next returns a change that the client has not heard of, and takes it. The
// lock is held.
func (l *listener) next(take bool) (change, bool) {
	for list := toolList; list <= resourceList; list <<= 1 {
		if l.changed&list != 0 {
			if take {
				l.changed &^= list
			}
			return change{list: list}, true
		}
	}
	for uri, changed := range l.watched {
		if changed {
			l.watched[uri] = !take
			return change{uri: uri}, true
		}
	}
	return change{}, false
}

// run writes until there is nothing left.
func (l *listener) run() {
	for {
		l.mu.Lock()
		stream := l.stream
		var next change
		ok := stream != nil
		if ok {
			next, ok = l.next(true)
		}
		l.writing = ok
		l.mu.Unlock()
		if !ok {
			return
		}
		if err := l.write(stream, next); err != nil {
			l.keep(stream, next)
		}
	}
}

// keep keeps a change that could not be written for the next stream.
func (l *listener) keep(broken sender, c change) {
	l.close(broken)
	l.mark(c.list, c.uri)
	if c.list == toolList { // it is not what the client knows
		l.mu.Lock()
		defer l.mu.Unlock()
		l.tools = nil
	}
}

func (l *listener) write(stream sender, next change) error {
	if next.list == toolList && !l.listsOtherTools() {
		return nil
	}
	return stream.send(context.Background(), l.notification(next))
}

func (l *listener) notification(n change) []byte {
	params := json.RawMessage("{}")
	method := "notifications/resources/updated"
	switch n.list {
	case toolList:
		method = "notifications/tools/list_changed"
	case promptList:
		method = "notifications/prompts/list_changed"
	case resourceList:
		method = "notifications/resources/list_changed"
	default:
		params = wire.Append(params, `"uri":`+string(wire.Quote(n.uri)))
	}
	if l.subscription != nil {
		params = wire.Append(params, `"_meta":{`+subscriptionID+`:`+string(l.subscription)+`}`)
	}
	return wire.AppendRequest(nil, nil, method, params)
}

// lists records that the client lists anew: it hears of later changes only.
func (l *listener) lists(method string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.changed &^= listOf(method)
}

// listed records the list of tools that the client gets.
func (l *listener) listed(c Client, t *tools) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.client, l.tools = c, t
}

// listsOtherTools reports whether the client gets another list of tools than
// the one it knows, and remembers the new one. Without views all know the same.
func (l *listener) listsOtherTools() (differs bool) {
	v := l.changes.views
	l.mu.Lock()
	client, known := l.client, l.tools
	l.mu.Unlock()
	if v.choose == nil || known == nil {
		return true
	}
	defer func() {
		if p := recover(); p != nil {
			v.log.Error("the view of a client is not known", "panic", p)
			differs = true // listing again reports why
		}
	}()
	view, fault := v.of(client)
	if fault != nil {
		return true
	}
	now := view.tools.Load()
	l.listed(client, now)
	return known != now && !known.listing.equal(now.listing)
}
