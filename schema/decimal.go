package schema

import (
	"cmp"
	"math/big"
	"math/bits"
	"strconv"
	"strings"
)

// A decimal is an exact number: coefficient · 10^exp. The coefficient has no
// trailing zeros, so equal numbers have equal decimals, however written.
type decimal struct {
	neg    bool
	coef   uint64
	digits string // in place of coef, if it has more than 19 digits
	exp    int64
}

// maxExp bounds exponents: beyond it numbers differ only in name.
const maxExp = 1 << 50

// parseDecimal returns the number that a scanned token holds.
func parseDecimal(tok []byte) decimal {
	var d decimal
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
		return decimal{}
	}
	d.exp = exp + int64(point-last)
	if last < point {
		d.exp--
	}
	d.setDigits(mantissa[first : last+1])
	return d
}

func (d *decimal) setDigits(digits []byte) {
	if len(digits) > 20 || len(digits) == 20 && !strings.Contains(string(digits), ".") {
		d.digits = strings.Replace(string(digits), ".", "", 1)
		return
	}
	for _, c := range digits {
		if c != '.' {
			d.coef = d.coef*10 + uint64(c-'0')
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

func (d decimal) isZero() bool { return d.coef == 0 && d.digits == "" }

// isInteger reports whether d has no fraction: 1.0 and 1e2 have none.
func (d decimal) isInteger() bool { return d.exp >= 0 }

// cmp compares two numbers: -1, 0 or 1.
func (d decimal) cmp(e decimal) int {
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

func (d decimal) cmpMagnitude(e decimal) int {
	switch {
	case d.exp == e.exp && d.digits == "" && e.digits == "":
		return cmp.Compare(d.coef, e.coef)
	case d.isZero() || e.isZero():
		return cmp.Compare(boolInt(!d.isZero()), boolInt(!e.isZero()))
	}
	var bufD, bufE [20]byte
	a, b := d.appendDigits(bufD[:0]), e.appendDigits(bufE[:0])
	if c := cmp.Compare(int64(len(a))+d.exp, int64(len(b))+e.exp); c != 0 {
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

func (d decimal) appendDigits(buf []byte) []byte {
	if d.digits != "" {
		return append(buf, d.digits...)
	}
	return strconv.AppendUint(buf, d.coef, 10)
}

// small returns d if it is an integer of at most 18 digits.
func (d decimal) small() (n int64, ok bool) {
	if d.digits != "" || d.exp < 0 || d.exp > 18 {
		return 0, false
	}
	const limit = 1_000_000_000_000_000_000
	coef := d.coef
	for range d.exp {
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

// multipleOf reports whether d is an integer times e, which must not be zero.
func (d decimal) multipleOf(e decimal) bool {
	if d.isZero() {
		return true
	}
	shift := d.exp - e.exp
	if shift < 0 { // d would need a trailing zero, and has none
		return false
	}
	if d.digits == "" && e.digits == "" {
		m := e.coef
		return mulMod(d.coef%m, powMod(10%m, shift, m), m) == 0
	}
	m := e.coefficient()
	p := new(big.Int).Exp(big.NewInt(10), big.NewInt(shift), m)
	p.Mul(p, d.coefficient())
	return p.Mod(p, m).Sign() == 0
}

func (d decimal) coefficient() *big.Int {
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
