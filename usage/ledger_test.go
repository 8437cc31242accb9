package usage_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/toolpost/toolpost/usage"
)

func ExampleLedger() {
	run := &usage.Ledger{}
	request := func(l *usage.Ledger, provider, model string, t usage.Tokens) {
		cost, known := usage.Default().Find(provider, model).Cost(t)
		l.AddRequest(provider+"/"+model, t, cost, known)
	}
	request(run, "anthropic", "claude-opus-5-5", usage.Tokens{Input: 10_000, Output: 500})

	// A tool that asks two models itself.
	inner := &usage.Ledger{}
	request(inner, "anthropic", "claude-haiku-5-5", usage.Tokens{Input: 1_000, Output: 100})
	request(inner, "mine", "llama", usage.Tokens{Input: 100, Output: 1})
	run.AddCall("explore", 40, 2_000, 3*time.Second, inner)

	total := run.Clone()
	fmt.Println(total.Requests, "requests,", total.Tokens.Input, "input tokens,", total.Cost)
	explore := total.Tools["explore"]
	fmt.Println("explore:", explore.Calls, "call,", explore.Arguments, "+", explore.Results, "tokens,", explore.Duration, explore.Cost)
	fmt.Println("not priced:", run.UnpricedModels())
	// Output:
	// 3 requests, 11100 input tokens, $0.0502
	// explore: 1 call, 10 + 500 tokens, 3s $0.0002
	// not priced: [mine/llama]
}

var ignoreLock = cmpopts.IgnoreUnexported(usage.Ledger{})

// TestLedgerSums builds random ledgers: the parts of every ledger add up to its
// totals, and so do the models.
func TestLedgerSums(t *testing.T) {
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 1))
		l := randomLedger(random, 3)
		if total, parts := l.Clone(), sums(t, l); !equalUse(total, parts) {
			t.Fatalf("seed %d: the parts are %+v, the total is %+v", seed, parts, total)
		}
		models := &usage.Ledger{}
		for _, m := range l.ByModel() {
			models.Add(m)
		}
		if !equalUse(l, models) {
			t.Fatalf("seed %d: the models are %+v, the total is %+v", seed, models, l)
		}
		data, err := json.Marshal(l)
		if err != nil {
			t.Fatal(err)
		}
		var read usage.Ledger
		if err := json.Unmarshal(data, &read); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(l, &read, ignoreLock); d != "" {
			t.Fatalf("seed %d: read again: %s", seed, d)
		}
		twice := l.Clone()
		twice.Add(l)
		if twice.Cost != 2*l.Cost || twice.Requests != 2*l.Requests || twice.Calls != 2*l.Calls || twice.Duration != 2*l.Duration {
			t.Fatalf("seed %d: twice the ledger is %+v", seed, twice)
		}
	}
}

func randomLedger(random *rand.Rand, depth int) *usage.Ledger {
	l := &usage.Ledger{}
	for range random.IntN(4) {
		tokens := usage.Tokens{Input: random.IntN(1e6), CacheRead: random.IntN(1e6), CacheWrite: random.IntN(1e6), Output: random.IntN(1e6)}
		l.AddRequest(fmt.Sprintf("m%d", random.IntN(3)), tokens, usage.Money(random.Int64N(1e15)), random.IntN(4) > 0)
	}
	for range random.IntN(4) {
		var inner *usage.Ledger
		if depth > 0 && random.IntN(2) > 0 {
			inner = randomLedger(random, depth-1)
		}
		l.AddCall(fmt.Sprintf("t%d", random.IntN(3)), random.IntN(100), random.IntN(1000), time.Duration(random.IntN(1e9)), inner)
	}
	return l
}

// sums adds up the parts of a ledger, and checks those of its tools.
func sums(t *testing.T, l *usage.Ledger) *usage.Ledger {
	total := &usage.Ledger{}
	for _, m := range l.Models {
		total.Add(m)
	}
	for name, tool := range l.Tools {
		total.Add(tool)
		if parts := sums(t, tool); !equalUse(tool, parts) {
			t.Errorf("%s: the parts are %+v, the total is %+v", name, parts, tool)
		}
	}
	return total
}

func equalUse(a, b *usage.Ledger) bool {
	return a.Requests == b.Requests && a.Unpriced == b.Unpriced && a.Tokens == b.Tokens && a.Cost == b.Cost
}

// TestLedgerConcurrent: tools run at the same time, and one looks at the ledger.
func TestLedgerConcurrent(t *testing.T) {
	l := &usage.Ledger{}
	var group sync.WaitGroup
	for i := range 20 {
		group.Go(func() {
			l.AddRequest("m", usage.Tokens{Input: 1}, 2, true)
			l.AddCall("t", 3, 4, time.Second, l.Clone())
			if c := l.Clone(); c.Tools["t"].Calls > 20 {
				t.Errorf("%d: %d calls", i, c.Tools["t"].Calls)
			}
		})
	}
	group.Wait()
	c := l.Clone()
	if c.Calls != 20 || c.Arguments != 20 || c.Results != 20 || c.Duration != 20*time.Second || c.Models["m"].Requests != 20 {
		t.Errorf("got %+v", c)
	}
	c.Models["m"].Requests = 0
	if l.Clone().Models["m"].Requests != 20 {
		t.Error("the clone shares a part with the ledger")
	}
}

func TestLedgerEmpty(t *testing.T) {
	var none *usage.Ledger
	none.AddRequest("m", usage.Tokens{Input: 1}, 1, true)
	none.AddCall("t", 1, 1, 1, nil)
	none.Add(&usage.Ledger{})
	if c := none.Clone(); c.Requests != 0 || len(none.UnpricedModels()) != 0 {
		t.Errorf("got %+v", c)
	}
	l := &usage.Ledger{}
	l.AddRequest("m", usage.Tokens{Input: -3, Output: 2}, -7, true)
	l.AddRequest("n", usage.Tokens{}, 7, false)
	l.AddCall("t", -1, -1, -1, nil)
	if c := l.Clone(); c.Tokens != (usage.Tokens{Output: 2}) || c.Cost != 0 || c.Duration != 0 || c.Arguments != 0 || !slices.Equal(l.UnpricedModels(), []string{"n"}) {
		t.Errorf("got %+v", c)
	}
}
