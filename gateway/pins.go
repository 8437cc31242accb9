package gateway

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/cleartext"
	"github.com/toolpost/toolpost/internal/filewatch"
	"github.com/toolpost/toolpost/internal/policy/pins"
)

// Pins configure where a gateway remembers the definitions of tools. A tool is pinned
// when it is first listed. Once its definition changes, clients do not get the
// tool until the user has approved the new definition.
type Pins struct {
	File     string // the lock file; "" remembers until the gateway is closed
	Shared   bool   // File may belong to another user, such as a file of a repository
	Config   string // whose servers they are, for people who read the file
	ReadOnly bool   // compare only: the file is not changed, and new tools count as changes
	Once     bool   // the file is not read again when it changes: the gateway is open for a moment
	Missing  error  // why there is no File; it is reported

	// Command returns the command line that runs "toolpost" with these
	// arguments for the configuration; nil names no configuration.
	Command func(args ...string) string
}

// A WithheldTool is a tool that clients do not get until the user approves its
// definition.
type WithheldTool struct {
	Server, Tool string // Tool is the server's own name, without hidden characters
	Name         string // for clients
	Why          string

	// Approved and Pending are canonical definitions: nil if there is none, or
	// if it is too long to be kept.
	Approved, Pending json.RawMessage
}

// A pinboard compares the tools of all servers of a gateway with their pins. A
// nil pinboard lets everything through.
type pinboard struct {
	Pins
	file   *pins.File // nil if there is none
	ctx    context.Context
	logger *slog.Logger
	stale  atomic.Bool // the file may have changed

	mu       sync.Mutex
	policies map[string]pinning // by server
	lock     *pins.Lock         // as it was read last, with what could not be stored
	err      error              // why the file cannot be read or written
	memories map[lister]pins.Memory
	known    map[lister]map[*toolpost.Tool]*pins.Definition // of the tools that each server lists
}

// A pinning is what is pinned of one server.
type pinning struct{ off, withholdNew bool }

// forget forgets what a process listed that has ended.
func (b *pinboard) forget(of lister) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.memories, of)
	delete(b.known, of)
}

// newPinboard returns the pinboard for p, nil if that is nil.
func newPinboard(ctx context.Context, p *Pins, logger *slog.Logger) (*pinboard, error) {
	if p == nil {
		return nil, nil
	}
	b := &pinboard{
		Pins: *p, ctx: ctx, logger: logger, err: p.Missing, memories: map[lister]pins.Memory{},
		lock: &pins.Lock{Servers: map[string]pins.Tools{}}, known: map[lister]map[*toolpost.Tool]*pins.Definition{},
	}
	if b.File == "" {
		return b, nil
	}
	b.file = pins.At(b.File, b.Shared)
	var err error
	b.lock, err = b.file.Read()
	return b, err
}

// configure applies the policies of a configuration. Tools that run
// in this process are not pinned, because they are part of this program.
func (b *pinboard) configure(cfg *config.Config) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.policies = map[string]pinning{}
	for _, s := range cfg.Servers {
		b.policies[s.Name] = pinning{off: s.Unpinned || s.Source != nil, withholdNew: s.WithholdNew || b.ReadOnly}
	}
}

// follow calls send whenever the file changes, until the gateway is closed.
func (b *pinboard) follow(send func()) {
	if err := b.file.Prepare(); err != nil {
		b.logger.Info("the folder of the pinned tools cannot be made", "err", err)
	}
	filewatch.Watch(b.ctx, []string{b.File}, func() {
		b.stale.Store(true)
		send()
	})
}

