package usage_test

import (
	"math"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolpost/toolpost/usage"
)

// TestCost has costs that were worked out by hand from the published prices, in
// millionths of a dollar.
func TestCost(t *testing.T) {
	const micro = usage.Dollar / 1_000_000
	for _, c := range []struct {
		provider, model string
		tokens          usage.Tokens
		want            usage.Money
	}{
		// 1,000,000 × $4 + 1,000,000 × $20
		{"anthropic", "claude-opus-5-5", usage.Tokens{Input: 1_000_000, Output: 1_000_000}, 24 * usage.Dollar},
		// 2,000 × 3 + 300 × 15 + 10,000 × 0.30 + 4,000 × 3.75 + 1,000 × 6
		{"anthropic", "claude-sonnet-4-5-20250929", usage.Tokens{Input: 2_000, Output: 300, CacheRead: 10_000, CacheWrite: 5_000, LongCacheWrite: 1_000}, 34_500 * micro},
		// 1 × 0.01: the cheapest token there is
		{"anthropic", "claude-haiku-5-5", usage.Tokens{CacheRead: 1}, micro / 100},
		// Reasoning is a part of Output: 100 × 25
		{"claude-cli", "claude-opus-4-8[1m]", usage.Tokens{Output: 100, Reasoning: 90}, 2_500 * micro},
		// At the limit: 100,000 × 0.10 + 10 × 0.50; one above: 100,001 × 0.50 + 10 × 2.50
		{"anthropic", "claude-haiku-5-5", usage.Tokens{Input: 100_000, Output: 10}, 10_005 * micro},
		{"anthropic", "claude-haiku-5-5", usage.Tokens{Input: 100_001, Output: 10}, 50_025*micro + micro/2},
		// Cached tokens count for the limit: 1 × 4 + 272,000 × 0.20
		{"openai", "gpt-6.2-sol", usage.Tokens{Input: 1, CacheRead: 272_000}, 54_404 * micro},
		// 1,000 × 2 + 1,000 × 0.10 + 1,000 × 2.50 + 1,000 × 5 + 1,000 × 10
		{"openai", "gpt-6.2-sol", usage.Tokens{Input: 1000, CacheRead: 1000, CacheWrite: 2000, LongCacheWrite: 1000, Output: 1000}, 19_600 * micro},
		// 10 × 5 + 10 × 15: the first snapshot has a price of its own
		{"openai", "gpt-4o-2024-05-13", usage.Tokens{Input: 10, Output: 10}, 200 * micro},
		{"openai", "gpt-4o-2024-11-20", usage.Tokens{Input: 10, Output: 10}, 125 * micro},
		// 3 × 0.05 + 7 × 0.005 + 2 × 0.40
		{"openai", "gpt-5-nano-2025-08-07", usage.Tokens{Input: 3, CacheRead: 7, Output: 2}, 985 * micro / 1000},
		// 150,000 × 1.25 + 50,000 × 0.125 + 1,000 × 10; then one more token, with all at the long price
		{"gemini", "gemini-2.5-pro", usage.Tokens{Input: 150_000, CacheRead: 50_000, Output: 1_000}, 203_750 * micro},
		{"gemini", "models/gemini-2.5-pro", usage.Tokens{Input: 150_001, CacheRead: 50_000, Output: 1_000}, 402_502*micro + micro/2},
		// From a hostile provider: nothing is negative, and nothing overflows.
		{"gemini", "gemini-2.5-flash", usage.Tokens{Input: -5, CacheWrite: -5, LongCacheWrite: 7, Output: 1}, 2*micro + micro/2},
		{"gemini", "gemini-2.5-flash", usage.Tokens{Input: math.MaxInt, CacheRead: math.MaxInt, Output: math.MaxInt}, math.MaxInt64},
		{"openai", "o3", usage.Tokens{}, 0},
	} {
		price := usage.Default().Find(c.provider, c.model)
		if got, known := price.Cost(c.tokens); got != c.want || !known {
			t.Errorf("%s/%s: %+v: got %d, %v; want %d", c.provider, c.model, c.tokens, got, known, c.want)
		}
	}
}

