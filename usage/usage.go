// Package usage counts the tokens of model requests and what they cost.
//
//	prices.json ── Default, ParsePrices ──▶ Prices ── Find ──▶ Price
//	                                                            │ Cost
//	response ── Tokens ─────────────────────────────────────────┴──▶ Money ──▶ Ledger
//
// Amounts are whole numbers, so that the sums are exact. A model without a known
// price is counted but not priced; a [Ledger] reports which models these are.
package usage

import "math"

// Tokens are the tokens of one or more requests.
type Tokens struct {
	Input          int `json:"input"`                      // read by the model, without those in CacheRead and CacheWrite
	CacheRead      int `json:"cache_read,omitempty"`       // read from the provider's prompt cache
	CacheWrite     int `json:"cache_write,omitempty"`      // written to the provider's prompt cache
	LongCacheWrite int `json:"long_cache_write,omitempty"` // the part of CacheWrite that is kept for an hour or longer, which has its own price
	Output         int `json:"output"`                     // written by the model, with those in Reasoning
	Reasoning      int `json:"reasoning,omitempty"`        // the part of Output that is thinking
}

// Add returns the sum of t and u. Counts are never negative, and do not overflow.
func (t Tokens) Add(u Tokens) Tokens {
	return Tokens{
		Input:          addCounts(t.Input, u.Input),
		CacheRead:      addCounts(t.CacheRead, u.CacheRead),
		CacheWrite:     addCounts(t.CacheWrite, u.CacheWrite),
		LongCacheWrite: addCounts(t.LongCacheWrite, u.LongCacheWrite),
		Output:         addCounts(t.Output, u.Output),
		Reasoning:      addCounts(t.Reasoning, u.Reasoning),
	}
}

// prompt is the number of tokens that a model was given.
func (t Tokens) prompt() int { return addCounts(addCounts(t.Input, t.CacheRead), t.CacheWrite) }

// Context is the number of tokens of the conversation after a request.
func (t Tokens) Context() int { return addCounts(t.prompt(), t.Output) }

// addCounts adds two counts. They come from providers: one below zero would hide
// what others cost.
func addCounts(a, b int) int {
	a, b = max(a, 0), max(b, 0)
	if a > math.MaxInt-b {
		return math.MaxInt
	}
	return a + b
}
