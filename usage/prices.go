package usage

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/toolpost/toolpost/internal/lazyregexp"
)

//go:embed prices.json
var builtIn string

// Prices are the prices of models. They do not change.
type Prices struct {
	groups []group
}

// A Price is what the tokens of one model cost, as its provider published it.
type Price struct {
	Date      string `json:"date"`       // on which the source gave the price, such as 2026-11-20
	Source    string `json:"source"`     // the address that it was read from
	Context   int    `json:"context"`    // tokens of the longest conversation; 0 if unknown
	MaxOutput int    `json:"max_output"` // tokens of the longest response; 0 if unknown
	Until     string `json:"until"`      // the last day of the price, such as 2026-12-31; empty if none is announced

	rates
	long *longRates
}

// A group is a part of the file: the models of one provider.
type group struct {
	Providers []string `json:"providers"` // names that have the same prices
	Models    []entry  `json:"models"`
}

// An entry is one model of the file. Of several entries with the same name, the
// first whose last day has not passed applies.
type entry struct {
	Names    []string `json:"names"`    // the name and its aliases, without the date of a snapshot
	Unpriced bool     `json:"unpriced"` // no source gives the price of the model
	Price
	Long *longRates `json:"long"`
}

// rates are the prices per token. A nil one is unknown.
type rates struct {
	Input          *rate `json:"input"`
	Output         *rate `json:"output"`
	CacheRead      *rate `json:"cache_read"`
	CacheWrite     *rate `json:"cache_write"`
	LongCacheWrite *rate `json:"long_cache_write"` // kept for an hour or longer
}

// longRates are the rates of every token of a request whose prompt is longer
// than Over.
type longRates struct {
	Over int `json:"over"`
	rates
}

// A rate is the price of one token. In the file it is that of a million tokens,
// in dollars.
type rate Money

// UnmarshalJSON reads a number without rounding it.
func (r *rate) UnmarshalJSON(data []byte) error {
	million, err := ParseMoney(string(data))
	if err != nil {
		return err
	}
	if million%1_000_000 != 0 {
		return fmt.Errorf("the price %s of a million tokens has more than 6 decimals", data)
	}
	*r = rate(million / 1_000_000)
	return nil
}

var parseBuiltIn = sync.OnceValues(func() (*Prices, error) { return ParsePrices([]byte(builtIn)) })

// Default returns the prices in the file prices.json of this package.
func Default() *Prices {
	prices, err := parseBuiltIn()
	if err != nil {
		return &Prices{} // the tests of this package parse the file
	}
	return prices
}

// ParsePrices reads prices in the form of the file prices.json of this package.
func ParsePrices(data []byte) (*Prices, error) {
	var file struct {
		Groups []group `json:"prices"`
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&file); err != nil {
		return nil, fmt.Errorf("read prices: %w", err)
	}
	for _, g := range file.Groups {
		if len(g.Providers) == 0 {
			return nil, fmt.Errorf("read prices: a group has no provider")
		}
		for _, m := range g.Models {
			if err := m.check(); err != nil {
				return nil, fmt.Errorf("read prices: %s %q: %w", strings.Join(g.Providers, ", "), m.Names, err)
			}
		}
	}
	return &Prices{file.Groups}, nil
}

func (e *entry) check() error {
	_, dateErr := time.Parse(time.DateOnly, e.Date)
	_, untilErr := time.Parse(time.DateOnly, cmp.Or(e.Until, e.Date))
	switch {
	case len(e.Names) == 0:
		return fmt.Errorf("a model has no name")
	case dateErr != nil:
		return fmt.Errorf("the date when the price was read: %w", dateErr)
	case untilErr != nil:
		return fmt.Errorf("the last day of the price: %w", untilErr)
	case e.Source == "":
		return fmt.Errorf("the price has no source")
	case e.Unpriced && (e.rates != rates{} || e.Long != nil):
		return fmt.Errorf("the model has a price and is unpriced")
	case !e.Unpriced && (e.rates.Input == nil || e.rates.Output == nil):
		return fmt.Errorf("the price of input or output is missing")
	case e.Long != nil && (e.Long.Over <= 0 || e.Long.Input == nil || e.Long.Output == nil):
		return fmt.Errorf("the price of a long prompt needs over, input and output")
	}
	return nil
}

// variant is what a name may have beyond that in the file: the date of a
// snapshot, and the CLI's mark of a context of a million tokens.
var variant = lazyregexp.New(`(-(\d{8}|\d{4}-\d{2}-\d{2}|latest))?(\[1m\])?$`)

// Find returns the price of a model of a provider, nil if the model is unknown or
// its price has ended. The name may be an alias or that of a dated snapshot. The
// methods of a price accept nil.
func (p *Prices) Find(provider, model string) *Price {
	model = strings.TrimPrefix(model, "models/")
	names := []string{model, variant.ReplaceAllString(model, "")}
	today := time.Now().UTC().Format(time.DateOnly)
	for _, name := range names {
		for _, g := range p.groups {
			if !slices.Contains(g.Providers, provider) {
				continue
			}
			for _, m := range g.Models {
				if slices.Contains(m.Names, name) && (m.Until == "" || today <= m.Until) {
					price := m.Price
					price.long = m.Long
					return &price
				}
			}
		}
	}
	return nil
}

// All returns every name of a model, as PROVIDER/NAME with the first of the
// providers that have its price, and the price as Find returns it.
func (p *Prices) All() iter.Seq2[string, *Price] {
	return func(yield func(string, *Price) bool) {
		seen := map[string]bool{}
		for _, g := range p.groups {
			for _, m := range g.Models {
				for _, name := range m.Names {
					id := g.Providers[0] + "/" + name
					if !seen[id] && !yield(id, p.Find(g.Providers[0], name)) {
						return
					}
					seen[id] = true
				}
			}
		}
	}
}

// Cost returns what the tokens of one request cost. It reports false if the price
// of the model, or of some of the tokens, is unknown.
func (p *Price) Cost(t Tokens) (cost Money, known bool) {
	if p == nil {
		return 0, false
	}
	r := &p.rates
	if p.long != nil && t.prompt() > p.long.Over {
		r = &p.long.rates
	}
	long := min(max(t.LongCacheWrite, 0), max(t.CacheWrite, 0))
	for _, part := range []struct {
		tokens int
		rate   *rate
	}{
		{t.Input, r.Input}, {t.Output, r.Output}, {t.CacheRead, r.CacheRead},
		{max(t.CacheWrite, 0) - long, r.CacheWrite}, {long, r.LongCacheWrite},
	} {
		switch {
		case part.tokens <= 0:
		case part.rate == nil:
			return 0, false
		default:
			cost = cost.Add(Money(*part.rate).times(part.tokens))
		}
	}
	return cost, true
}
