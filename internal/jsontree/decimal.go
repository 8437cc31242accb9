package jsontree

import (
	"cmp"
	"math"
	"math/big"
	"math/bits"
	"strconv"
	"strings"
)

// A Decimal is an exact number: coefficient · 10^exp. The coefficient has no
// trailing zeros, so equal numbers have equal decimals, however written.
type Decimal struct {
	neg    bool
	Coef   uint64
	digits string // in place of coef, if it has more than 19 digits
	Exp    int64
}

// maxExp bounds exponents: beyond it numbers differ only in name.
const maxExp = 1 << 50

// ParseDecimal returns the number that a scanned token holds.
func ParseDecimal(tok []byte) Decimal {
	var d Decimal
	if d.neg = tok[0] == '-'; d.neg {
		tok = tok[1:]
	}
	mantissa, exp := tok, int64(0)
	for i, c := range tok {
		if c|0x20 == 'e' {
			mantissa, exp = tok[:i], parseExp(tok[i+1:])
			break
		}
	}
	point := len(mantissa)
	first, last := -1, -1 // the outermost digits that are not zero
	for i, c := range mantissa {
		switch {
		case c == '.':
			point = i
		case c != '0':
			if first < 0 {
				first = i
			}
			last = i
		}
	}
	if first < 0 {
		return Decimal{}
	}
	d.Exp = exp + int64(point-last)
	if last < point {
		d.Exp--
	}
	d.setDigits(mantissa[first : last+1])
	return d
}

func (d *Decimal) setDigits(digits []byte) {
	if len(digits) > 20 || len(digits) == 20 && !strings.Contains(string(digits), ".") {
		d.digits = strings.Replace(string(digits), ".", "", 1)
		return
	}
	for _, c := range digits {
		if c != '.' {
			d.Coef = d.Coef*10 + uint64(c-'0')
		}
	}
}

func parseExp(tok []byte) int64 {
	neg := tok[0] == '-'
	var n int64
	for _, c := range tok {
		if c-'0' <= 9 {
			n = min(n*10+int64(c-'0'), maxExp)
		}
	}
	if neg {
		return -n
	}
	return n
}

// IsZero reports whether d is 0.
func (d Decimal) IsZero() bool { return d.Coef == 0 && d.digits == "" }

// IsInteger reports whether d has no fraction: 1.0 and 1e2 have none.
func (d Decimal) IsInteger() bool { return d.Exp >= 0 }

// Cmp compares two numbers: -1, 0 or 1.
func (d Decimal) Cmp(e Decimal) int {
	if d.neg != e.neg {
		if d.neg {
			return -1
		}
		return 1
	}
	c := d.cmpMagnitude(e)
	if d.neg {
		return -c
	}
	return c
}

func (d Decimal) cmpMagnitude(e Decimal) int {
	switch {
	case d.Exp == e.Exp && d.digits == "" && e.digits == "":
		return cmp.Compare(d.Coef, e.Coef)
	case d.IsZero() || e.IsZero():
		return cmp.Compare(boolInt(!d.IsZero()), boolInt(!e.IsZero()))
	}
	var bufD, bufE [20]byte
	a, b := d.appendDigits(bufD[:0]), e.appendDigits(bufE[:0])
	if c := cmp.Compare(int64(len(a))+d.Exp, int64(len(b))+e.Exp); c != 0 {
		return c
	}
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return cmp.Compare(a[i], b[i])
		}
	}
	return cmp.Compare(len(a), len(b))
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (d Decimal) appendDigits(buf []byte) []byte {
	if d.digits != "" {
		return append(buf, d.digits...)
	}
	return strconv.AppendUint(buf, d.Coef, 10)
}

// Small returns d if it is an integer of at most 18 digits.
func (d Decimal) Small() (n int64, ok bool) {
	if d.digits != "" || d.Exp < 0 || d.Exp > 18 {
		return 0, false
	}
	const limit = 1_000_000_000_000_000_000
	coef := d.Coef
	for range d.Exp {
		if coef >= limit/10 {
			return 0, false
		}
		coef *= 10
	}
	if coef >= limit {
		return 0, false
	}
	if d.neg {
		return -int64(coef), true
	}
	return int64(coef), true
}

// MultipleOf reports whether d is an integer times e, which must not be zero.
func (d Decimal) MultipleOf(e Decimal) bool {
	if d.IsZero() {
		return true
	}
	shift := d.Exp - e.Exp
	if shift < 0 { // d would need a trailing zero, and has none
		return false
	}
	if d.digits == "" && e.digits == "" {
		m := e.Coef
		return mulMod(d.Coef%m, powMod(10%m, shift, m), m) == 0
	}
	m := e.coefficient()
	p := new(big.Int).Exp(big.NewInt(10), big.NewInt(shift), m)
	p.Mul(p, d.coefficient())
	return p.Mod(p, m).Sign() == 0
}

func (d Decimal) coefficient() *big.Int {
	n, _ := new(big.Int).SetString(string(d.appendDigits(nil)), 10)
	return n
}

func mulMod(a, b, m uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return bits.Rem64(hi, lo, m)
}

func powMod(base uint64, exp int64, m uint64) uint64 {
	r := 1 % m
	for ; exp > 0; exp >>= 1 {
		if exp&1 != 0 {
			r = mulMod(r, base, m)
		}
		base = mulMod(base, base, m)
	}
	return r
}

// MaxCount is a count that no value reaches, and that an int holds on every
// machine.
const MaxCount = min(1<<40, math.MaxInt)

// Count returns a number that is a count, at most [MaxCount].
func (d Decimal) Count() int {
	if d.Cmp(Decimal{Coef: 1, Exp: 12}) > 0 {
		return MaxCount
	}
	n := int64(d.Coef)
	for ; d.Exp > 0; d.Exp-- {
		n *= 10
	}
	return int(min(n, MaxCount))
}
