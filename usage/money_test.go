package usage_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/toolpost/toolpost/usage"
)

func TestParseMoney(t *testing.T) {
	for text, want := range map[string]usage.Money{
		"$1.50": 1_500_000_000_000, "1.50": 1_500_000_000_000, "2": 2 * usage.Dollar, "$0": 0, "007": 7 * usage.Dollar,
		"0.000000000001": 1, "0.0000000000010000": 1, "$9223372.036854775807": math.MaxInt64,
	} {
		if got, err := usage.ParseMoney(text); got != want || err != nil {
			t.Errorf("%s: got %d, %v; want %d", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"": "write dollars", "$": "write dollars", "-1": "write dollars", "1,50": "write dollars", "1.": "write dollars", ".5": "write dollars",
		"1e3": "write dollars", " 1": "write dollars", "$$1": "write dollars", "1.2.3": "write dollars", "+1": "write dollars",
		"0.0000000000001": "more than 12 decimals", "9223372.036854775808": "the largest is $9223372.0369", "99999999999999999999": "the largest is",
	} {
		if got, err := usage.ParseMoney(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %d, %v; want %q", text, got, err, want)
		}
	}
}

// FuzzParseMoney: what is read can be written with all its decimals and read again.
func FuzzParseMoney(f *testing.F) {
	f.Add("$1.50")
	f.Add("9223372.036854775807")
	f.Fuzz(func(t *testing.T, text string) {
		amount, err := usage.ParseMoney(text)
		if err != nil {
			return
		}
		exact := fmt.Sprintf("%d.%012d", amount/usage.Dollar, amount%usage.Dollar)
		if again, err := usage.ParseMoney(exact); amount < 0 || again != amount || err != nil {
			t.Errorf("%q is %d; %s is %d, %v", text, amount, exact, again, err)
		}
	})
}

func TestMoney(t *testing.T) {
	for m, want := range map[usage.Money]string{
		0: "$0.0000", usage.Dollar: "$1.0000", 5 * usage.Dollar / 2: "$2.5000", 123_449_999_999: "$0.1234", 123_450_000_000: "$0.1235",
		999_950_000_000: "$1.0000", -usage.Dollar / 2: "-$0.5000", math.MaxInt64: "$9223372.0369", math.MinInt64: "-$9223372.0369",
	} {
		if got := m.String(); got != want {
			t.Errorf("%d: got %s, want %s", m, got, want)
		}
	}
	for _, c := range []struct{ a, b, want usage.Money }{
		{1, 2, 3}, {math.MaxInt64, 1, math.MaxInt64}, {math.MaxInt64, math.MaxInt64, math.MaxInt64}, {-5, 3, 3}, {3, -5, 3},
	} {
		if got := c.a.Add(c.b); got != c.want {
			t.Errorf("%d and %d: got %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

func TestTokens(t *testing.T) {
	a := usage.Tokens{Input: 1, CacheRead: 2, CacheWrite: 3, LongCacheWrite: 1, Output: 4, Reasoning: 2}
	if got, want := a.Add(a), (usage.Tokens{Input: 2, CacheRead: 4, CacheWrite: 6, LongCacheWrite: 2, Output: 8, Reasoning: 4}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := a.Context(); got != 10 {
		t.Errorf("the context has %d tokens, want 10", got)
	}
	hostile := usage.Tokens{Input: math.MaxInt, CacheRead: -7, Output: 3}
	if got, want := hostile.Add(hostile), (usage.Tokens{Input: math.MaxInt, Output: 6}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := hostile.Context(); got != math.MaxInt {
		t.Errorf("the context has %d tokens", got)
	}
}
