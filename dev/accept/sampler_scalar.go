package accept

import (
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// words look like what models write, and like other types.
const words = "a|open|closed|current|hello world|5|-1|3.14|true|null||[]|{}|\"quoted\"|naïve|日本語|😀|a/b~c|x_y (z)|line\nbreak|tab\there|\\|1e5|0x10| padded |#|value|item0|Open"

// formatted has examples for every format that a generator writes.
func formatted(format string) []string {
	const all = `date-time 2026-11-21T08:30:00Z 2024-02-29T23:59:59.123Z
date 2026-11-21 2024-02-29
time 08:30:00Z 23:59:59Z
duration P1D PT5M P3Y6M4DT12H30M5S
email a@example.com first.last@mail.example.org
idn-email a@example.com
hostname example.com a-b.example.org
idn-hostname example.com
ipv4 127.0.0.1 192.168.10.255
ipv6 ::1 2001:db8:85a3:0:0:8a2e:370:7334
cidrv4 10.0.0.0/8
cidrv6 2001:db8::/32
uri https://example.com/a?b=c#d urn:isbn:0451450523
url https://example.com/a
iri https://example.com/é
uri-reference /a/b ../c
uri-template /a/{id}
uuid 123e4567-e89b-42d3-a456-426614174000 00000000-0000-0000-0000-000000000000
guid 123e4567-e89b-42d3-a456-426614174000
json-pointer /a/b~1c
regex ^a+$
byte aGVsbG8= AA==
base64 aGVsbG8= AA==
base64url aGVsbG8 AA
e164 +14155552671
jwt eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln
emoji 😀
nanoid V1StGXR8_Z5jdHi6B-myT
cuid cjld2cjxh0000qzrmn831i7rn
cuid2 tz4a98xxat96iws9zmbrgj3a
ulid 01ARZ3NDEKTSV4RRFFQ69G5FAV
hex deadbeef
int64 42
path /etc/hosts a/b.txt
semver 1.2.3`
	for line := range strings.Lines(all) {
		if fields := strings.Fields(line); fields[0] == format {
			return fields[1:]
		}
	}
	return nil
}

func (d *drawing) text(flat []*value) *value {
	least, most := count(flat, "minLength", "maxLength")
	var patterns []*ahead
	var examples []string
	for _, v := range flat {
		if p := v.get("pattern"); p != nil && p.kind == text {
			if re, _ := compilePattern(p.text); re != nil {
				if a, ok := re.(*ahead); ok {
					patterns = append(patterns, a)
				}
			}
		}
		if f := v.get("format"); f != nil {
			examples = append(examples, formatted(f.text)...)
		}
	}
	fits := func(s string) bool {
		n := utf8.RuneCountInString(s)
		return n >= least && (most < 0 || n <= most) &&
			!slices.ContainsFunc(patterns, func(p *ahead) bool { return !p.MatchString(s) })
	}
	for range 30 {
		s := attempt(d, patterns, examples, least, most)
		if fits(s) {
			return newText(s)
		}
	}
	return nil
}

func attempt(d *drawing, patterns []*ahead, examples []string, least, most int) string {
	switch {
	case len(examples) > 0 && d.chance(80):
		return examples[d.rng.IntN(len(examples))]
	case len(patterns) > 0:
		s, _ := patterns[d.rng.IntN(len(patterns))].matching(d.rng)
		return s
	}
	all := strings.Split(words, "|")
	s := all[d.rng.IntN(len(all))]
	if n := utf8.RuneCountInString(s); n < least {
		s += strings.Repeat("x", min(least-n, 100_000))
	}
	if most >= 0 && utf8.RuneCountInString(s) > most {
		s = string([]rune(s)[:most])
	}
	return s
}

// count returns the narrowest bounds that two keywords give; most is -1 for none.
func count(flat []*value, lower, upper string) (least, most int) {
	most = -1
	for _, v := range flat {
		if n, ok := whole(v.get(lower)); ok {
			least = max(least, n)
		}
		if n, ok := whole(v.get(upper)); ok && (most < 0 || n < most) {
			most = n
		}
	}
	return least, most
}

func whole(v *value) (int, bool) {
	if v == nil || v.kind != number {
		return 0, false
	}
	n, err := strconv.ParseFloat(v.text, 64)
	return int(min(max(n, 0), 1<<40)), err == nil
}

// A span is where a number has to be.
type span struct {
	low, high         *big.Rat // nil: no bound
	aboveLow, belowHi bool     // the bound itself is out
	step              *big.Rat // nil: none is asked for
}

func spanOf(flat []*value) span {
	var s span
	for _, v := range flat {
		open := func(key string) bool { return v.get(key) != nil && v.get(key).truth } // draft-04
		s.atLeast(rational(v.get("minimum")), open("exclusiveMinimum"))
		s.atLeast(rational(v.get("exclusiveMinimum")), true)
		s.atMost(rational(v.get("maximum")), open("exclusiveMaximum"))
		s.atMost(rational(v.get("exclusiveMaximum")), true)
		if m := rational(v.get("multipleOf")); m != nil && m.Sign() > 0 {
			s.step = m
		}
	}
	return s
}

func (s *span) atLeast(n *big.Rat, out bool) {
	if n != nil && (s.low == nil || n.Cmp(s.low) > 0 || n.Cmp(s.low) == 0 && out) {
		s.low, s.aboveLow = n, out
	}
}

func (s *span) atMost(n *big.Rat, out bool) {
	if n != nil && (s.high == nil || n.Cmp(s.high) < 0 || n.Cmp(s.high) == 0 && out) {
		s.high, s.belowHi = n, out
	}
}

func rational(v *value) *big.Rat {
	if v == nil || v.kind != number || len(v.text) > 1_000 {
		return nil
	}
	r, ok := new(big.Rat).SetString(v.text)
	if !ok {
		return nil
	}
	return r
}

func (d *drawing) number(flat []*value, integer bool) *value {
	s := spanOf(flat)
	switch {
	case integer && (s.step == nil || !s.step.IsInt()):
		s.step = big.NewRat(1, 1)
	case s.step == nil:
		s.step = big.NewRat(1, 4)
		if s.low != nil && s.high != nil {
			if width := new(big.Rat).Sub(s.high, s.low); width.Sign() > 0 && width.Cmp(big.NewRat(4, 1)) < 0 {
				s.step = width.Quo(width, big.NewRat(8, 1))
			} else if width.Sign() == 0 {
				return &value{kind: number, text: decimal(s.low)}
			}
		}
	}
	k := multiple(d, s)
	if k == nil {
		return nil
	}
	return &value{kind: number, text: decimal(new(big.Rat).Mul(new(big.Rat).SetInt(k), s.step))}
}

// multiple draws how many steps from zero the number is.
func multiple(d *drawing, s span) *big.Int {
	low, high := s.steps()
	far := int64(100)
	if d.chance(5) {
		far = 1 << 55
	}
	switch {
	case low == nil && high == nil:
		return big.NewInt(d.rng.Int64N(far) - far/10)
	case low == nil:
		return high.Sub(high, big.NewInt(d.rng.Int64N(far)))
	case high == nil:
		return low.Add(low, big.NewInt(d.rng.Int64N(far)))
	case low.Cmp(high) > 0:
		return nil
	}
	switch d.rng.IntN(6) {
	case 0:
		return low
	case 1:
		return high
	}
	if width := new(big.Int).Sub(high, low); width.IsInt64() && width.Int64() < far {
		far = width.Int64() + 1
	}
	return low.Add(low, big.NewInt(d.rng.Int64N(far)))
}

// steps returns the first and the last multiple of the step, nil for no bound.
func (s span) steps() (low, high *big.Int) {
	one := big.NewInt(1)
	if s.low != nil {
		q := new(big.Rat).Quo(s.low, s.step)
		low = new(big.Int).Neg(floor(new(big.Rat).Neg(q)))
		if s.aboveLow && q.IsInt() {
			low.Add(low, one)
		}
	}
	if s.high != nil {
		q := new(big.Rat).Quo(s.high, s.step)
		high = floor(q)
		if s.belowHi && q.IsInt() {
			high.Sub(high, one)
		}
	}
	return low, high
}

func floor(r *big.Rat) *big.Int {
	return new(big.Int).Div(r.Num(), r.Denom()) // Euclid's, as the divisor is positive
}

func decimal(r *big.Rat) string {
	if r.IsInt() {
		return r.Num().String()
	}
	return strings.TrimRight(r.FloatString(20), "0")
}
