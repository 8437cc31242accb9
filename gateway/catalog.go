package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/gateway/internal/catalog"
	"github.com/toolpost/toolpost/upstream"
)

// A Catalog is where a gateway stores what servers list. Gateways, and processes, may share
// its folder.
type Catalog struct {
	Dir    string // the folder, which processes may share
	Config string // names the configuration among those that share the folder, such as the path of its file; only a keyed hash of it is stored
}

// Clear removes everything that is stored in the folder, of all configurations. It
// returns how many entries there were, and their bytes.
func (c *Catalog) Clear() (entries int, bytes int64, err error) {
	folder, err := catalog.Open(c.Dir)
	if err != nil {
		return 0, 0, err
	}
	return folder.Clear()
}

const (
	// settleTime is how long a server may take until it is remembered as one that
	// does not list: a later gateway does not make clients wait for it.
	settleTime = 5 * time.Second

	// storeEvery is the least time between two rounds of storing what has changed.
	storeEvery = 5 * time.Second

	// storeAgain is the time between two rounds if one has failed.
	storeAgain = time.Minute
)

// A memory remembers what servers listed last: until the gateway is closed, and
// with a folder for later gateways too.
type memory struct {
	folder *catalog.Folder // nil if nothing is stored
	config string
	logger *slog.Logger
	wake   signal

	mu      sync.Mutex
	entries map[string]*memoryEntry // by server
	names   *names
	renamed bool // the names are not stored
}

// A memoryEntry is the entry of one server.
type memoryEntry struct {
	print string
	tried bool            // its lists were waited for
	slow  bool            // it took long and did not list
	known *upstream.Known // nil if it has not listed
	dirty bool            // it is not stored
}

// newMemory returns a memory. A folder that cannot be used is reported, and
// nothing is stored.
func newMemory(c *Catalog, logger *slog.Logger) *memory {
	r := &memory{logger: logger, wake: newSignal(), entries: map[string]*memoryEntry{}, names: newNames()}
	if c == nil {
		return r
	}
	var err error
	if r.folder, err = catalog.Open(c.Dir); err == nil {
		r.config, err = r.folder.Fingerprint(c.Config)
	}
	if err != nil {
		r.folder = nil
		logger.Warn("clients wait for servers at each start, because their lists cannot be stored", "err", err)
		return r
	}
	if e := r.folder.Read(r.config, allServers); e != nil {
		for name, o := range e.Names {
			r.names.remember(owner{o.Kind, o.Server, o.Own}, name[len(o.Kind)+1:])
		}
	}
	return r
}

// allServers is the name of the entry with the names of all servers, which no
// server has.
const allServers = ""

// assign names the items that claim names. With settled, the names are remembered.
func (r *memory) assign(claims []claim, settled bool) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	given := r.names.assign(claims)
	if settled && r.names.learn(claims, given) {
		r.renamed = true
		r.wake.send()
	}
	return given
}

// allListed reports whether every server has listed, or had its time to: until then,
// a name may still go to a server before in the file.
func allListed(members []*member) bool {
	for _, m := range members {
		if s := m.status(); m.up != nil && !m.listed && s.State != upstream.Ready && s.Err == nil && time.Since(m.started) < settleTime {
			return false
		}
	}
	return true
}

// printOf returns the fingerprint of what determines what the server lists. It is
// the same for all servers if nothing is stored.
func (r *memory) printOf(s *config.Server) string {
	if r.folder == nil {
		return ""
	}
	c := &s.Config
	of := []any{c.Command, c.Args, c.Env, c.Dir, c.URL, c.Headers, c.Transport, c.ProtocolVersion, c.Wrap != nil}
	if s.Auth != nil { // another account may see other tools; a rotated secret is that of the same one
		a := *s.Auth
		a.ClientSecret, a.Exchange.ClientSecret = "", ""
		of = append(of, a)
	}
	print, err := r.folder.Fingerprint(of)
	if err != nil {
		r.logger.Warn("the lists of a server cannot be stored", "server", s.Name, "err", err)
	}
	return print
}

