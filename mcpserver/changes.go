package mcpserver

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/budget"
	"github.com/toolpost/toolpost/internal/wire"
	"github.com/toolpost/toolpost/observe"
)

// Clients hear of changes in one way:
//
//	a list or resource changes ─▶ changes ─▶ listener.mark ─▶ (a stream is open) listener.run ─▶ client
//
// A listener keeps pending notifications until a stream is open, and drops those of
// lists that the client knows by then. Each listener writes on its own goroutine,
// which ends when nothing is pending: a client that does not read delays no other
// client.

const (
	// changeDelay collects changes that follow each other closely.
	changeDelay = 10 * time.Millisecond
	// maxWatched is how many bytes of URIs one listener may watch. The listeners of one
	// client may watch maxClientWatched resources, of maxClientWatchedBytes.
	maxWatched            = 64 << 10
	maxClientWatched      = 25_000
	maxClientWatchedBytes = 16 << 20
	// Notifications of extensions that wait for one client. More are dropped.
	maxSaid      = 100
	maxSaidBytes = 256 << 10
)

// changes owns the notifications that something has changed.
type changes struct {
	views   *views
	watched *holders                                   // by URIs of resources
	moved   func(l *listener, to *view, uris []string) // watches resources in another view

	reviews atomic.Int64 // that have begun

	mu        sync.Mutex                    // also guards the listeners
	listeners map[*listener]bool            // that have joined a shared topic
	watching  map[string]map[*listener]bool // by the URI of the resource
}

// join adds a listener to a topic, unless the listener has ended or watches too
// much.
func (c *changes) join(l *listener, t topic) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case l.gone:
		return errEnded
	case l.topics.of(t) != none:
		return nil
	case t.method != resourceUpdated:
		c.listeners[l] = true
	case l.uriBytes+len(t.uri) > maxWatched || !l.watched.Take(len(t.uri)):
		return wire.Errorf(wire.CodeInvalidParams, "the session watches too many resources; end a subscription first")
	default:
		l.uriBytes += len(t.uri)
		if c.watching[t.uri] == nil {
			c.watching[t.uri] = map[*listener]bool{}
		}
		c.watching[t.uri][l] = true
	}
	l.topics.set(t, joined)
	return nil
}

// part removes a listener from those who watch a resource. It reports whether it was
// the last one.
func (c *changes) part(l *listener, uri string) (last bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := topic{resourceUpdated, uri}
	l.unmark(t)
	if l.topics.of(t) == none {
		return false
	}
	l.topics.set(t, none)
	l.uriBytes -= len(uri)
	l.watched.Give(len(uri))
	delete(c.watching[uri], l)
	if last = len(c.watching[uri]) == 0; last {
		delete(c.watching, uri)
	}
	return last
}

// forget ends a listener. It returns the resources that it still watches.
func (c *changes) forget(l *listener) (uris []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	l.gone, l.stream, l.said = true, nil, nil
	delete(c.listeners, l)
	return slices.Collect(maps.Keys(l.topics.resources))
}

// watches reports whether a listener that is shown a view watches a resource.
func (c *changes) watches(l *listener, in *view, uri string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return l.topics.of(topic{resourceUpdated, uri}) != none && l.view == in && !l.gone
}

// announce notifies the listeners of a topic who are shown a view that the topic has
// changed there. Of a list, also those hear whose view is not known.
func (c *changes) announce(t topic, in *view) {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := c.listeners
	if t.method == resourceUpdated {
		all = c.watching[t.uri]
	}
	for l := range all {
		if l.view == in || l.view == nil && t.method != resourceUpdated {
			l.mark(t)
		}
	}
}

// review has the views of all clients chosen again, from its return on, and notifies those
// whose view is another one now in the background.
func (c *changes) review() {
	c.reviews.Add(1)
	go c.lookAll()
}

func (c *changes) lookAll() {
	c.mu.Lock()
	all := maps.Clone(c.listeners)
	c.mu.Unlock()
	for l := range all {
		l.look()
	}
}

