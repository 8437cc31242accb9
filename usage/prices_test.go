package usage_test

import (
	"math"
	"os"
	"reflect"
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
		// 1,000 × 4 + 100 × 20; above the limit 272,001 × 8 + 100 × 30
		{"openai", "gpt-5.6", usage.Tokens{Input: 1_000, Output: 100}, 6_000 * micro},
		{"openai", "gpt-5.6-sol", usage.Tokens{Input: 272_001, Output: 100}, 2_179_008 * micro},
		// 10 × 15 + 10 × 75 and 10 × 0.80 + 10 × 4
		{"anthropic", "claude-opus-4-20250514", usage.Tokens{Input: 10, Output: 10}, 900 * micro},
		{"anthropic", "claude-3-5-haiku-latest", usage.Tokens{Input: 10, Output: 10}, 48 * micro},
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
		"openai":    {"gpt-6.2", "gpt-5.4-max", "claude-opus-5-5"},
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

// TestUntil: a price that is announced to end is not used after its last day. The
// next entry of the model applies then, if there is one.
func TestUntil(t *testing.T) {
	const ending = `{"prices":[{"providers":["me"],"models":[{"names":["a"],"until":"2026-11-30","input":1,"output":1,"date":"2026-11-26","source":"me"}]}]}`
	alone, err := usage.ParsePrices([]byte(ending))
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		sleepUntil := func(text string) {
			at, err := time.Parse(time.DateTime, text)
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Until(at))
		}
		million := usage.Tokens{Input: 1_000_000, Output: 1_000_000}
		check := func(want usage.Money, known bool) {
			t.Helper()
			if cost, ok := usage.Default().Find("gemini", "gemini-4-argon").Cost(million); cost != want || !ok {
				t.Errorf("the price of the next entry: got %v, %v; want %v", cost, ok, want)
			}
			if p := alone.Find("me", "a"); (p != nil) != known {
				t.Errorf("the price of the only entry: got %+v, want known=%v", p, known)
			}
		}
		sleepUntil("2026-11-30 23:59:59")
		check(12*usage.Dollar, true)
		sleepUntil("2026-12-01 00:00:00")
		check(24*usage.Dollar, false)
		for id, p := range alone.All() { // a model is listed after its price has ended
			if id != "me/a" || p != nil {
				t.Errorf("got %s: %+v", id, p)
			}
		}
	})
}

// TestUnpriced: the window of a model without a known price is known.
func TestUnpriced(t *testing.T) {
	p := usage.Default().Find("claude-cli", "claude-mythos-5-2[1m]")
	if p == nil || p.Context != 1_000_000 || p.MaxOutput != 128_000 {
		t.Fatalf("got %+v", p)
	}
	for _, tokens := range []usage.Tokens{{Input: 1}, {Output: 1}, {CacheRead: 1}, {CacheWrite: 1}} {
		if cost, known := p.Cost(tokens); known || cost != 0 {
			t.Errorf("%+v cost %v", tokens, cost)
		}
	}
}

// TestAll: every name comes once, with the price that Find returns.
func TestAll(t *testing.T) {
	seen := map[string]bool{}
	for id, p := range usage.Default().All() {
		provider, name, _ := strings.Cut(id, "/")
		if seen[id] || !reflect.DeepEqual(p, usage.Default().Find(provider, name)) {
			t.Errorf("%s: %+v", id, p)
		}
		seen[id] = true
	}
	// Models that were missing, by an alias or a snapshot too.
	for _, id := range []string{"gemini/gemini-4-argon", "gemini/gemini-4-carbon", "openai/gpt-6.1-sol", "openai/gpt-5.6-sol", "anthropic/claude-mythos-5-2",
		"anthropic/claude-mythos-preview", "openai/gpt-5-codex", "openai/gpt-5.3-codex", "openai/gpt-5.2-pro", "openai/o3-mini", "anthropic/claude-opus-4", "anthropic/claude-3-5-haiku"} {
		if !seen[id] {
			t.Errorf("%s is not listed", id)
		}
	}
	for range usage.Default().All() {
		break // a loop may end early
	}
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
		`{"names":["a"],"unpriced":true,"input":1,"date":"2026-11-26","source":"me"}`:                         "has a price and is unpriced",
		`{`: "read prices: ",
	} {
		if _, err := usage.ParsePrices(file(model)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", model, err, want)
		}
	}
}
