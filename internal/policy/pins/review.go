package pins

import (
	"maps"
	"strings"
	"time"
	"unicode"
)

// Limits of what is remembered of one server.
const (
	maxPins     = 20_000
	longestName = 256     // bytes
	maxText     = 4 << 20 // bytes of approved definitions, and of pending ones; of further ones only the hash is kept
)

// definitionDepth is how deep a definition is in the file.
const definitionDepth = 5

// A Listed is a tool that a server lists now.
type Listed struct {
	Name string
	*Definition
}

// Reason is why a tool is withheld.
type Reason string

// The reasons for withholding a tool.
const (
	Changed  Reason = "its definition has changed"
	New      Reason = "it is new"
	Alike    Reason = "it is new, and its name is almost that of a pinned tool"
	LongName Reason = "its name is too long to be pinned"
	TooMany  Reason = "the server has listed too many tools to pin another"
)

// Reviewed is the outcome of [Memory.Review].
type Reviewed struct {
	Pins     Tools             // after the review
	Dirty    bool              // they differ from those before
	First    bool              // the server was never reviewed before
	Added    []string          // new tools of a server that had pins
	Withheld map[string]Reason // tools that clients do not get
}

// A Memory is what one process knows of the tools of one server beside their
// pins: the hash of each definition that it has seen last.
type Memory map[string]string

// Review compares the tools of a server with its pins, which are nil if it was never
// reviewed. A tool that was never seen is pinned as it is, unless the server was
// reviewed before and withholdNew is set, or the tool's name is almost that of a pinned
// one.
func (m Memory) Review(before Tools, listed []Listed, withholdNew bool) *Reviewed {
	r := &reviewer{
		Reviewed: &Reviewed{Pins: maps.Clone(before), First: before == nil, Withheld: map[string]Reason{}},
		memory:   m, before: before, withholdNew: withholdNew && before != nil,
	}
	if r.Pins == nil {
		r.Pins, r.Dirty = Tools{}, withholdNew // that the server was seen without tools decides about later ones
	}
	for _, p := range before {
		r.approved += p.Approved.size()
		r.pending += p.Pending.size()
	}
	for _, tool := range listed {
		r.tool(tool)
	}
	return r.Reviewed
}

// Remember records what a server lists, after a review.
func (m Memory) Remember(listed []Listed) {
	for _, tool := range listed {
		m[tool.Name] = tool.Hash
	}
}

// size returns how many bytes the text of a definition has in the file, where it
// is indented. Indentation can make a short text some hundred times as long.
func (d *Definition) size() (n int) {
	if d == nil {
		return 0
	}
	depth, quoted := definitionDepth, false
	for i := 0; i < len(d.JSON); i++ {
		n++
		c := d.JSON[i]
		if c == '"' {
			quoted = !quoted
		}
		switch {
		case c == '\\':
			i, n = i+1, n+1
		case quoted:
		case c == '{' || c == '[':
			depth++
			n += lineBreak(depth)
		case c == '}' || c == ']':
			depth--
			n += lineBreak(depth)
		case c == ',':
			n += lineBreak(depth)
		case c == ':':
			n++
		}
	}
	return n
}

// lineBreak returns the bytes of a line break with the indentation after it.
func lineBreak(depth int) int { return 1 + 2*depth }

type reviewer struct {
	*Reviewed
	memory            Memory
	before            Tools
	names             map[string]bool // of approved tools, by likeness; nil until one is asked for
	withholdNew       bool
	approved, pending int // bytes of definitions that are kept
}

func (r *reviewer) tool(now Listed) {
	pin := r.Pins[now.Name]
	switch {
	case pin == nil && len(now.Name) > longestName:
		r.Withheld[now.Name] = LongName
	case pin == nil && len(r.Pins) >= maxPins:
		r.Withheld[now.Name] = TooMany
	case pin == nil || pin.Approved == nil:
		r.add(now, pin)
	case !now.equals(pin.Approved):
		r.withhold(now, pin, Changed)
	case pin.Pending != nil && r.hasEnded(now.Name, pin.Pending):
		r.put(now.Name, &Pin{Approved: pin.Approved})
	}
}

// add pins a tool that is not approved yet, or withholds it.
func (r *reviewer) add(now Listed, pin *Pin) {
	if r.withholdNew {
		r.withhold(now, pin, New)
		return
	}
	if r.alike(now.Name) {
		r.withhold(now, pin, Alike)
		return
	}
	if !r.First {
		r.Added = append(r.Added, now.Name)
	}
	r.put(now.Name, &Pin{Approved: trimToSpace(now.Definition, &r.approved)})
}

// alike reports whether an approved tool has almost this name. A client that
// shows both names the same would give the new tool the permissions of the other.
func (r *reviewer) alike(name string) bool {
	if r.names == nil {
		r.names = map[string]bool{}
		for other, p := range r.before {
			if p.Approved != nil {
				r.names[likeness(other)] = true
			}
		}
	}
	return r.names[likeness(name)]
}

// likeness returns the same for names that differ in case and punctuation only: in
// which characters these are, how many, and where.
func likeness(name string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.In(r, unicode.L, unicode.M, unicode.N) {
			return -1
		}
		return unicode.ToLower(unicode.ToUpper(r))
	}, name)
}

// hasEnded reports whether no server says a pending definition any more, as far as
// this process knows: another process may have recorded it for a server of its own.
func (r *reviewer) hasEnded(name string, pending *Definition) bool {
	last, seen := r.memory[name]
	return !seen || last == pending.Hash
}

func (r *reviewer) withhold(now Listed, pin *Pin, why Reason) {
	r.Withheld[now.Name] = why
	if pin == nil {
		pin = &Pin{}
	}
	// Two processes whose servers say different things do not overwrite each
	// other's forever: each records a definition once.
	if p := pin.Pending; p == nil || !now.equals(p) && r.memory[now.Name] != now.Hash {
		d := trimToSpace(now.Definition, &r.pending)
		d.Seen = time.Now().UTC().Truncate(time.Second)
		r.put(now.Name, &Pin{Approved: pin.Approved, Pending: d})
	}
}

func (r *reviewer) put(name string, p *Pin) { r.Pins[name], r.Dirty = p, true }

// trimToSpace returns d, without its text if that is too long for the space that is left.
func trimToSpace(d *Definition, used *int) *Definition {
	c := *d
	size := d.size()
	if *used+size > maxText {
		c.JSON, size = nil, 0
	}
	*used += size
	return &c
}

// Approve approves the pending definitions of tools that have these hashes. It
// returns the tools whose pending definition is another one by now.
func (t Tools) Approve(hashes map[string]string) (others []string) {
	for name, want := range hashes {
		p := t[name]
		if p == nil || p.Pending == nil || p.Pending.Hash != want {
			others = append(others, name)
			continue
		}
		d := *p.Pending
		d.Seen = time.Time{}
		t[name] = &Pin{Approved: &d}
	}
	return others
}

// plural is what is said of several tools that are withheld for one reason.
var plural = map[Reason]string{
	Changed:  "their definitions have changed",
	New:      "they are new",
	Alike:    "they are new, and their names are almost those of pinned tools",
	LongName: "their names are too long to be pinned",
}

// Of returns the reason in the words for n tools.
func (r Reason) Of(n int) string {
	if text := plural[r]; n > 1 && text != "" {
		return text
	}
	return string(r)
}

// Approvable reports whether the user can approve a tool that is withheld for
// this reason.
func (r Reason) Approvable() bool { return r == Changed || r == New || r == Alike }
