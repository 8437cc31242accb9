package schema

import (
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/toolpost/toolpost/internal/jsontree"
)

// An explainer finds all that is wrong with a value. It walks the tree of the
// value, guided by the same nodes that check raw bytes.
type explainer struct {
	found        ValidationError
	path         []string // to the value at hand
	work         int      // nodes visited
	read         int      // bytes read to try branches of unions
	nullIsAbsent bool
	timeouts     int // matches of patterns that took too long
}

// Unions may multiply the work of an explanation.
const (
	maxExplain = 20_000
	maxRead    = 1 << 24
)

// tooMuchWork is what is expected of a value that is refused because checking
// it takes too much work.
const tooMuchWork = "a value that can be checked with less work"

func (x *explainer) wrong(expected string, v *jsontree.Value) {
	x.found.add(Problem{Pointer: jsontree.Pointer(x.path), Expected: expected, Got: jsontree.Brief(v)})
}

// in explains a part of the value.
func (x *explainer) in(token string, n *node, v *jsontree.Value) {
	x.path = append(x.path, token)
	x.node(n, v)
	x.path = x.path[:len(x.path)-1]
}

func (x *explainer) node(n *node, v *jsontree.Value) {
	if x.work++; n == nil || x.work > maxExplain {
		return
	}
	for _, c := range n.choices {
		x.work += len(c.values) / 100
	}
	timeouts := x.timeouts
	if !n.accepts(v, &x.timeouts) {
		if x.timeouts > timeouts {
			x.wrong(tooMuchWork, v)
		} else {
			x.wrong(n.describe(), v)
		}
		return
	}
	if v.Kind == jsontree.KindArray && n.array != nil {
		x.array(n.array, v)
	}
	if v.Kind == jsontree.KindObject && n.object != nil {
		x.object(n.object, v)
	}
	for _, m := range n.all {
		x.node(m, v)
	}
	for _, u := range n.unions {
		x.union(u, v)
	}
	x.conditions(n, v)
}

// conditions explains not, and if with then or else.
func (x *explainer) conditions(n *node, v *jsontree.Value) {
	for _, m := range n.not {
		switch fits, known := x.test(m, v, false); {
		case fits:
			x.wrong("another value; this one is excluded", v)
		case !known:
			x.wrong(tooMuchWork, v)
		}
	}
	if n.cond == nil {
		return
	}
	if fits, known := x.test(n.cond.test, v, false); known {
		x.node(n.cond.branch(fits), v)
	} else {
		x.wrong(tooMuchWork, v)
	}
}

// test reports whether v fits n; known is false if that takes too much work to
// find out.
func (x *explainer) test(n *node, v *jsontree.Value, nullIsAbsent bool) (fits, known bool) {
	if x.read > maxRead {
		return false, false
	}
	p := newPass(v.Raw, nullIsAbsent)
	p.timeouts = x.timeouts
	p.work, p.budget = x.read, maxRead
	fits = p.check(n)
	known = fits || !p.unsure(x.timeouts)
	x.timeouts, x.read = p.timeouts, p.work+len(v.Raw)
	return fits, known
}

// accepts checks all but the parts of an array or object.
func (n *node) accepts(v *jsontree.Value, timeouts *int) bool {
	switch {
	case n.kinds&v.Kind == 0:
		return false
	case v.Kind == jsontree.KindString:
		return n.acceptsText([]byte(v.Text), timeouts)
	case v.Kind&jsontree.KindNumber != 0 && n.number != nil && !n.number.ok(jsontree.ParseDecimal(v.Raw)):
		return false
	}
	for _, c := range n.choices {
		if !c.has(v) {
			return false
		}
	}
	return true
}

func (x *explainer) array(r *arrayRule, v *jsontree.Value) {
	if !r.count.ok(len(v.Kids)) {
		x.found.add(Problem{Pointer: jsontree.Pointer(x.path), Expected: "array" + r.count.words("item"), Got: plural(len(v.Kids), "item")})
	}
	for i, kid := range v.Kids {
		if item := r.item(i); item != nil {
			x.in(strconv.Itoa(i), item, kid)
		}
	}
	if r.contains != nil {
		x.contains(r, v)
	}
	if r.unique {
		x.unique(v)
	}
}

func (x *explainer) unique(v *jsontree.Value) {
	if x.read += uniqueCost * len(v.Raw); x.read > maxRead {
		x.wrong(tooMuchWork, v)
	} else if i, j := jsontree.Repeated(v); i >= 0 {
		x.wrong(fmt.Sprintf("unique items (items %d and %d are equal)", i, j), v)
	}
}

