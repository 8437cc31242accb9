package schema

import (
	"strconv"
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

func (x *explainer) wrong(expected string, v *value) {
	x.found.add(Problem{Pointer: joinPointer(x.path), Expected: expected, Got: shorten(v)})
}

// in explains a part of the value.
func (x *explainer) in(token string, n *node, v *value) {
	x.path = append(x.path, token)
	x.node(n, v)
	x.path = x.path[:len(x.path)-1]
}

func (x *explainer) node(n *node, v *value) {
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
	if v.kind == KindArray && n.array != nil {
		x.array(n.array, v)
	}
	if v.kind == KindObject && n.object != nil {
		x.object(n.object, v)
	}
	for _, m := range n.all {
		x.node(m, v)
	}
	for _, u := range n.unions {
		x.union(u, v)
	}
}

// accepts checks all but the parts of an array or object.
func (n *node) accepts(v *value, timeouts *int) bool {
	switch {
	case n.kinds&v.kind == 0:
		return false
	case v.kind == KindString:
		return n.acceptsText([]byte(v.text), timeouts)
	case v.kind&KindNumber != 0 && n.number != nil && !n.number.ok(parseDecimal(v.raw)):
		return false
	}
	for _, c := range n.choices {
		if !c.has(v) {
			return false
		}
	}
	return true
}

func (x *explainer) array(r *arrayRule, v *value) {
	if !r.count.ok(len(v.kids)) {
		x.found.add(Problem{Pointer: joinPointer(x.path), Expected: "array" + r.count.words("item"), Got: plural(len(v.kids), "item")})
	}
	for i, kid := range v.kids {
		if item := r.item(i); item != nil {
			x.in(strconv.Itoa(i), item, kid)
		}
	}
}

func (x *explainer) object(r *objectRule, v *value) {
	if !r.count.ok(len(v.kids)) {
		x.found.add(Problem{Pointer: joinPointer(x.path), Expected: "object" + r.count.words("property"), Got: plural(len(v.kids), "property")})
	}
	present := make([]bool, len(r.properties))
	for _, kid := range v.kids {
		i := r.find(kid.name)
		if i >= 0 {
			present[i] = true
		}
		x.member(r, i, kid)
	}
	for i, p := range r.properties {
		if p.required && !present[i] {
			x.missing(p)
		}
	}
}

func (x *explainer) missing(p property) {
	expected := "a value"
	if p.node != nil {
		expected = p.node.describe()
	}
	x.found.add(Problem{
		Pointer:  joinPointer(x.path) + "/" + escapePointer(p.name),
		Expected: expected, Got: "nothing: the property is required",
	})
}

// member explains one member of an object; i is its property, or -1.
func (x *explainer) member(r *objectRule, i int, v *value) {
	known := i >= 0 && r.properties[i].node != nil
	if r.names != nil && !r.names.acceptsText([]byte(v.name), &x.timeouts) {
		x.found.add(Problem{
			Pointer:  joinPointer(x.path) + "/" + escapePointer(v.name),
			Expected: "a name that is " + r.names.describe(), Got: strconv.Quote(clip(v.name, 60)),
		})
	}
	switch {
	case known && x.nullIsAbsent && !r.properties[i].required && v.kind == KindNull:
	case known:
		x.in(v.name, r.properties[i].node, v)
	case r.closed():
		x.unknown(r.validNames(), v)
	case r.rest != nil:
		x.in(v.name, r.rest, v)
	}
}

func (r *objectRule) validNames() []string {
	var names []string
	for _, p := range r.properties {
		if p.node != nil {
			names = append(names, p.name)
		}
	}
	return names
}

func (x *explainer) unknown(valid []string, v *value) {
	p := Problem{Pointer: joinPointer(x.path) + "/" + escapePointer(v.name), Expected: "no such property", Got: "unknown property"}
	if len(valid) == 0 {
		p.Expected, p.Got = "no properties", "property "+strconv.Quote(clip(v.name, 40))
	} else if len(x.found.Problems) < maxProblems {
		p.Valid = nearest(v.name, valid)
	}
	x.found.add(p)
}
