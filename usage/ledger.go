package usage

import (
	"maps"
	"slices"
	"sync"
	"time"
)

// A Ledger adds up what a run used: in total, for each model, and for each tool.
// The ledger of a tool contains the requests that were sent while it ran, such as
// those of another agent. The tokens and the cost of a ledger are the sums of
// those in Models and Tools. The methods are safe for concurrent use, and those of a
// nil Ledger do nothing. Read the fields of a [Ledger.Clone].
type Ledger struct {
	Requests   int    `json:"requests"`             // to models
	Unpriced   int    `json:"unpriced,omitempty"`   // those of the requests whose cost is unknown
	Unmeasured int    `json:"unmeasured,omitempty"` // those of which the provider did not count the tokens; their cost is unknown too
	Tokens     Tokens `json:"tokens"`
	Cost       Money  `json:"cost"` // of the requests whose price is known, in units of 10^-12 dollars

	// Of a tool: its own calls. Of a run: the calls of all tools of the run.
	Calls     int           `json:"calls,omitempty"`
	Arguments int           `json:"arguments,omitempty"` // tokens that the model wrote for the calls, estimated
	Results   int           `json:"results,omitempty"`   // tokens that the model read of them, estimated
	Duration  time.Duration `json:"duration,omitempty"`  // of the calls, added up although some ran at the same time

	Models map[string]*Ledger `json:"models,omitempty"` // the requests that no tool sent, by PROVIDER/MODEL
	Tools  map[string]*Ledger `json:"tools,omitempty"`

	mu sync.Mutex
}

// AddRequest adds a request to a model, and what it cost if that is known. Without
// tokens it was not measured: no request has none.
func (l *Ledger) AddRequest(model string, t Tokens, cost Money, known bool) {
	if l == nil {
		return
	}
	request := Ledger{Requests: 1, Tokens: t, Cost: cost}
	if t == (Tokens{}) {
		request.Unmeasured, known = 1, false
	}
	if !known {
		request.Unpriced, request.Cost = 1, 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.addTotals(&request)
	entryOf(&l.Models, model).addTotals(&request)
}

// bytesPerToken is the usual estimate for English text and JSON.
const bytesPerToken = 4

// AddCall adds a call of a tool with the bytes of its arguments and of its result.
// Inner is what was used while it ran, nil for nothing.
func (l *Ledger) AddCall(tool string, arguments, result int, d time.Duration, inner *Ledger) {
	if l == nil {
		return
	}
	call := inner.Clone()
	call.Calls, call.Arguments, call.Results, call.Duration = 1, estimate(arguments), estimate(result), max(d, 0)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.addTotals(call)
	entryOf(&l.Tools, tool).addAll(call)
}

// Add adds another ledger, for example that of an earlier part of the run.
func (l *Ledger) Add(other *Ledger) {
	if l == nil {
		return
	}
	other = other.Clone()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.addAll(other)
}

// Clone returns a copy that shares nothing with l.
func (l *Ledger) Clone() *Ledger {
	c := &Ledger{}
	if l != nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		c.addAll(l)
	}
	return c
}

// ByModel returns what each model was used for, also inside of tools.
func (l *Ledger) ByModel() map[string]*Ledger {
	all := map[string]*Ledger{}
	l.Clone().collectModels(&all)
	return all
}

func (l *Ledger) collectModels(all *map[string]*Ledger) {
	for name, part := range l.Models {
		entryOf(all, name).addAll(part)
	}
	for _, tool := range l.Tools {
		tool.collectModels(all)
	}
}

// UnpricedModels returns the models that Cost leaves out, sorted.
func (l *Ledger) UnpricedModels() []string {
	return l.modelsWith(func(part *Ledger) bool { return part.Unpriced > 0 })
}

// UnmeasuredModels returns the models that Tokens leave out, sorted.
func (l *Ledger) UnmeasuredModels() []string {
	return l.modelsWith(func(part *Ledger) bool { return part.Unmeasured > 0 })
}

func (l *Ledger) modelsWith(has func(*Ledger) bool) []string {
	all := l.ByModel()
	maps.DeleteFunc(all, func(_ string, part *Ledger) bool { return !has(part) })
	return slices.Sorted(maps.Keys(all))
}

// addAll adds another ledger with its parts. l is locked, and other is not shared.
func (l *Ledger) addAll(other *Ledger) {
	l.addTotals(other)
	for name, part := range other.Models {
		entryOf(&l.Models, name).addAll(part)
	}
	for name, part := range other.Tools {
		entryOf(&l.Tools, name).addAll(part)
	}
}

// addTotals adds another ledger without its parts.
func (l *Ledger) addTotals(other *Ledger) {
	l.Requests = addCounts(l.Requests, other.Requests)
	l.Unpriced = addCounts(l.Unpriced, other.Unpriced)
	l.Unmeasured = addCounts(l.Unmeasured, other.Unmeasured)
	l.Tokens, l.Cost = l.Tokens.Add(other.Tokens), l.Cost.Add(other.Cost)
	l.Calls = addCounts(l.Calls, other.Calls)
	l.Arguments, l.Results = addCounts(l.Arguments, other.Arguments), addCounts(l.Results, other.Results)
	l.Duration += other.Duration
}

// entryOf returns the ledger with that name, a new one if there is none.
func entryOf(m *map[string]*Ledger, name string) *Ledger {
	if *m == nil {
		*m = map[string]*Ledger{}
	}
	if (*m)[name] == nil {
		(*m)[name] = &Ledger{}
	}
	return (*m)[name]
}

// estimate returns about how many tokens a text has.
func estimate(bytes int) int {
	bytes = max(bytes, 0)
	return bytes/bytesPerToken + (bytes%bytesPerToken+bytesPerToken-1)/bytesPerToken
}
