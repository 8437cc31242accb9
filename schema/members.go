package schema

import "bytes"

// members are what is known of an object while it is read.
type members struct {
	rule  *objectRule
	count int
	next  int // the property expected next

	// A bit for each property seen.
	small [smallBits / 64]uint64
	large []uint64
}

const smallBits = 128

// word returns the bits of 64 properties.
func (m *members) word(i int) *uint64 {
	if i < len(m.small) {
		return &m.small[i]
	}
	return &m.large[i-len(m.small)]
}

// note records a property, and reports whether the object did not have it yet.
func (m *members) note(property int) (fresh bool) {
	word, bit := &m.small[0], uint64(1)<<(property%64)
	if property >= 64 {
		word = m.word(property / 64)
	}
	fresh = *word&bit == 0
	*word |= bit
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

// foreign are the names of an object that are not properties of its schema. They
// are compared one by one while they are few, and need no other memory.
type foreign struct {
	few  [fewNames][]byte
	size int
	many map[string]bool
}

const fewNames = 12

// note records a name, and reports whether the object did not have it yet.
func (f *foreign) note(name []byte) (fresh bool) {
	if f.size < fewNames {
		for _, other := range f.few[:f.size] {
			if bytes.Equal(other, name) {
				return false
			}
		}
		f.few[f.size] = name
		f.size++
		return true
	}
	if f.many == nil {
		f.many = make(map[string]bool, 4*fewNames)
		for _, other := range f.few {
			f.many[string(other)] = true
		}
	}
	fresh = !f.many[string(name)]
	f.many[string(name)] = true
	return fresh
}