// contains explains how many items fit r.contains.
func (x *explainer) contains(r *arrayRule, v *jsontree.Value) {
	matches, sure := 0, true
	for _, kid := range v.Kids {
		fits, known := x.test(r.contains, kid, x.nullIsAbsent)
		sure = sure && known
		if fits {
			matches++
		}
	}
	switch {
	case !sure && (r.matches.hi >= 0 || matches < r.matches.lo):
		x.wrong(tooMuchWork, v)
	case !r.matches.ok(matches):
		x.wrong("array"+r.matches.words("item")+" that "+either(r.matches.lo == 1, "is ", "are ")+r.contains.describe(), v)
	}
}

func (x *explainer) object(r *objectRule, v *jsontree.Value) {
	if !r.count.ok(len(v.Kids)) {
		x.found.add(Problem{Pointer: jsontree.Pointer(x.path), Expected: "object" + r.count.words("property"), Got: plural(len(v.Kids), "property")})
	}
	present := make([]bool, len(r.properties))
	for _, kid := range v.Kids {
		i := r.find(kid.Name)
		if i >= 0 {
			present[i] = true
		}
		x.member(r, i, kid)
	}
	for i, p := range r.properties {
		if p.required && !present[i] {
			x.missing(p, "the property is required")
		}
	}
	for _, d := range r.dependents {
		if !present[d.property] {
			continue
		}
		for _, i := range d.requires {
			if !present[i] {
				x.missing(r.properties[i], "it is required together with "+strconv.Quote(r.properties[d.property].name))
			}
		}
		x.node(d.node, v)
	}
}

func (x *explainer) missing(p property, why string) {
	expected := "a value"
	if p.node != nil {
		expected = p.node.describe()
	}
	x.found.add(Problem{
		Pointer:  jsontree.Pointer(x.path) + "/" + jsontree.EscapePointer(p.name),
		Expected: expected, Got: "nothing: " + why,
	})
}

// member explains one member of an object; i is its property, or -1.
func (x *explainer) member(r *objectRule, i int, v *jsontree.Value) {
	known := i >= 0 && r.properties[i].node != nil
	matched := x.matching(r, v)
	if r.names != nil {
		x.name(r.names, v.Name)
	}
	switch {
	case known && x.nullIsAbsent && !r.properties[i].required && v.Kind == jsontree.KindNull:
	case known:
		x.in(v.Name, r.properties[i].node, v)
	case matched:
	case r.isClosed():
		x.unknown(r.validNames(), v)
	case r.rest != nil:
		x.in(v.Name, r.rest, v)
	}
}

// name explains the name of a member.
func (x *explainer) name(n *node, name string) {
	quoted, _ := jsontext.AppendQuote(nil, name)
	fits, known := x.test(n, jsontree.Read(quoted), false)
	if fits {
		return
	}
	expected := tooMuchWork
	if known {
		expected = "a name that is " + n.describe()
	}
	x.found.add(Problem{
		Pointer: jsontree.Pointer(x.path) + "/" + jsontree.EscapePointer(name), Expected: expected, Got: strconv.Quote(jsontree.Clip(name, 60)),
	})
}

// matching explains v against all patterns that match its name, and reports
// whether there are any.
func (x *explainer) matching(r *objectRule, v *jsontree.Value) (matched bool) {
	for _, rule := range r.patterns {
		timeouts := x.timeouts
		x.read += rule.Cost([]byte(v.Name))
		fits := x.read <= maxRead && rule.Match([]byte(v.Name), &x.timeouts)
		switch {
		case x.read > maxRead || x.timeouts > timeouts:
			x.wrong(tooMuchWork, v)
			return true
		case fits:
			matched = true
			x.in(v.Name, rule.node, v)
		}
	}
	return matched
}

func (r *objectRule) validNames() []string {
	var names []string
	for _, p := range r.properties {
		if p.node != nil {
			names = append(names, p.name)
		}
	}
	for _, rule := range r.patterns {
		names = append(names, "any that matches "+rule.String())
	}
	return names
}

func (x *explainer) unknown(valid []string, v *jsontree.Value) {
	p := Problem{Pointer: jsontree.Pointer(x.path) + "/" + jsontree.EscapePointer(v.Name), Expected: "no such property", Got: "unknown property"}
	if len(valid) == 0 {
		p.Expected, p.Got = "no properties", "property "+strconv.Quote(jsontree.Clip(v.Name, 40))
	} else if len(x.found.Problems) < maxProblems {
		p.Valid = nearest(v.Name, valid)
	}
	x.found.add(p)
}
