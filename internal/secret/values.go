package secret

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// Hidden takes the place of a secret in logs, errors and states.
const Hidden = "[hidden]"

// maxValues is how many values of one owner are remembered: a secret that changes at
// every connection, or with every renewal of a login, must not fill the memory.
const maxValues = 1000

// Values are the secrets that are known so far. A process has one set: whatever learns
// a secret adds it, and whatever writes a text asks the set then, so that a secret that
// became known later is hidden too. Values are safe for concurrent use. A nil *Values
// hides nothing.
type Values struct {
	mark   string
	parent *Values // hides its own values first; may be nil
	known  *valueSet
	built  atomic.Pointer[builtReplacer]
}

// A valueSet holds values by their owner, the newest last.
type valueSet struct {
	mu      sync.Mutex
	byOwner map[string][]string
	names   map[string]bool          // that are not hidden
	all     atomic.Pointer[[]string] // replaced, never changed
}

// A builtReplacer replaces the values of one state of a valueSet.
type builtReplacer struct {
	of       *[]string
	replacer *strings.Replacer
}

// NewValues returns a set of values that mark takes the place of.
func NewValues(mark string, values ...string) *Values {
	return (*Values)(nil).Extend(mark, values...)
}

// Extend returns a new set that hides the values of v too, those that v learns later
// included. V does not learn the values of the new set.
func (v *Values) Extend(mark string, values ...string) *Values {
	n := &Values{mark: mark, parent: v, known: &valueSet{byOwner: map[string][]string{}}}
	n.known.all.Store(&[]string{})
	n.Add("", values...)
	return n
}

// WithMark returns the same set with another mark.
func (v *Values) WithMark(mark string) *Values {
	return &Values{mark: mark, parent: v.parent, known: v.known}
}

type valuesKey struct{}

// WithValues returns a context from which package gateway takes the set of the process.
func WithValues(ctx context.Context, v *Values) context.Context {
	return context.WithValue(ctx, valuesKey{}, v)
}

// ValuesOf returns the set in a context, nil if there is none.
func ValuesOf(ctx context.Context) *Values {
	v, _ := ctx.Value(valuesKey{}).(*Values)
	return v
}

// Add adds secrets of an owner, such as a server. When an owner has too many, those
// that were added longest ago are forgotten.
func (v *Values) Add(owner string, values ...string) {
	if v == nil {
		return
	}
	s := v.known
	s.mu.Lock()
	defer s.mu.Unlock()
	mine, isNew := slices.Clone(s.byOwner[owner]), false
	for _, value := range values {
		if len(value) < shortest || strings.Contains(value, "\x00") { // a reference that was not read has a NUL
			continue
		}
		if i := slices.Index(mine, value); i >= 0 {
			mine = slices.Delete(mine, i, i+1)
		} else {
			isNew = true
		}
		mine = append(mine, value)
	}
	s.byOwner[owner] = mine[max(0, len(mine)-maxValues):]
	if isNew {
		s.join()
	}
}

// Show has names never hidden, although a value may be the same word: a server is called
// "github", and a header of it too. A name is written in so many places that it is not a
// secret. A set that extends v may still hide it in the texts of one server.
func (v *Values) Show(names ...string) {
	if v == nil {
		return
	}
	s := v.known
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.names == nil {
		s.names = map[string]bool{}
	}
	for _, name := range names {
		s.names[name] = true
	}
	s.join()
}

// join makes the list of all values. The lock is held.
func (s *valueSet) join() {
	all := []string{}
	for _, values := range s.byOwner {
		for _, value := range values {
			if !s.names[value] {
				all = append(all, value)
			}
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	s.all.Store(&all)
}

// Replace returns text without the secrets, in all the forms that [Replacer] knows. A
// secret of which an excerpt has the beginning only, before its "…", is hidden too.
func (v *Values) Replace(text string) string {
	if v == nil || len(text) < shortest {
		return text
	}
	text = v.parent.Replace(text)
	all := v.known.all.Load()
	if len(*all) == 0 {
		return text
	}
	built := v.built.Load()
	if built == nil || built.of != all {
		built = &builtReplacer{all, Replacer(v.mark, *all...)}
		v.built.Store(built)
	}
	return hideCut(built.replacer.Replace(text), v.mark, *all)
}

// maxCuts bounds the places where a text was cut that are looked at.
const maxCuts = 20

// hideCut hides the beginnings of values that stand before a "…".
func hideCut(text, mark string, values []string) string {
	const cut = "…"
	if !strings.Contains(text, cut) {
		return text
	}
	parts := strings.Split(text, cut)
	for i := range parts[:min(len(parts)-1, maxCuts)] {
		longest := 0
		for _, value := range values {
			for n := min(len(value)-1, len(parts[i])); n >= shortest && n > longest; n-- {
				if strings.HasSuffix(parts[i], value[:n]) {
					longest = n
				}
			}
		}
		if longest > 0 {
			parts[i] = parts[i][:len(parts[i])-longest] + mark
		}
	}
	return strings.Join(parts, cut)
}

// Hider returns a function that puts [Mark] in place of the values, and then does what
// more does, if it is not nil.
func Hider(values []string, more func(text string) string) func(text string) string {
	hide := Replacer(Mark, values...).Replace
	if more == nil {
		return hide
	}
	return func(text string) string { return more(hide(text)) }
}
