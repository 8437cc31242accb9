package gateway

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/extension"
	"github.com/toolpost/toolpost/internal/wire"
)

// attach sets the connection of l and watches its events.
func (g *Gateway) attach(l *link, up connection) {
	l.up = up
	settle := time.AfterFunc(settleTime, g.wake.send)
	take := func(own *process, e toolpost.Event) {
		switch {
		case e.Notification != nil:
			g.forwardNotification(l, own, e.Notification)
		case e.Resource != "":
			g.notifyUpdate(l, own, e.Resource)
		default:
			g.wake.send()
		}
	}
	if p, ok := up.(*pool); ok {
		p.onEvent(take, g.tasks.hasOpen)
	}
	stop := up.Watch(func(e toolpost.Event) { take(nil, e) })
	l.stop = func() {
		settle.Stop()
		stop()
	}
}

// notifyUpdate reports that a resource of a server has changed, by the URI that
// clients know: to those that get the lists of the process, which is nil if the server
// has only one.
func (g *Gateway) notifyUpdate(l *link, own *process, uri string) {
	e := toolpost.Event{Resource: uri}
	for _, m := range g.current() {
		if m.link == l {
			e.Server, e.Resource = m.server.Name, l.aliases.clientURI(m.key, uri)
		}
	}
	if e.Server != "" { // it may have been removed meanwhile
		g.notifyClients(l, own, e)
	}
}

// forwardNotification passes a notification that belongs to no call of a server to clients.
// One about a task goes to the client of the task. A notification with params
// goes to the client of a server that has only one: it names none of several.
func (g *Gateway) forwardNotification(l *link, own *process, call *toolpost.Call) {
	members := g.current()
	i := slices.IndexFunc(members, func(m *member) bool { return m.link == l })
	if i < 0 || !members[i].mayNotify(call.Name) {
		return
	}
	m, c := members[i], *call
	id := cmp.Or(text(call.Params, "taskId"), text(wire.Get(wire.Get(call.Params, "_meta"), relatedTask), "taskId"))
	switch t := m.tasks.findOfServer(serverTask{l, own, id}); {
	case t != nil:
		m.tasks.note(t, call.Params)
		c.Session = t.client.session
		c.Params = t.show(call.Params)
	case id != "" || extension.IsOfTasks(call.Name):
		return
	case isBare(call.Params) && call.Name != wire.LogMessage:
		c.Session, c.Params = "", nil
	case call.Session == "":
		g.logger.Debug("a notification reaches no client: several clients use the server", "server", m.server.Name, "method", call.Name)
		return
	}
	c.Params = m.aliases.show(m.key, c.Params)
	g.pass(l, own, toolpost.Event{Server: m.server.Name, Notification: &c})
}

// pass passes a notification to the session that it names. If it names none, it is for
// all that use the process.
func (g *Gateway) pass(l *link, own *process, e toolpost.Event) {
	p, pooled := l.up.(*pool)
	switch {
	case e.Notification.Session != "":
		g.notifySession(e.Notification.Session, e)
	case !pooled || own == p.lister():
		g.notifyClients(l, nil, e)
	default:
		for _, session := range p.sessionsOf(own) {
			c := *e.Notification
			c.Session = session
			g.notifySession(session, toolpost.Event{Server: e.Server, Notification: &c})
		}
	}
}

// isBare reports whether params have no members besides _meta.
func isBare(params json.RawMessage) bool {
	for name := range wire.Members(params) {
		if name != "_meta" {
			return false
		}
	}
	return true
}

// notifyClients passes on an event of a process to the clients that get its lists. The
// process is nil if the server has only one.
func (g *Gateway) notifyClients(l *link, own *process, e toolpost.Event) {
	if p, ok := l.up.(*pool); ok && own == p.lister() {
		own = nil
	}
	if own == nil {
		g.events.Notify(e)
	}
	for s := range g.views.sessions().all {
		if s.processOf(l) == own {
			s.events.Notify(e)
		}
	}
}

// notifySession passes on an event that names a session. The session may be about to get
// lists of its own, or to lose them, so that it listens to others than those that it has
// now: the event goes to both. It arrives once, because a client listens to one of them and
// cannot come to listen to those of all meanwhile.
func (g *Gateway) notifySession(session string, e toolpost.Event) {
	g.views.moving.RLock()
	defer g.views.moving.RUnlock()
	if s := g.views.session(session); s != nil {
		s.events.Notify(e)
	}
	g.events.Notify(e)
}