// notify sends a notification of an extension to those who are shown a view: to one
// session, or to all if it names none. A log message reaches only the session that it
// names.
func (c *changes) notify(n *toolpost.Call, in *view) {
	message := wire.AppendRequest(nil, nil, n.Name, n.Params)
	log := n.Name == wire.LogMessage
	level := ""
	if log {
		level = wire.Unquote(wire.Get(n.Params, "level"))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for l := range c.listeners {
		switch {
		case l.topics.of(topic{method: ofExtensions}) == none, l.view != in, n.Session != l.session && (n.Session != "" || log):
		case log && (l.level == nil || !wantsLog(level, int(l.level.Load()))):
		default:
			l.sendNotification(message)
		}
	}
}

// A listener is a client that is notified of changes.
type listener struct {
	changes      *changes
	session      string          // its name; "" for subscriptions/listen
	subscription json.RawMessage // the id of subscriptions/listen; nil for sessions
	client       *observe.Client // is set before the listener joins a topic
	level        *atomic.Int32   // the least level of log messages; nil for none
	watched      budget.Share[quotaHolder]

	// All that follows is guarded by changes.mu.
	stream   sender // nil while none is open
	topics   topics
	uriBytes int                       // of the topics
	news     []topic                   // of which it has not heard, in order
	said     [][]byte                  // by extensions, in order
	writing  bool                      // run is running, or soon will be
	gone     bool                      // it joins nothing any more
	view     *view                     // the lists that the client is shown; nil if that is not known
	shown    atomic.Pointer[shownView] // view, to be read without the lock
	lists    knownLists
}

// open gives the listener a stream and returns the one before it.
func (l *listener) open(stream sender) (before sender) {
	l.changes.mu.Lock()
	defer l.changes.mu.Unlock()
	before, l.stream = l.stream, stream
	l.wake()
	return before
}

// close takes a stream away, unless there is another one by now.
func (l *listener) close(stream sender) {
	l.changes.mu.Lock()
	defer l.changes.mu.Unlock()
	if l.stream == stream {
		l.stream, l.said = nil, nil
	}
}

// sendNotification passes on a notification of an extension. It is lost if no
// stream is open. The lock is held.
func (l *listener) sendNotification(message []byte) {
	size := len(message)
	for _, waiting := range l.said {
		size += len(waiting)
	}
	if l.stream == nil || len(l.said) >= maxSaid || size > maxSaidBytes {
		return
	}
	l.said = append(l.said, message)
	l.wake()
}

// mark records that a topic has changed, unless the client knows its state. The lock
// is held.
func (l *listener) mark(t topic) {
	if l.topics.of(t) == joined && l.isNews(t) {
		l.topics.set(t, marked)
		l.news = append(l.news, t)
	}
	l.wake()
}

// unmark undoes mark. The lock is held.
func (l *listener) unmark(t topic) {
	if l.topics.of(t) == marked {
		l.topics.set(t, joined)
		l.news = slices.DeleteFunc(l.news, func(other topic) bool { return other == t })
	}
}

// wake starts run soon if there is something to write. The lock is held.
func (l *listener) wake() {
	if l.stream != nil && !l.writing && len(l.news)+len(l.said) > 0 {
		l.writing = true
		time.AfterFunc(changeDelay, l.run)
	}
}

// run writes until there is nothing left.
func (l *listener) run() {
	for stream, said, t := l.next(); stream != nil; stream, said, t = l.next() {
		switch {
		case said != nil:
			if stream.send(context.Background(), said) != nil {
				l.close(stream)
			}
		case stream.send(context.Background(), l.notification(t)) != nil:
			l.keep(stream, t)
		}
	}
}

// next takes the next notification of an extension or else the next change, and
// returns the stream for it. There is no stream if there is nothing to write.
func (l *listener) next() (stream sender, said []byte, t topic) {
	l.changes.mu.Lock()
	defer l.changes.mu.Unlock()
	if l.stream != nil && len(l.said) > 0 {
		said, l.said = l.said[0], l.said[1:]
		return l.stream, said, topic{}
	}
	for l.stream != nil && len(l.news) > 0 {
		t, l.news = l.news[0], l.news[1:]
		l.topics.set(t, joined)
		if l.isNews(t) { // it may have listed meanwhile, or the list is as it was again
			l.setKnown(t, true)
			return l.stream, nil, t
		}
	}
	l.writing = false
	return nil, nil, topic{}
}

// keep keeps a change that could not be written for the next stream.
func (l *listener) keep(broken sender, t topic) {
	l.close(broken)
	l.changes.mu.Lock()
	defer l.changes.mu.Unlock()
	l.setKnown(t, false)
	l.mark(t)
}

func (l *listener) notification(t topic) []byte {
	params := json.RawMessage("{}")
	switch {
	case t.uri != "" && l.subscription == nil:
		params = wire.Append(params, `"uri":`+string(wire.Quote(wire.ReplaceURI(t.uri))))
	case t.uri != "":
		params = wire.Append(params, `"uri":`+string(wire.Quote(t.uri)))
	}
	if l.subscription != nil {
		params = wire.Append(params, `"_meta":{`+subscriptionID+`:`+string(l.subscription)+`}`)
	}
	return wire.AppendRequest(nil, nil, t.method, params)
}

// look finds out which view the client has now, and notifies the client of the
// lists that differ from those that it knows. The listener has joined its topics by
// then, so that no review misses it.
func (l *listener) look() {
	for done := false; !done; {
		review := l.changes.reviews.Load()
		done = l.setView(l.changes.views.viewOf(*l.client), review)
	}
}

// setView sets the view that was looked for in a review. It reports whether no
// other review has begun since: then it may be another view by now.
func (l *listener) setView(now *view, review int64) bool {
	l.changes.mu.Lock()
	defer l.changes.mu.Unlock()
	if review != l.changes.reviews.Load() {
		return false
	}
	if now != nil && now != l.view && l.view != nil {
		if uris := slices.Collect(maps.Keys(l.topics.resources)); len(uris) > 0 {
			go l.changes.moved(l, now, uris)
		}
	}
	l.view = now
	l.shown.Store(&shownView{now, review})
	for _, t := range listTopics() {
		l.mark(t)
	}
	return true
}

// A shownView is the view that a review found for a client.
type shownView struct {
	view   *view
	review int64
}

// currentView returns the view of the client without choosing it again, nil if it is not
// known or another review has begun.
func (l *listener) currentView() *view {
	if s := l.shown.Load(); s != nil && s.review == l.changes.reviews.Load() {
		return s.view
	}
	return nil
}