func TestUnknown(t *testing.T) {
	for provider, models := range map[string][]string{
		"anthropic": {"claude-opus-99", "gpt-5", "claude", "", "claude-opus-5-5-preview", "claude-opus-5-5-123"},
		"openai":    {"gpt-6.2", "gpt-5.4-pro", "claude-opus-5-5"},
		"ollama":    {"gpt-5"},
	} {
		for _, model := range models {
			price := usage.Default().Find(provider, model)
			if cost, known := price.Cost(usage.Tokens{Input: 1}); price != nil || cost != 0 || known {
				t.Errorf("%s/%s has the price %v: %d", provider, model, price, cost)
			}
		}
	}
	// Anthropic's price of a long cache write has no counterpart in that of Gemini.
	price := usage.Default().Find("gemini", "gemini-3.5-flash")
	if cost, known := price.Cost(usage.Tokens{Input: 5, CacheWrite: 1, LongCacheWrite: 1}); cost != 0 || known {
		t.Errorf("tokens without a price cost %d", cost)
	}
}

// TestUntil: a price that is announced to end is not used after its last day.
func TestUntil(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		day := func(text string) time.Duration {
			at, err := time.Parse(time.DateTime, text)
			if err != nil {
				t.Fatal(err)
			}
			return time.Until(at)
		}
		find := func() *usage.Price { return usage.Default().Find("gemini", "gemini-3.8-flash") }
		time.Sleep(day("2026-12-31 23:59:59"))
		if find() == nil {
			t.Error("the price is not used on its last day")
		}
		time.Sleep(day("2027-01-01 00:00:00"))
		if find() != nil {
			t.Error("the price is used after its last day")
		}
	})
}

// TestFile checks the file of prices: Default cannot report an error in it.
func TestFile(t *testing.T) {
	data, err := os.ReadFile("prices.json")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := usage.ParsePrices(data); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"claude-opus-5-5", "claude-haiku-4-5-20251001"} {
		p := usage.Default().Find("anthropic", name)
		if p == nil || p.Context < 200_000 || p.MaxOutput < 64_000 || p.Date < "2026" || !strings.HasPrefix(p.Source, "https://") {
			t.Errorf("%s: got %+v", name, p)
		}
	}
}

func TestParsePrices(t *testing.T) {
	file := func(model string) []byte {
		return []byte(`{"prices":[{"providers":["me","us"],"models":[` + model + `]}]}`)
	}
	prices, err := usage.ParsePrices(file(`{"names":["a","b"],"input":0.000001,"output":1.5,"date":"2026-11-26","source":"me"}`))
	if err != nil {
		t.Fatal(err)
	}
	if cost, known := prices.Find("us", "b-latest").Cost(usage.Tokens{Input: 2, Output: 2}); cost != 2+3_000_000 || !known {
		t.Errorf("got %d, %v", cost, known)
	}
	for model, want := range map[string]string{
		`{"names":["a"],"input":0.0000019,"output":1,"date":"2026-11-26","source":"me"}`:                      "more than 6 decimals",
		`{"names":["a"],"input":-1,"output":1,"date":"2026-11-26","source":"me"}`:                             "write dollars",
		`{"names":["a"],"input":"1","output":1,"date":"2026-11-26","source":"me"}`:                            "write dollars",
		`{"names":["a"],"inputs":1,"output":1,"date":"2026-11-26","source":"me"}`:                             `unknown field "inputs"`,
		`{"names":["a"],"output":1,"date":"2026-11-26","source":"me"}`:                                        `me, us ["a"]: the price of input or output is missing`,
		`{"input":1,"output":1,"date":"2026-11-26","source":"me"}`:                                            "a model has no name",
		`{"names":["a"],"input":1,"output":1,"source":"me"}`:                                                  "the date when the price was read",
		`{"names":["a"],"input":1,"output":1,"date":"2026-11-26"}`:                                            "the price has no source",
		`{"names":["a"],"input":1,"output":1,"date":"2026-11-26","source":"me","until":"soon"}`:               "the last day of the price",
		`{"names":["a"],"input":1,"output":1,"date":"2026-11-26","source":"me","long":{"over":5}}`:            "needs over, input and output",
		`{"names":["a"],"input":99999999999999999999,"output":1,"date":"2026-11-26","source":"me","long":{}}`: "the largest is",
		`{`: "read prices: ",
	} {
		if _, err := usage.ParsePrices(file(model)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", model, err, want)
		}
	}
}
