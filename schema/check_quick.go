package schema

import (
	"bytes"
	"encoding/binary"
	"math/bits"

	"github.com/toolpost/toolpost/internal/jsontree"
)

// This is the shortest way through what nearly all calls consist of: members in
// the order of the schema, with values whose rules one look answers. It only
// ever accepts. What it does not know, the other checks decide.

// quickKinds returns the kinds of which n takes every value that quickEnd reads, but
// for bounds and lengths, which quickEnd checks.
func (n *node) quickKinds() jsontree.Kinds {
	kinds := n.kinds & (jsontree.KindString | jsontree.KindNumber)
	switch {
	case n.choices != nil || !n.single():
		return 0
	case n.text != nil && n.text.pattern != nil:
		kinds &^= jsontree.KindString
	}
	switch {
	case n.number == nil:
	case n.number.small == nil:
		kinds &^= jsontree.KindNumber
	default:
		kinds &^= jsontree.KindFraction
	}
	return kinds
}

// quick reads a value if one look at it shows that it fits n; else it reads nothing.
func (p *pass) quick(n *node) bool {
	if n.quick == 0 {
		return false
	}
	end := quickEnd(n, p.Data, p.Pos)
	if end > 0 {
		p.Pos = end
	}
	return end > 0
}

// quickEnd returns where the value at pos ends, if one look at it shows that it fits n; else 0.
func quickEnd(n *node, data []byte, pos int) (end int) {
	if pos >= len(data) {
		return 0
	}
	switch c := data[pos]; {
	case c == '"' && n.quick&jsontree.KindString != 0:
		return quickText(n.text, data, pos+1)
	case (c == '-' || c-'0' <= 9) && n.quick&jsontree.KindInteger != 0:
		return quickNumber(n, data, pos)
	}
	return 0
}

// longText is the length from which [jsontree.LiteralText] is faster, which starts slowly.
const longText = 40

// quickText is quickEnd for a string of ASCII without escapes, whose text is at pos.
func quickText(r *textRule, data []byte, pos int) (end int) {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	for end = pos; len(data)-end >= 8; end += 8 {
		w := binary.LittleEndian.Uint64(data[end:])
		stops := ((w - 0x20*ones) | (w ^ '"'*ones - ones) | (w ^ '\\'*ones - ones)) & high // also of what is not ASCII
		if stops != 0 {
			end += bits.TrailingZeros64(stops) / 8 // the lowest bit is right; a borrow may set higher ones
			break
		}
		if end-pos == longText {
			size, ascii := jsontree.LiteralText(data[end:])
			if end += size; !ascii || end == len(data) {
				return 0
			}
			break
		}
	}
	if end == len(data) || data[end] != '"' || r != nil && !r.length.ok(end-pos) {
		return 0
	}
	return end + 1
}

// maxQuickDigits have the numbers that an int64 holds, whatever the digits.
const maxQuickDigits = 18

// quickNumber is quickEnd for a number without an exponent.
func quickNumber(n *node, data []byte, pos int) (end int) {
	end = integerEnd(data, pos)
	if end == 0 || n.number != nil && !n.number.okInteger(data[pos:end]) {
		return 0
	}
	if end < len(data) && data[end] == '.' {
		point := end
		end = digitsEnd(data, point+1)
		if n.quick&jsontree.KindFraction == 0 || end == point+1 || end-point > maxQuickDigits {
			return 0
		}
	}
	if end < len(data) && data[end]|0x20 == 'e' {
		return 0
	}
	return end
}

// integerEnd returns where the integer at pos ends; 0 if it is long, or none.
func integerEnd(data []byte, pos int) int {
	if data[pos] == '-' {
		pos++
	}
	end := digitsEnd(data, pos)
	if digits := end - pos; digits == 0 || digits > maxQuickDigits || digits > 1 && data[pos] == '0' {
		return 0
	}
	return end
}

func digitsEnd(data []byte, pos int) int {
	for pos < len(data) && data[pos]-'0' <= 9 {
		pos++
	}
	return pos
}

// okInteger is ok for an integer of at most maxQuickDigits, if the bounds are small.
func (r *numberRule) okInteger(token []byte) bool {
	digits := bytes.TrimPrefix(token, []byte{'-'})
	var n int64
	for _, c := range digits {
		n = n*10 + int64(c-'0')
	}
	if len(digits) < len(token) {
		n = -n
	}
	return r.small[0] <= n && n <= r.small[1]
}

// A nameToken is a name in quotes and the colon behind it, as callers write it.
type nameToken struct {
	first, mask uint64 // the first eight bytes, and the bits of them that the token has
	rest        string
	size        int
}

// newNameToken returns the token of a property, one that no data has if [pass.inOrder] cannot read it.
func newNameToken(p property) nameToken {
	if n, ascii := jsontree.LiteralText([]byte(p.name)); !ascii || n < len(p.name) || p.node == nil {
		return nameToken{first: 1}
	}
	token := `"` + p.name + `":`
	var first, mask [8]byte
	for i := range copy(first[:], token) {
		mask[i] = 0xff
	}
	return nameToken{
		first: binary.LittleEndian.Uint64(first[:]), mask: binary.LittleEndian.Uint64(mask[:]),
		rest: token[min(len(token), len(first)):], size: len(token)}
}

// end returns where t ends if data has it at pos, with at least one byte behind it; else 0.
func (t *nameToken) end(data []byte, pos int) int {
	end := pos + t.size
	if binary.LittleEndian.Uint64(data[pos:pos+8:pos+8])&t.mask != t.first || end >= len(data) || t.rest != "" && string(data[pos+8:end]) != t.rest {
		return 0
	}
	return end
}

// skipSpace skips the one space that many writers put between tokens.
func skipSpace(data []byte, pos int) int {
	if pos < len(data) && data[pos] == ' ' {
		return pos + 1
	}
	return pos
}

// maxLeftOut is how many properties that are left out are passed over at once.
const maxLeftOut = 8

// inOrder reads members as long as they are the next properties of the schema. It
// stops before another member, or after the closing brace.
func (p *pass) inOrder(m *members) (more, ok bool) {
	p.Peek()
	data, pos, properties := p.Data, p.Pos, m.rule.properties
	for i := m.next; i < len(properties) && len(data)-pos >= 8; {
		property := &properties[i]
		value := property.token.end(data, pos)
		if i++; value == 0 {
			if i-m.next == maxLeftOut {
				break
			}
			continue
		}
		value = skipSpace(data, value)
		if pos = quickEnd(property.node, data, value); pos == 0 {
			if p.Pos = value; !p.property(property) {
				return false, false
			}
			pos = p.Pos
		}
		if m.next = i; !m.note(i - 1) {
			return false, false
		}
		if m.count++; pos < len(data) && data[pos] == ',' {
			pos = skipSpace(data, pos+1)
			continue
		}
		p.Pos = pos
		if more, ok := p.More('}'); !more {
			return false, ok
		}
		p.Peek()
		pos = p.Pos
	}
	p.Pos = pos
	return true, true
}

// property checks the value of a property, as [pass.member] does.
func (p *pass) property(property *property) bool {
	if p.leftOut(property) {
		return p.Literal("null")
	}
	return p.check(property.node)
}
