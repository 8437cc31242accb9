package schema

import (
	"github.com/toolpost/toolpost/internal/jsontree"
	"github.com/toolpost/toolpost/internal/shape"
)

// A pass checks raw JSON against a node, in one go and without allocating as
// long as the value is small or fits. It says yes or no: what is wrong is
// found by explain, which may take its time.
type pass struct {
	jsontree.Scanner
	depth, limit int
	work, budget int // what is done more than once: bytes read again, trees compared
	nullIsAbsent bool
	timeouts     int // matches of patterns that took too long
}

func newPass(data []byte, nullIsAbsent bool) pass {
	return pass{Scanner: jsontree.Scanner{Data: data}, limit: shape.MaxLevels, budget: 1<<24 + 32*len(data), nullIsAbsent: nullIsAbsent}
}

// valid reports whether data is one JSON value without repeated names that fits
// n.
func valid(n *node, data []byte, nullIsAbsent bool) bool {
	p := newPass(data, nullIsAbsent)
	return p.check(n) && p.End()
}

func (p *pass) check(n *node) bool {
	if n == nil {
		anything := node{kinds: jsontree.KindAny}
		return p.own(&anything)
	}
	p.Peek()
	if p.quick(n) {
		return true
	}
	if n.single() {
		return p.own(n)
	}
	start, end := p.Pos, 0
	if !n.plain() || n.not != nil || n.cond != nil {
		if !p.own(n) {
			return false
		}
		end = p.Pos
	}
	for _, m := range n.all {
		if !p.again(m, start) {
			return false
		}
		end = p.Pos
	}
	for _, u := range n.unions {
		if !p.union(u, start) {
			return false
		}
		end = max(end, p.Pos)
	}
	ok := p.conditions(n, start)
	p.Pos = end
	return ok
}

// conditions checks not, and if with then or else.
func (p *pass) conditions(n *node, start int) bool {
	for _, m := range n.not {
		if fits, known := p.test(m, start); fits || !known {
			return false
		}
	}
	if n.cond == nil {
		return true
	}
	fits, known := p.test(n.cond.test, start)
	branch := n.cond.branch(fits)
	return known && (branch == nil || p.again(branch, start))
}

// test reports whether the value at start fits n, null being no absent property.
// known is false if that takes too much work to find out.
func (p *pass) test(n *node, start int) (fits, known bool) {
	lenient, timeouts := p.nullIsAbsent, p.timeouts
	p.nullIsAbsent = false
	fits = p.again(n, start)
	p.nullIsAbsent = lenient
	return fits, fits || !p.unsure(timeouts)
}

// unsure reports whether a check that failed might have succeeded with more
// work, given the number of timeouts before it.
func (p *pass) unsure(timeouts int) bool { return p.timeouts > timeouts || p.work > p.budget }

// again checks the value at start once more.
func (p *pass) again(n *node, start int) bool {
	depth := p.depth
	p.Pos = start
	if p.work > p.budget {
		return false
	}
	ok := p.check(n)
	p.work += max(p.Pos-start, 0) + 16
	p.depth = depth // a failure leaves it anywhere
	return ok
}

// union tries the branches that take the kind of the value at start.
func (p *pass) union(u union, start int) bool {
	kind := jsontree.KindOf(p.Data[start:])
	hits, end, timeouts := 0, 0, p.timeouts
	for _, b := range u.branches {
		if b.kinds&kind == 0 || !p.again(b, start) {
			continue
		}
		end = p.Pos
		if hits++; !u.one || hits > 1 {
			break
		}
	}
	if hits != 1 || u.one && p.unsure(timeouts) { // the branch that took too long may fit as well
		return false // p.pos stays: it shows how far the last branch came
	}
	p.Pos = end
	return true
}

// own checks a value against the rules of n itself.
func (p *pass) own(n *node) bool {
	switch c := p.Peek(); c {
	case '"':
		return n.kinds&jsontree.KindString != 0 && p.string(n)
	case '{', '[':
		return p.tree(n, c)
	case 'n':
		return p.word(n, "null", jsontree.KindNull)
	case 't':
		return p.word(n, "true", jsontree.KindBoolean)
	case 'f':
		return p.word(n, "false", jsontree.KindBoolean)
	default:
		if c == '-' || c-'0' <= 9 {
			return p.num(n)
		}
	}
	return p.Fail("a value")
}

func (p *pass) word(n *node, word string, kind jsontree.Kinds) bool {
	start := p.Pos
	if n.kinds&kind == 0 || !p.Literal(word) {
		return false
	}
	for _, c := range n.choices {
		if c.kinds&kind == 0 || !c.hasWord(p.Data[start:]) {
			return false
		}
	}
	return true
}

func (p *pass) num(n *node) bool {
	raw, _, ok := p.Number()
	if !ok {
		return false
	}
	d := jsontree.ParseDecimal(raw)
	kind := jsontree.KindFraction
	if d.IsInteger() {
		kind = jsontree.KindInteger
	}
	if n.kinds&kind == 0 || n.number != nil && !n.number.ok(d) {
		return false
	}
	for _, c := range n.choices {
		if !c.hasNumber(d) {
			return false
		}
	}
	return true
}

func (p *pass) string(n *node) bool {
	text, escaped, ok := p.Text()
	if !ok {
		return false
	}
	if n.text == nil && n.choices == nil {
		return true
	}
	if escaped {
		text = jsontree.Unescape(text)
	}
	return n.acceptsText(text, &p.timeouts)
}

func (n *node) acceptsText(text []byte, timeouts *int) bool {
	if n.kinds&jsontree.KindString == 0 || n.text != nil && !n.text.ok(text, timeouts) {
		return false
	}
	for _, c := range n.choices {
		if !c.hasText(text) {
			return false
		}
	}
	return true
}

// tree checks an array or an object.
func (p *pass) tree(n *node, bracket byte) bool {
	if p.depth == p.limit {
		return p.Fail("no deeper nesting")
	}
	p.depth++
	start, kind, ok := p.Pos, jsontree.KindObject, false
	if p.Pos++; bracket == '{' {
		ok = n.kinds&jsontree.KindObject != 0 && p.object(n.object)
	} else {
		kind = jsontree.KindArray
		ok = n.kinds&jsontree.KindArray != 0 && p.array(n.array)
	}
	if !ok {
		return false
	}
	p.depth--
	for _, c := range n.choices {
		p.work += len(c.values)
		if c.kinds&kind == 0 || p.work > p.budget || !c.has(jsontree.Read(p.Data[start:p.Pos])) {
			return false
		}
	}
	return true
}
