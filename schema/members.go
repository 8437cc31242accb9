package schema

import "bytes"

// members are what is known of an object while it is read. Small objects need
// no memory beyond the struct.
type members struct {
	rule  *objectRule
	count int
	next  int // the property expected next

	// A bit for each property seen.
	small [smallBits / 64]uint64
	large []uint64

	// The other names: compared one by one while they are few.
	few   [fewNames][]byte
	fewer int
	many  map[string]bool
}

const (
	smallBits = 128
	fewNames  = 12
)

// word returns the bits of 64 properties.
func (m *members) word(i int) *uint64 {
	if i < len(m.small) {
		return &m.small[i]
	}
	return &m.large[i-len(m.small)]
}

// fresh records a name, and reports whether the object did not have it yet. A
// name that is not a property has index -1.
func (m *members) fresh(name []byte, property int) bool {
	if uint(property) < 64 {
		before := m.small[0]
		m.small[0] |= 1 << property
		return m.small[0] != before
	}
	return m.note(name, property)
}

// note is fresh for all but the first properties.
func (m *members) note(name []byte, property int) bool {
	if property >= 0 {
		word, bit := m.word(property/64), uint64(1)<<(property%64)
		fresh := *word&bit == 0
		*word |= bit
		return fresh
	}
	if m.fewer < fewNames {
		for _, other := range m.few[:m.fewer] {
			if bytes.Equal(other, name) {
				return false
			}
		}
		m.few[m.fewer] = name
		m.fewer++
		return true
	}
	if m.many == nil {
		m.many = make(map[string]bool, 4*fewNames)
		for _, other := range m.few {
			m.many[string(other)] = true
		}
	}
	fresh := !m.many[string(name)]
	m.many[string(name)] = true
	return fresh
}

// has reports whether the object has a property.
func (m *members) has(property int) bool {
	return *m.word(property / 64)>>(property%64)&1 != 0
}

// complete reports whether nothing required is missing, and the count is right.
func (m *members) complete() bool {
	for i, want := range m.rule.required {
		if want&^*m.word(i) != 0 {
			return false
		}
	}
	return m.rule.count.ok(m.count)
}