// recall returns what the server listed last, nil if that is not known. Listed
// reports whether its lists were waited for before, so that clients need not wait again.
func (r *memory) recall(s *config.Server) (known *upstream.Known, listed bool) {
	print := r.printOf(s)
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.entries[s.Name]
	if e == nil {
		e = r.read(s.Name)
		r.entries[s.Name] = e
	}
	if e.print != print || r.folder == nil {
		*e = memoryEntry{print: print}
	}
	return e.known, e.tried
}

// isSlow reports whether the server took long at an earlier start, and did not list.
func (r *memory) isSlow(server string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.entries[server]
	return e != nil && e.slow
}

// read returns the stored entry of a server, an empty one if there is none.
func (r *memory) read(server string) *memoryEntry {
	e := &memoryEntry{}
	if r.folder == nil {
		return e
	}
	stored := r.folder.Read(r.config, server)
	if stored == nil {
		return e
	}
	e.print, e.tried, e.slow = stored.Print, true, stored.Slow
	if stored.Listing != nil && json.Unmarshal(stored.Listing, &e.known) != nil {
		e.known, e.tried = nil, false
	}
	return e
}

// note remembers what a server lists now. A server that was started in place of
// another has the lists of that one, until it has answered itself.
func (r *memory) note(m *member) {
	state := m.status()
	known := m.known()
	if state.State != upstream.Ready && known == m.seed {
		known = nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.entries[m.server.Name]
	switch {
	case e == nil: // it is not an upstream
		return
	case known != nil && known != e.known:
		e.known, e.tried, e.slow, e.dirty = known, true, false, true
	case m.up != nil && e.known == nil && state.State != upstream.Waiting:
		e.noteUnlisted(state.Err != nil, time.Since(m.started) >= settleTime)
	}
	if e.dirty {
		r.wake.send()
	}
}

// noteUnlisted notes that a server has not listed yet. One that failed at once the first
// time is not slow.
func (e *memoryEntry) noteUnlisted(failed, late bool) {
	if slow := e.slow || late && (!failed || !e.tried); slow != e.slow || !e.tried && (failed || late) {
		e.tried, e.slow, e.dirty = true, slow, true
	}
}

// follow stores what has changed until ctx ends, and then for the last time.
func (r *memory) follow(ctx context.Context) {
	if r.folder == nil {
		return
	}
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
			continue
		case <-r.wake:
		}
		pause := storeEvery
		if !r.store() {
			r.wake.send()
			pause = storeAgain
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
	r.store()
}

// store writes the entries that have changed. It reports whether none has to be
// written again, because it failed.
func (r *memory) store() (done bool) {
	done = true
	for _, e := range r.due() {
		err := r.folder.Write(e)
		if err == nil {
			continue
		}
		r.logger.Warn("the lists of a server are not stored; at the next start, clients wait for it", "server", e.Server, "err", err)
		if !errors.Is(err, catalog.ErrTooLarge) {
			done = false
			r.setDue(e.Server)
		}
	}
	return done
}

// setDue makes the next round of storing write an entry.
func (r *memory) setDue(server string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if server == allServers {
		r.renamed = true
	} else if e := r.entries[server]; e != nil {
		e.dirty = true
	}
}

// due returns the entries that have changed.
func (r *memory) due() (due []*catalog.Entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for server, e := range r.entries {
		if !e.dirty {
			continue
		}
		e.dirty = false
		entry := &catalog.Entry{Config: r.config, Server: server, Print: e.print, Slow: e.slow}
		if e.known != nil {
			entry.Listing, _ = json.Marshal(e.known) // strings and bytes
		}
		due = append(due, entry)
	}
	if r.renamed {
		r.renamed = false
		entry := &catalog.Entry{Config: r.config, Server: allServers, Names: map[string]catalog.Owner{}}
		for name, o := range r.names.owners {
			entry.Names[name] = catalog.Owner{Kind: o.kind, Server: o.server, Own: o.own}
		}
		due = append(due, entry)
	}
	return due
}
