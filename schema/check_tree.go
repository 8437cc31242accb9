package schema

import "github.com/toolpost/toolpost/internal/jsontree"

// array checks what follows an opening bracket.
func (p *pass) array(r *arrayRule) bool {
	if r == nil {
		r = &arrayRule{count: span{hi: -1}}
	}
	start, count, matches := p.Pos-1, 0, 0
	if p.Peek() == ']' {
		p.Pos++
		return r.ok(0, 0)
	}
	for more := true; more; count++ {
		fits, ok := p.item(r, count)
		if !ok {
			return false
		}
		if fits {
			matches++
		}
		if more, ok = p.More(']'); !ok {
			return false
		}
	}
	return r.ok(count, matches) && (!r.unique || p.unique(start))
}

// item checks one item, and reports whether it fits contains.
func (p *pass) item(r *arrayRule, i int) (fits, ok bool) {
	p.Peek()
	start := p.Pos
	if !p.check(r.item(i)) {
		return false, false
	}
	if r.contains == nil {
		return false, true
	}
	end, timeouts := p.Pos, p.timeouts
	fits = p.again(r.contains, start)
	p.Pos = end
	return fits, fits || r.matches.hi < 0 || !p.unsure(timeouts)
}

// uniqueCost is the work of comparing items, compared with reading them once.
const uniqueCost = 4

// unique reports whether no two items of the array between start and here are
// equal.
func (p *pass) unique(start int) bool {
	p.work += uniqueCost * (p.Pos - start)
	if p.work > p.budget {
		return false
	}
	i, _ := jsontree.Repeated(jsontree.Read(p.Data[start:p.Pos]))
	return i < 0
}

// object checks what follows an opening brace.
func (p *pass) object(r *objectRule) bool {
	if r == nil {
		r = &objectRule{count: span{hi: -1}}
	}
	start := p.Pos - 1
	m := members{rule: r}
	if n := len(r.properties); n > smallBits {
		m.large = make([]uint64, (n-smallBits+63)/64)
	}
	more, ok := p.Peek() != '}', true
	switch {
	case !more:
		p.Pos++
	case r.ordered:
		more, ok = p.inOrder(&m)
	}
	if more && ok {
		ok = p.members(&m)
	}
	return ok && m.complete() && (r.dependents == nil || p.dependents(&m, start))
}

// members reads the members from here to the closing brace, whatever they are.
func (p *pass) members(m *members) (ok bool) {
	var others foreign
	for more := true; more; {
		if !p.member(m, &others) {
			return false
		}
		if more, ok = p.More('}'); more && ok && m.rule.ordered {
			more, ok = p.inOrder(m)
		}
		if !ok {
			return false
		}
	}
	return true
}

// dependents checks what the properties of the object at start ask of it.
func (p *pass) dependents(m *members, start int) bool {
	end := p.Pos
	for _, d := range m.rule.dependents {
		if !m.has(d.property) {
			continue
		}
		for _, other := range d.requires {
			if !m.has(other) {
				return false
			}
		}
		if d.node != nil {
			p.depth-- // the object itself is checked again
			ok := p.again(d.node, start)
			p.depth++
			if !ok {
				return false
			}
		}
	}
	p.Pos = end
	return true
}

// member checks one name and its value.
func (p *pass) member(m *members, others *foreign) bool {
	p.Peek()
	start := p.Pos
	name, ok := p.Name()
	if !ok {
		return false
	}
	i := m.rule.find(string(name))
	if i >= 0 && !m.note(i) || i < 0 && !others.note(name) {
		return false
	}
	m.count++
	if m.rule.names != nil && !p.nameFits(m.rule.names, name, start) {
		return false
	}
	var declared *node
	if i >= 0 && m.rule.properties[i].node != nil {
		property := &m.rule.properties[i]
		if m.next = i + 1; p.leftOut(property) {
			return p.Literal("null")
		}
		declared = property.node
	}
	switch {
	case m.rule.patterns != nil:
		return p.matching(m.rule, declared, name)
	case declared != nil:
		return p.check(declared)
	}
	return p.check(m.rule.rest)
}

// nameFits checks a name, whose token is at start, against the node of names.
func (p *pass) nameFits(n *node, name []byte, start int) bool {
	if n.single() {
		return n.acceptsText(name, &p.timeouts)
	}
	end := p.Pos
	ok := p.again(n, start)
	p.Pos = end
	return ok
}

// matching checks the value of a member whose name may match patterns; declared
// is the node of its property, nil if there is none.
func (p *pass) matching(r *objectRule, declared *node, name []byte) bool {
	p.Peek()
	start, timeouts, matched := p.Pos, p.timeouts, declared != nil
	for _, rule := range r.patterns {
		p.work += rule.Cost(name)
		if p.work > p.budget || !rule.Match(name, &p.timeouts) {
			continue
		}
		matched = true
		if !p.again(rule.node, start) {
			return false
		}
	}
	if p.unsure(timeouts) {
		return false
	}
	if !matched {
		declared = r.rest
	}
	p.Pos = start
	return p.check(declared)
}

// leftOut reports whether null stands here for an optional property that is left out.
func (p *pass) leftOut(property *property) bool {
	return p.nullIsAbsent && !property.required && p.Peek() == 'n'
}
