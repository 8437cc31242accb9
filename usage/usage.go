// Package usage counts the tokens of model requests and what they cost.
package usage

import "strconv"

// Tokens are the tokens of one or more requests.
type Tokens struct {
	Input      int `json:"input"`                 // read by the model, without those in CacheRead and CacheWrite
	CacheRead  int `json:"cache_read,omitempty"`  // read from the provider's prompt cache
	CacheWrite int `json:"cache_write,omitempty"` // written to the provider's prompt cache
	Output     int `json:"output"`                // written by the model, with those in Reasoning
	Reasoning  int `json:"reasoning,omitempty"`   // the part of Output that is thinking
}

// Add returns the sum of t and u.
func (t Tokens) Add(u Tokens) Tokens {
	return Tokens{t.Input + u.Input, t.CacheRead + u.CacheRead, t.CacheWrite + u.CacheWrite, t.Output + u.Output, t.Reasoning + u.Reasoning}
}

// Context is the number of tokens of the conversation after a request.
func (t Tokens) Context() int { return t.Input + t.CacheRead + t.CacheWrite + t.Output }

// Money is an amount in units of 10^-12 US dollars, so that the price of every
// token is a whole number.
type Money int64

// Dollar is one US dollar.
const Dollar Money = 1_000_000_000_000

// String returns the amount in dollars, to a hundredth of a cent.
func (m Money) String() string {
	return "$" + strconv.FormatFloat(float64(m)/float64(Dollar), 'f', 4, 64)
}
