package approval

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/toolpost/toolpost/internal/cleartext"
	"github.com/toolpost/toolpost/internal/jsontree"
)

// Arguments are hostile: a model chooses them, perhaps as a foreign text wants it.
// So each value has several readings, as different servers may read it. A rule that
// denies or asks matches if one reading of one value does; a rule that allows
// matches only if every reading of every value does.

// maxLevels is how deep arguments may be nested.
const maxLevels = 256

// A condition is a compiled Argument.
type condition struct {
	path   []string       // the names that lead to the value; none for all arguments
	glob   *glob          // of the whole value; nil for a regular expression
	regexp *regexp.Regexp // that the value contains
	strict bool           // of a rule that allows: case counts, and each reading has to match
}

func (a *Argument) compile(strict bool) (c *condition, err error) {
	c = &condition{strict: strict}
	switch {
	case a.Name == "":
		return nil, errors.New("it has no name")
	case a.Name == "*":
	case strings.HasPrefix(a.Name, "/"):
		for token := range strings.SplitSeq(a.Name[1:], "/") {
			c.path = append(c.path, jsontree.UnescapePointer(token))
		}
	default:
		c.path = []string{a.Name}
	}
	switch {
	case len(a.Pattern) > maxPatternLen:
		return nil, fmt.Errorf("the pattern is longer than %d bytes", maxPatternLen)
	case !a.Regexp && strict:
		g := newGlob(a.Pattern)
		c.glob = &g
	case !a.Regexp:
		g := newGlob(foldCase(a.Pattern))
		c.glob = &g
	case strict:
		c.regexp, err = regexp.Compile(a.Pattern)
	default:
		c.regexp, err = regexp.Compile(`(?i:` + a.Pattern + `)`)
	}
	return c, err
}

// Limits of what is decided about. A call whose arguments exceed them is denied, so
// that no caller can keep the rules busy.
const (
	maxText    = 1 << 20   // of one text that a rule is about
	maxWork    = 128 << 20 // bytes that are read and searched for one call
	regexpCost = 4         // times as long as a search, a regular expression needs
	maxCommas  = 1_000_000 // in the arguments: a bound of the values
)

var errTooLong = errors.New("its arguments are too long for the rules about arguments; use shorter ones")

// decodedArguments are the arguments of one call. They are read when a rule
// asks for them, and each value is read once for all rules.
type decodedArguments struct {
	ctx    context.Context
	raw    []byte
	target Target
	done   bool
	err    error           // why nothing can be decided about the arguments
	given  *jsontree.Value // as the server gets them
	filled *jsontree.Value // with the defaults that the tool's schema declares

	work     int // left of maxWork
	readings map[string][]reading
	inner    map[*jsontree.Value]*jsontree.Value // the JSON in texts
}

// read decodes the arguments. It refuses what two readers may understand differently.
func (a *decodedArguments) read() error {
	if a.done {
		return a.err
	}
	a.done, a.work = true, maxWork
	a.readings, a.inner = map[string][]reading{}, map[*jsontree.Value]*jsontree.Value{}
	raw := a.raw
	if len(bytes.TrimSpace(raw)) == 0 {
		raw = []byte("{}")
	}
	if bytes.Count(raw, []byte(",")) > maxCommas {
		a.err = errTooLong
		return a.err
	}
	if a.given, a.err = readObject(raw); a.err != nil {
		return a.err
	}
	a.filled = a.given
	if d := a.target.Definition; d != nil && d.Input != nil {
		ok := false
		if a.filled, ok = withDefaults(a.given, d.Input.Raw()); !ok {
			a.err = errors.New("its schema declares too many defaults for the rules about arguments")
		}
	}
	return a.err
}

// spend counts work. It returns false if too much was done, or the caller does not wait for the
// decision any more; nothing is decided then.
func (a *decodedArguments) spend(n int) bool {
	a.work -= n
	switch {
	case a.err != nil:
	case a.work < 0:
		a.err = errTooLong
	case a.ctx.Err() != nil:
		a.err = context.Cause(a.ctx)
	}
	return a.err == nil
}

func readObject(raw []byte) (*jsontree.Value, error) {
	v, syntax := jsontree.Parse(raw, maxLevels)
	switch {
	case syntax != nil:
		return nil, fmt.Errorf("the arguments are not valid JSON: %w", syntax)
	case v.Kind != jsontree.KindObject:
		return nil, errors.New("the arguments are not a JSON object")
	}
	twice := ""
	jsontree.Duplicates(v, "", func(pointer string) { twice = pointer })
	if twice != "" {
		return nil, fmt.Errorf("the arguments have the member %.100q twice; give it once", twice)
	}
	return v, nil
}

