package schema

// array checks what follows an opening bracket.
func (p *pass) array(r *arrayRule) bool {
	count := 0
	if p.peek() == ']' {
		p.pos++
		return r == nil || r.count.ok(0)
	}
	for {
		var item *node
		if r != nil {
			item = r.item(count)
		}
		if !p.check(item) {
			return false
		}
		count++
		more, ok := p.more(']')
		if !ok {
			return false
		}
		if !more {
			return r == nil || r.count.ok(count)
		}
	}
}

// object checks what follows an opening brace.
func (p *pass) object(r *objectRule) bool {
	if r == nil {
		r = &objectRule{count: span{hi: -1}}
	}
	m := members{rule: r}
	if n := len(r.properties); n > smallBits {
		m.large = make([]uint64, (n-smallBits+63)/64)
	}
	if p.peek() == '}' {
		p.pos++
		return m.complete()
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
			return m.complete()
		}
	}
}

// member checks one name and its value.
func (p *pass) member(m *members) bool {
	name, i, ok := p.memberName(m)
	if !ok || !p.lax && !m.fresh(name, i) {
		return false
	}
	m.count++
	if m.rule.names != nil && !m.rule.names.acceptsText(name, &p.timeouts) {
		return false
	}
	if i < 0 || m.rule.properties[i].node == nil {
		return p.check(m.rule.rest)
	}
	m.next = i + 1
	property := &m.rule.properties[i]
	if p.nullIsAbsent && !property.required && p.peek() == 'n' {
		return p.literal("null")
	}
	return p.check(property.node)
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
