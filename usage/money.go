package usage

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"
)

// Money is an amount in units of 10^-12 US dollars, so that the price of every
// token is a whole number.
type Money int64

// Dollar is one US dollar.
const Dollar Money = 1_000_000_000_000

// decimals is how many decimals an amount in dollars may have.
const decimals = 12

// ParseMoney reads an amount in dollars, such as "$1.50" or "0.003".
func ParseMoney(text string) (Money, error) {
	whole, fraction, point := strings.Cut(strings.TrimPrefix(text, "$"), ".")
	if !isDigits(whole) || point && !isDigits(fraction) {
		return 0, fmt.Errorf("parse the amount %q: write dollars, such as $1.50", text)
	}
	if rest := strings.TrimRight(fraction, "0"); len(rest) > decimals {
		return 0, fmt.Errorf("parse the amount %q: it has more than %d decimals", text, decimals)
	}
	fraction = (fraction + strings.Repeat("0", decimals))[:decimals]
	amount, err := strconv.ParseInt(whole+fraction, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("parse the amount %q: the largest is %v", text, Money(math.MaxInt64))
	}
	return Money(amount), nil
}

func isDigits(text string) bool {
	return text != "" && strings.Trim(text, "0123456789") == ""
}

// String returns the amount in dollars, to a hundredth of a cent.
func (m Money) String() string {
	const unit = Dollar / 10_000
	sign, rounded := "", m/unit
	if m < 0 {
		sign, rounded = "-", -rounded
	}
	if rest := m % unit; rest >= unit/2 || rest <= -unit/2 {
		rounded++
	}
	return fmt.Sprintf("%s$%d.%04d", sign, rounded/10_000, rounded%10_000)
}

// Add returns the sum of two amounts, or the largest amount if that is smaller.
func (m Money) Add(n Money) Money {
	m, n = max(m, 0), max(n, 0)
	if m > math.MaxInt64-n {
		return math.MaxInt64
	}
	return m + n
}

// times returns m for each of n tokens, or the largest amount if that is smaller.
func (m Money) times(n int) Money {
	high, low := bits.Mul64(uint64(max(m, 0)), uint64(max(n, 0)))
	if high > 0 || low > math.MaxInt64 {
		return math.MaxInt64
	}
	return Money(low)
}