// match reports whether the condition holds for the arguments.
func (c *condition) match(a *decodedArguments) bool {
	if c.strict {
		values, all := reach(a.given, c.path)
		for _, v := range values {
			all = all && a.spend(1) && c.all(a, v)
		}
		return all && len(values) > 0
	}
	values := a.filled.Kids
	if len(c.path) > 0 {
		values = a.reachAny(a.filled, c.path)
	}
	for _, v := range values {
		if c.some(a, v) {
			return true
		}
	}
	return false
}

// reach returns the values at a path, through arrays, and those in the value there. All
// reports whether the path exists everywhere, and no other member could be taken for
// one of it.
func reach(v *jsontree.Value, path []string) (values []*jsontree.Value, all bool) {
	switch {
	case v.Kind == jsontree.KindArray || len(path) == 0 && v.Kind == jsontree.KindObject:
		all = len(v.Kids) > 0
		for _, kid := range v.Kids {
			below, ok := reach(kid, path)
			values, all = append(values, below...), all && ok
		}
		return values, all
	case len(path) == 0:
		return []*jsontree.Value{v}, true
	}
	member, single := memberOf(v, path[0])
	if member == nil {
		return nil, false
	}
	values, all = reach(member, path[1:])
	return values, all && single
}

// memberOf returns the member of that name. Single reports whether no other name could
// be taken for it.
func memberOf(v *jsontree.Value, name string) (found *jsontree.Value, single bool) {
	single = true
	for _, kid := range v.Members() {
		switch {
		case kid.Name == name:
			found = kid
		case alike(kid.Name, name):
			single = false
		}
	}
	return found, single
}

// reachAny returns the values at a path, through arrays and JSON in texts. Names that
// some servers take for the same are.
func (a *decodedArguments) reachAny(v *jsontree.Value, path []string) (values []*jsontree.Value) {
	switch {
	case !a.spend(1):
	case len(path) == 0:
		return []*jsontree.Value{v}
	case v.Kind == jsontree.KindString:
		if inner := a.inText(v); inner != nil {
			return a.reachAny(inner, path)
		}
	case v.Kind == jsontree.KindArray:
		for _, kid := range v.Kids {
			values = append(values, a.reachAny(kid, path)...)
		}
	default:
		for _, kid := range v.Members() {
			if a.spend(1+len(kid.Name)) && alike(kid.Name, path[0]) {
				values = append(values, a.reachAny(kid, path[1:])...)
			}
		}
	}
	return values
}

// alike reports whether a server may take one name for the other.
func alike(a, b string) bool { return strings.EqualFold(plain(a), plain(b)) }

func plain(text string) string {
	return strings.TrimSpace(cleartext.Clean(strings.ReplaceAll(text, "\x00", "")))
}

// inText returns the JSON that a text is, which some servers parse; nil if it is none.
// JSON is shorter than the text that it is in, so there is an end of texts in texts.
func (a *decodedArguments) inText(v *jsontree.Value) *jsontree.Value {
	text := strings.TrimSpace(v.Text)
	if v.Kind != jsontree.KindString || text == "" || !strings.ContainsRune(`{["`, rune(text[0])) {
		return nil
	}
	inner, known := a.inner[v]
	if !known && a.spend(len(text)) {
		inner, _ = jsontree.Parse([]byte(text), maxLevels)
		a.inner[v] = inner
	}
	return inner
}

// all reports whether every reading of a value without others in it matches.
func (c *condition) all(a *decodedArguments, v *jsontree.Value) bool {
	for _, r := range a.readingsOf(v) {
		if !c.matchReading(a, r) {
			return false
		}
	}
	inner := a.inText(v)
	if inner == nil {
		return a.err == nil
	}
	values, _ := reach(inner, nil)
	for _, one := range values {
		if !c.all(a, one) {
			return false
		}
	}
	return a.err == nil
}

// some reports whether a reading of v, of a value in it, or of a name in it matches.
func (c *condition) some(a *decodedArguments, v *jsontree.Value) bool {
	if !a.spend(1) {
		return false
	}
	if c.anyReading(a, a.readingsOf(v)) || v.Kind == jsontree.KindString && c.anyReading(a, a.numberInText(v.Text)) {
		return true
	}
	if inner := a.inText(v); inner != nil {
		return c.some(a, inner)
	}
	for _, kid := range v.Kids {
		if v.Kind == jsontree.KindObject && c.anyReading(a, a.textReadings(kid.Name)) || c.some(a, kid) {
			return true
		}
	}
	return false
}

func (c *condition) anyReading(a *decodedArguments, readings []reading) bool {
	for _, r := range readings {
		if c.matchReading(a, r) {
			return true
		}
	}
	return false
}

// matchReading returns false once nothing is decided any more.
func (c *condition) matchReading(a *decodedArguments, r reading) bool {
	cost := len(r.text)
	if c.regexp != nil {
		cost *= regexpCost
	}
	switch {
	case !a.spend(cost):
		return false
	case c.regexp != nil:
		return c.regexp.MatchString(r.text)
	case c.strict:
		return c.glob.match(r.text)
	}
	return c.glob.match(r.folded)
}
