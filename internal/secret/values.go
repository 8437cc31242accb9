package secret

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// mostValues is how many values are remembered: a secret that changes at every
// start must not fill the memory.
const mostValues = 1000

// Values are secrets that become known one after the other. It hides them in
// texts, and is safe for concurrent use.
type Values struct {
	mark string

	mu       sync.Mutex
	values   []string // the newest last
	replacer atomic.Pointer[strings.Replacer]
}

// NewValues returns values that mark takes the place of.
func NewValues(mark string, values ...string) *Values {
	v := &Values{mark: mark}
	v.replacer.Store(Replacer(mark))
	v.Add(values...)
	return v
}

// Add adds secrets. Those that were added first are forgotten when there are
// too many.
func (v *Values) Add(values ...string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	before := len(v.values)
	for _, value := range values {
		if len(value) >= shortest && !slices.Contains(v.values, value) {
			v.values = append(v.values, value)
		}
	}
	if len(v.values) == before {
		return
	}
	v.values = slices.Clone(v.values[max(0, len(v.values)-mostValues):])
	v.replacer.Store(Replacer(v.mark, v.values...))
}

// Replace returns text without the secrets, in all the forms that [Replacer] knows.
func (v *Values) Replace(text string) string { return v.replacer.Load().Replace(text) }

// Hider returns a function that puts [Mark] in place of the values, and then does what
// more does, if it is not nil.
func Hider(values []string, more func(text string) string) func(text string) string {
	hide := Replacer(Mark, values...).Replace
	if more == nil {
		return hide
	}
	return func(text string) string { return more(hide(text)) }
}
