package budget_test

import (
	"sync"
	"testing"

	"github.com/toolpost/toolpost/internal/budget"
)

// What is taken counts until it is given back, in the budget and in those above it.
func TestBudget(t *testing.T) {
	all := budget.New(nil, budget.Limit{Bytes: 100})
	a, b := budget.New(all, budget.Limit{Number: 2, Bytes: 80}), budget.New(all, budget.Limit{})
	for _, step := range []struct {
		what string
		got  bool
		want bool
	}{
		{"the first", a.Take(50), true},
		{"more than a may have", a.Take(31), false},
		{"the second", a.Take(10), true},
		{"a third", a.Take(0), false},
		{"more of the second", a.Grow(20), true},
		{"more than a may have, of the second", a.Grow(1), false},
		{"more than all may have", b.Take(21), false},
		{"the rest", b.Take(20), true},
	} {
		if step.got != step.want {
			t.Errorf("%s: %v, want %v", step.what, step.got, step.want)
		}
	}
	if got := all.Held(); got != (budget.Limit{Number: 3, Bytes: 100}) {
		t.Errorf("all hold %+v", got)
	}
	a.Give(50)
	a.Give(30)
	b.Give(20)
	if got := all.Held(); got != (budget.Limit{}) {
		t.Errorf("all hold %+v after everything was given back", got)
	}
	var none *budget.Budget
	if !none.Take(1<<30) || !none.Grow(1) {
		t.Error("no budget limits something")
	}
	none.Give(1<<30 + 1)
}

// What may go past a limit does so once, also past the limit of those above.
func TestGrowPast(t *testing.T) {
	all := budget.New(nil, budget.Limit{Bytes: 120})
	s := budget.NewShares[string](all, budget.Limit{Bytes: 50})
	a, b, c := s.Of("a"), s.Of("b"), s.Of("c")
	if !a.Take(49) || !b.Take(1) || !c.Take(1) {
		t.Fatal("there is no room")
	}
	if !a.GrowPast(49) || a.GrowPast(1) || a.Grow(1) || a.Take(0) {
		t.Error("a share goes past its limit not once")
	}
	if !b.GrowPast(100) || c.GrowPast(1) || c.Grow(1) {
		t.Error("all go past their limit not once")
	}
	a.Give(98)
	b.Give(101)
	c.Give(1)
	if got := all.Held(); got != (budget.Limit{}) {
		t.Errorf("%+v are held", got)
	}
}

// One key does not use up what is there for the others.
func TestShares(t *testing.T) {
	common := budget.New(nil, budget.Limit{Number: 5})
	s := budget.NewShares[string](common, budget.Limit{Number: 3})
	taken := func(key string) (n int) {
		for s.Of(key).Take(1) {
			n++
		}
		return n
	}
	if a, b := taken("a"), taken("b"); a != 3 || b != 2 {
		t.Errorf("a has %d and b has %d, want 3 and 2", a, b)
	}
	s.Of("a").Give(1)
	if b, c := taken("b"), taken("c"); b != 1 || c != 0 {
		t.Errorf("b has %d and c has %d more, want 1 and 0", b, c)
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 1000 {
				if s.Of("d").Take(1) {
					s.Of("d").Grow(1)
					s.Of("d").Give(2)
				}
			}
		})
	}
	s.Of("a").Give(1)
	s.Of("a").Give(1)
	all.Wait()
	if got := common.Held(); got != (budget.Limit{Number: 3, Bytes: 3}) {
		t.Errorf("%+v are held", got)
	}
}
