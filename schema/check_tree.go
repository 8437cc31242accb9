package schema

import "bytes"

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

// more reads the comma before another item, or the closing bracket.
func (p *pass) more(closing byte) (more, ok bool) {
	switch p.peek() {
	case ',':
		p.pos++
		return true, true
	case closing:
		p.pos++
		return false, true
	}
	if closing == ']' {
		return false, p.fail(`"," or "]"`)
	}
	return false, p.fail(`"," or "}"`)
}

// members are what is known of an object while it is read.
type members struct {
	rule  *objectRule
	seen  int // where its bits start
	names int // where its other names start
	count int
	hint  int             // the property expected next
	many  map[string]bool // its other names, once they are many
}

// object checks what follows an opening brace.
func (p *pass) object(r *objectRule) bool {
	if r == nil {
		r = &objectRule{count: span{hi: -1}}
	}
	m := members{rule: r, seen: len(p.seen), names: len(p.names)}
	for range r.required {
		p.seen = append(p.seen, 0)
	}
	if p.peek() == '}' {
		p.pos++
		return p.closeObject(&m)
	}
	for {
		if !p.member(&m) {
			return false
		}
		m.count++
		more, ok := p.more('}')
		if !ok {
			return false
		}
		if !more {
			return p.closeObject(&m)
		}
	}
}

// closeObject checks the object as a whole.
func (p *pass) closeObject(m *members) bool {
	for i, want := range m.rule.required {
		if want&^p.seen[m.seen+i] != 0 {
			return false
		}
	}
	p.seen, p.names = p.seen[:m.seen], p.names[:m.names]
	return m.rule.count.ok(m.count)
}

// member checks one name and its value.
func (p *pass) member(m *members) bool {
	if p.peek() != '"' {
		return p.fail("a quoted name")
	}
	name, escaped, ok := p.text()
	if !ok {
		return false
	}
	if escaped {
		name = unescape(name)
	}
	if p.peek() != ':' {
		return p.fail(`":"`)
	}
	p.pos++
	i := m.rule.find(name, m.hint)
	if !p.lax && !p.fresh(m, name, i) || m.rule.names != nil && !m.rule.names.acceptsText(name) {
		return false
	}
	if i < 0 {
		return p.check(m.rule.rest)
	}
	m.hint = i + 1
	property := &m.rule.properties[i]
	switch {
	case property.node == nil:
		return p.check(m.rule.rest)
	case p.nullIsAbsent && !property.required && p.peek() == 'n':
		return p.literal("null")
	}
	return p.check(property.node)
}

// fewNames is the number of names that are compared one by one.
const fewNames = 16

// fresh notes a name, and says that the object did not have it yet.
func (p *pass) fresh(m *members, name []byte, property int) bool {
	if property >= 0 {
		word, bit := &p.seen[m.seen+property/64], uint64(1)<<(property%64)
		fresh := *word&bit == 0
		*word |= bit
		return fresh
	}
	if m.many != nil {
		fresh := !m.many[string(name)]
		m.many[string(name)] = true
		return fresh
	}
	for _, other := range p.names[m.names:] {
		if bytes.Equal(other, name) {
			return false
		}
	}
	p.names = append(p.names, name)
	if len(p.names)-m.names == fewNames {
		m.many = make(map[string]bool, 2*fewNames)
		for _, other := range p.names[m.names:] {
			m.many[string(other)] = true
		}
	}
	return true
}
