package usage

import (
	"context"
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
	Requests int    `json:"requests"`           // to models
	Unpriced int    `json:"unpriced,omitempty"` // those of the requests whose price is unknown
	Tokens   Tokens `json:"tokens"`
	Cost     Money  `json:"cost"` // of the requests whose price is known, in units of 10^-12 dollars

	// Of a tool: its own calls. Of a run: the calls of all tools of the run.
	Calls     int           `json:"calls,omitempty"`
	Arguments int           `json:"arguments,omitempty"` // tokens that the model wrote for the calls, estimated
	Results   int           `json:"results,omitempty"`   // tokens that the model read of them, estimated
	Duration  time.Duration `json:"duration,omitempty"`  // of the calls, added up although some ran at the same time

	Models map[string]*Ledger `json:"models,omitempty"` // the requests that no tool sent, by PROVIDER/MODEL
	Tools  map[string]*Ledger `json:"tools,omitempty"`

	mu sync.Mutex
}

// AddRequest adds a request to a model, and what it cost if that is known.
func (l *Ledger) AddRequest(model string, t Tokens, cost Money, known bool) {
	if l == nil {
		return
	}
	unpriced := 0
	if !known {
		unpriced, cost = 1, 0
	}
	request := &Ledger{Requests: 1, Unpriced: unpriced, Tokens: Tokens{}.Add(t), Cost: cost.Add(0)}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.addUse(request)
	entryOf(&l.Models, model).addUse(request)
}

// bytesPerToken is the usual estimate for English text and JSON.
const bytesPerToken = 4

// AddCall adds a call of a tool with the bytes of its arguments and of its result.
// Inner is what was used while it ran, nil for nothing.
func (l *Ledger) AddCall(tool string, arguments, result int, d time.Duration, inner *Ledger) {
	if l == nil {
		return
	}
	call := &Ledger{Calls: 1, Arguments: estimate(arguments), Results: estimate(result), Duration: max(d, 0)}
	inner = inner.Clone()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.addUse(inner)
	l.addCalls(call)
	entry := entryOf(&l.Tools, tool)
	entry.addUse(inner)
	entry.addCalls(call)
	entry.addParts(inner)
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
		entryOf(all, name).addUse(part)
	}
	for _, tool := range l.Tools {
		tool.collectModels(all)
	}
}

// UnpricedModels returns the models that Cost leaves out, sorted.
func (l *Ledger) UnpricedModels() []string {
	all := l.ByModel()
	maps.DeleteFunc(all, func(_ string, part *Ledger) bool { return part.Unpriced == 0 })
	return slices.Sorted(maps.Keys(all))
}

func (l *Ledger) addAll(other *Ledger) {
	l.addUse(other)
	l.addCalls(other)
	l.addParts(other)
}

func (l *Ledger) addUse(other *Ledger) {
	l.Requests = addCounts(l.Requests, other.Requests)
	l.Unpriced = addCounts(l.Unpriced, other.Unpriced)
	l.Tokens, l.Cost = l.Tokens.Add(other.Tokens), l.Cost.Add(other.Cost)
}

func (l *Ledger) addCalls(other *Ledger) {
	l.Calls = addCounts(l.Calls, other.Calls)
	l.Arguments, l.Results = addCounts(l.Arguments, other.Arguments), addCounts(l.Results, other.Results)
	l.Duration += other.Duration
}

func (l *Ledger) addParts(other *Ledger) {
	for name, part := range other.Models {
		entryOf(&l.Models, name).addAll(part)
	}
	for name, part := range other.Tools {
		entryOf(&l.Tools, name).addAll(part)
	}
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

type ledgerKey struct{}

// NewContext returns a context for a call of a tool: what is used inside of it is
// added to l.
func NewContext(ctx context.Context, l *Ledger) context.Context {
	return context.WithValue(ctx, ledgerKey{}, l)
}

// FromContext returns the ledger of the call that ctx belongs to, nil if there is
// none.
func FromContext(ctx context.Context) *Ledger {
	l, _ := ctx.Value(ledgerKey{}).(*Ledger)
	return l
}
