package schema

// array checks what follows an opening bracket.
func (p *pass) array(r *arrayRule) bool {
	if r == nil {
		r = &arrayRule{count: span{hi: -1}}
	}
	start, count, matches := p.pos-1, 0, 0
	if p.peek() == ']' {
		p.pos++
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
		if more, ok = p.more(']'); !ok {
			return false
		}
	}
	return r.ok(count, matches) && (!r.unique || p.unique(start))
}

// item checks one item, and reports whether it fits contains.
func (p *pass) item(r *arrayRule, i int) (fits, ok bool) {
	p.peek()
	start := p.pos
	if !p.check(r.item(i)) {
		return false, false
	}
	if r.contains == nil {
		return false, true
	}
	end, timeouts := p.pos, p.timeouts
	fits = p.again(r.contains, start)
	p.pos = end
	return fits, fits || r.matches.hi < 0 || !p.unsure(timeouts)
}

// uniqueCost is the work of comparing items, compared with reading them once.
const uniqueCost = 4

// unique reports whether no two items of the array between start and here are
// equal.
func (p *pass) unique(start int) bool {
	p.work += uniqueCost * (p.pos - start)
	if p.work > p.budget {
		return false
	}
	i, _ := repeated(parseValue(p.data[start:p.pos]))
	return i < 0
}

// object checks what follows an opening brace.
func (p *pass) object(r *objectRule) bool {
	if r == nil {
		r = &objectRule{count: span{hi: -1}}
	}
	start := p.pos - 1
	m := members{rule: r}
	if n := len(r.properties); n > smallBits {
		m.large = make([]uint64, (n-smallBits+63)/64)
	}
	if p.peek() == '}' {
		p.pos++
		return m.complete() && p.dependents(&m, start)
	}
	for {
		if !p.member(&m) {
			return false
		}
		more, ok := p.more('}')
		if !ok {
			return false
		}
		if !more {
			return m.complete() && p.dependents(&m, start)
		}
	}
}

// dependents checks what the properties of the object at start ask of it.
func (p *pass) dependents(m *members, start int) bool {
	end := p.pos
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
	p.pos = end
	return true
}

// member checks one name and its value.
func (p *pass) member(m *members) bool {
	p.peek()
	start := p.pos
	name, i, ok := p.memberName(m)
	if !ok || !p.lax && !m.fresh(name, i) {
		return false
	}
	m.count++
	if m.rule.names != nil && !p.nameFits(m.rule.names, name, start) {
		return false
	}
	var declared *node
	if i >= 0 && m.rule.properties[i].node != nil {
		m.next = i + 1
		property := &m.rule.properties[i]
		if p.nullIsAbsent && !property.required && p.peek() == 'n' {
			return p.literal("null")
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
	end := p.pos
	ok := p.again(n, start)
	p.pos = end
	return ok
}

// matching checks the value of a member whose name may match patterns; declared
// is the node of its property, nil if there is none.
func (p *pass) matching(r *objectRule, declared *node, name []byte) bool {
	p.peek()
	start, timeouts, matched := p.pos, p.timeouts, declared != nil
	for _, rule := range r.patterns {
		p.work += rule.cost(name)
		if p.work > p.budget || !rule.match(name, &p.timeouts) {
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
	p.pos = start
	return p.check(declared)
}

// memberName reads a name and finds the property it is, -1 for none. Callers
// tend to keep the order of the schema: the next property is looked for first.
func (p *pass) memberName(m *members) (name []byte, i int, ok bool) {
	if r := m.rule; m.next < len(r.properties) {
		if name := p.expect(r.properties[m.next].token); name != nil {
			return name, m.next, true
		}
	}
	if name, ok = p.name(); !ok {
		return nil, -1, false
	}
	return name, m.rule.find(string(name)), true
}