// reload reads the file again if the user or another process may have changed
// it. A file that became unreadable leaves the pins as they are.
func (b *pinboard) reload() {
	if b == nil || !b.stale.Swap(false) {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	lock, err := b.file.Read()
	if err != nil {
		b.err = err
		return
	}
	if b.err != nil {
		lock.Merge(b.lock) // the next review stores it
	}
	b.lock = lock
}

// problem describes why pins are not stored, "" if they are.
func (b *pinboard) problem() string {
	if b == nil {
		return ""
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err == nil {
		return ""
	}
	return fmt.Sprintf("the definitions of tools are pinned only until toolpost ends: %v", b.err)
}

// review compares the tools that a server lists with their pins, and pins new
// ones. It returns what is withheld, by pinName. No two tools have the same one.
func (b *pinboard) review(of lister, tools []*toolpost.Tool) map[string]pins.Reason {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	server := of.server
	policy := b.policies[server]
	if policy.off {
		return nil
	}
	listed := b.definitions(of, tools)
	memory := b.memories[of]
	if memory == nil {
		memory = pins.Memory{}
		b.memories[of] = memory
	}
	r := memory.Review(b.lock.Servers[server], listed, policy.withholdNew)
	if r.Dirty || b.err != nil {
		r = b.store(server, r, func(before pins.Tools) *pins.Reviewed { return memory.Review(before, listed, policy.withholdNew) })
	}
	memory.Remember(listed)
	if len(r.Added) > 0 {
		b.logger.Info("a server has new tools, which are pinned and served", "server", server, "tools", r.Added)
	}
	return r.Withheld
}

// definitions returns the definitions of tools. Those of tools that were listed
// before are not made again.
func (b *pinboard) definitions(of lister, tools []*toolpost.Tool) (listed []pins.Listed) {
	before, now := b.known[of], map[*toolpost.Tool]*pins.Definition{}
	for _, t := range tools {
		if now[t] = before[t]; now[t] == nil {
			now[t] = definitionOf(t)
		}
		listed = append(listed, pins.Listed{Name: pinName(t.Name), Definition: now[t]})
	}
	b.known[of] = now
	return listed
}

// pinName returns the name under which a tool is pinned: as clients see it, so
// that a hidden character does not make it a new one.
func pinName(tool string) string { return cleartext.Clean(tool) }

func definitionOf(t *toolpost.Tool) *pins.Definition {
	raw, err := t.Definition.MarshalJSON()
	if err != nil {
		raw = t.Raw
	}
	return pins.NewDefinition(raw)
}

// store writes the pins after a review, which is made again over what the file
// has by now. Pins that cannot be stored last as long as the gateway.
func (b *pinboard) store(server string, r *pins.Reviewed, again func(pins.Tools) *pins.Reviewed) *pins.Reviewed {
	b.lock = b.lock.Put(server, r.Pins)
	if b.file == nil || b.ReadOnly {
		return r
	}
	lock, err := b.file.Update(b.ctx, func(l *pins.Lock) bool {
		if b.err != nil {
			l.Merge(b.lock)
		}
		r = again(l.Servers[server])
		l.Config = cmp.Or(l.Config, b.Config)
		l.Servers[server] = r.Pins
		return r.Dirty || b.err != nil
	})
	if b.err = err; err == nil {
		b.lock = lock
	}
	return r
}

// vet returns the error of a call whose server says something else about the
// tool than what was pinned: of a process that is not the one that listed it.
func (b *pinboard) vet(server string, t *toolpost.Tool) error {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.policies[server].off {
		return nil
	}
	d := b.known[lister{server: server}][t]
	if d == nil {
		d = definitionOf(t)
	}
	if p := b.lock.Servers[server][pinName(t.Name)]; p == nil || p.Approved == nil || p.Approved.Hash == d.Hash {
		return nil // a tool without a pin is not listed
	}
	return toolpost.Failed.Errorf("%s", b.refusal(server, pins.Changed))
}

// refusal explains to a model why it cannot call a tool. The user decides, not the model.
func (b *pinboard) refusal(server string, why pins.Reason) string {
	if !why.Approvable() {
		return fmt.Sprintf("it is withheld, because %s. Tell the user", why)
	}
	since := ""
	if why == pins.Changed {
		since = " since it was approved"
	}
	return fmt.Sprintf("it is withheld, because %s%s. Tell the user, who can review the change with %q and accept it with %q",
		why, since, b.command("pins", server), b.command("approve", server))
}

func (b *pinboard) command(args ...string) string {
	if b.Command != nil {
		return b.Command(args...)
	}
	line := "toolpost"
	for _, arg := range args {
		line += " " + arg
	}
	return line
}

// describeWithheld describes a tool of a server.
func (b *pinboard) describeWithheld(server, tool string, why pins.Reason) WithheldTool {
	b.mu.Lock()
	defer b.mu.Unlock()
	w := WithheldTool{Server: server, Tool: pinName(tool), Why: b.refusal(server, why)}
	if p := b.lock.Servers[server][w.Tool]; p != nil {
		if p.Approved != nil {
			w.Approved = p.Approved.JSON
		}
		if p.Pending != nil {
			w.Pending = p.Pending.JSON
		}
	}
	return w
}

// advice explains to the user what to do about withheld tools.
func (b *pinboard) advice(server string, why pins.Reason, tools []string) string {
	const off = `set "pins": false in its entry`
	text := ""
	if len(tools) > 1 {
		text = ": " + enumerate(tools)
	}
	if why == pins.Changed {
		text += "; an update of the server may be the cause"
	}
	switch {
	case b.ReadOnly:
		return text // nothing is recorded that could be approved
	case !why.Approvable():
		return text + "; to serve it nevertheless,  " + off
	case b.file == nil || b.problem() != "":
		text += "; to accept it, start toolpost again"
	default:
		text += fmt.Sprintf("; to see what is different, run: %s; to accept it: %s", b.command("pins", server), b.command("approve", server))
	}
	if why == pins.Changed {
		text += "; if this server changes its descriptions all the time, " + off
	}
	return text
}
