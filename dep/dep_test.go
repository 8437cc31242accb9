package dep_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/dep"
)

// A resource tells in the journal when it is something that is opened and closed.
type resource struct {
	name    string
	journal *[]string
}

func (r *resource) Close() error {
	*r.journal = append(*r.journal, "close "+r.name)
	return nil
}

func journaled(journal *[]string, name string, s dep.Lifetime, needs ...*dep.Dep[*resource]) *dep.Dep[*resource] {
	return dep.New(name, s, func(ctx context.Context) (*resource, error) {
		for _, n := range needs {
			if _, err := n.Get(ctx); err != nil {
				return nil, err
			}
		}
		*journal = append(*journal, "open "+name)
		return &resource{name, journal}, nil
	})
}

func using(deps ...*dep.Dep[*resource]) *toolpost.Tool {
	return toolpost.New("use", "", func(ctx context.Context, _ struct{}) (string, error) {
		var names []string
		for _, d := range deps {
			r, err := d.Get(ctx)
			if err != nil {
				return "", err
			}
			names = append(names, r.name)
		}
		return strings.Join(names, " "), nil
	}, nil)
}

// A tool that needs a database, and a test that gives it another one.
func ExampleDep() {
	type db struct{ name string }
	ctx := new(dep.Scope).Open(context.Background(), dep.PerProcess)
	defer ctx.Close()
	DB := dep.New("db", dep.PerProcess, func(context.Context) (*db, error) { return &db{"main"}, nil })
	tool := toolpost.New("which", "Name the database.", func(ctx context.Context, _ struct{}) (string, error) {
		d, err := DB.Get(ctx)
		if err != nil {
			return "", err
		}
		return d.name, nil
	}, nil)
	set, _ := toolpost.NewSet(ctx, toolpost.Tools{tool})
	text, _ := set.CallText(DB.With(ctx, &db{"test"}), "which", struct{}{})
	fmt.Println(text)
	// Output: test
}

func newSet(t *testing.T, tools ...*toolpost.Tool) *toolpost.Set {
	t.Helper()
	s, err := toolpost.NewSet(t.Context(), toolpost.Tools(tools))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func call(t *testing.T, s *toolpost.Set, name string) *toolpost.Result {
	t.Helper()
	r, err := s.Call(t.Context(), &toolpost.Call{Name: name})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func text(r *toolpost.Result) string {
	s, _ := r.FirstText()
	return s
}

func TestDepScopes(t *testing.T) {
	var journal []string
	config := journaled(&journal, "config", dep.PerProcess)
	db := journaled(&journal, "db", dep.PerRun, config)
	tx := journaled(&journal, "tx", dep.PerCall, db)
	s := newSet(t, using(tx, db, tx))

	process := new(dep.Scope).Open(t.Context(), dep.PerProcess)
	run := new(dep.Scope).Open(process, dep.PerRun)
	for range 2 {
		if r, err := s.Call(run, &toolpost.Call{Name: "use"}); err != nil || text(r) != "tx db tx" {
			t.Fatal(text(r), err)
		}
	}
	if err := errors.Join(run.Close(), process.Close()); err != nil {
		t.Fatal(err)
	}
	want := []string{"open config", "open db", "open tx", "close tx", "open tx", "close tx", "close db", "close config"}
	if diff := cmp.Diff(want, journal); diff != "" {
		t.Error(diff)
	}

	journal = nil
	call(t, s, "use")
	want = []string{"open config", "open db", "open tx", "close tx", "close db", "close config"}
	if diff := cmp.Diff(want, journal); diff != "" {
		t.Errorf("with no wider scope, all live for the call: %s", diff)
	}
}

func TestDepOverride(t *testing.T) {
	var journal []string
	db := journaled(&journal, "db", dep.PerRun)
	tx := journaled(&journal, "tx", dep.PerCall, db)
	s := newSet(t, using(tx, db))
	ctx := db.With(t.Context(), &resource{name: "fake"})
	if r, err := s.Call(ctx, &toolpost.Call{Name: "use"}); err != nil || text(r) != "tx fake" {
		t.Errorf("got %q, %v", text(r), err)
	}
	if diff := cmp.Diff([]string{"open tx", "close tx"}, journal); diff != "" {
		t.Error(diff)
	}
}

func TestClockAndLogger(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	var log bytes.Buffer
	set := newSet(t, toolpost.New("now", "", func(ctx context.Context, _ struct{}) (string, error) {
		now, err := dep.Clock.Get(ctx)
		if err != nil {
			return "", err
		}
		logger, err := dep.Logger.Get(ctx)
		if err != nil {
			return "", err
		}
		logger.Info("asked")
		return now().Format(time.RFC3339), nil
	}, nil))
	ctx := dep.Logger.With(t.Context(), slog.New(slog.NewTextHandler(&log, nil)))
	first, err := set.CallText(ctx, "now", nil)
	if real, _ := time.Parse(time.RFC3339, first); err != nil || time.Since(real).Abs() > time.Minute {
		t.Errorf("it is %q, error %v", first, err)
	}
	ctx = dep.Clock.With(ctx, func() time.Time { return at })
	if got, err := set.CallText(ctx, "now", nil); got != "2026-01-02T03:04:05Z" || err != nil {
		t.Errorf("the clock that is given says %q, error %v", got, err)
	}
	if n := strings.Count(log.String(), "msg=asked"); n != 2 {
		t.Errorf("the logger that is given got %d messages: %s", n, log.String())
	}
}

func TestDepCycle(t *testing.T) {
	var a, b *dep.Dep[int]
	a = dep.New("a", dep.PerRun, func(ctx context.Context) (int, error) { return b.Get(ctx) })
	b = dep.New("b", dep.PerCall, func(ctx context.Context) (int, error) { return a.Get(ctx) })
	ctx := new(dep.Scope).Open(t.Context(), dep.PerRun)
	defer ctx.Close()
	if _, err := a.Get(ctx); err == nil || err.Error() != "dependency a: dependency b: dependency a: it depends on itself" {
		t.Errorf("error %v", err)
	}
}

func TestDepCycleOverGoroutines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var a, b *dep.Dep[int]
		a = dep.New("a", dep.PerRun, func(ctx context.Context) (int, error) {
			time.Sleep(time.Second)
			return b.Get(ctx)
		})
		b = dep.New("b", dep.PerRun, func(ctx context.Context) (int, error) {
			time.Sleep(time.Second)
			return a.Get(ctx)
		})
		ctx := new(dep.Scope).Open(t.Context(), dep.PerRun)
		defer ctx.Close()
		var wg sync.WaitGroup
		for _, d := range []*dep.Dep[int]{a, b} {
			wg.Go(func() {
				if _, err := d.Get(ctx); err == nil || !strings.Contains(err.Error(), "it depends on itself") {
					t.Errorf("error %v", err)
				}
			})
		}
		wg.Wait() // synctest fails the test if they wait for each other
	})
}

func TestDepOfNestedCalls(t *testing.T) {
	var journal []string
	db := journaled(&journal, "db", dep.PerRun)
	tx := journaled(&journal, "tx", dep.PerCall, db)
	inner := newSet(t, using(tx))
	outer := newSet(t, toolpost.New("outer", "", func(ctx context.Context, _ struct{}) (string, error) {
		if _, err := tx.Get(ctx); err != nil {
			return "", err
		}
		run := new(dep.Scope).Open(ctx, dep.PerRun)
		defer run.Close()
		return inner.CallText(run, "use", nil)
	}, nil))
	ctx := new(dep.Scope).Open(t.Context(), dep.PerRun)
	if _, err := outer.CallText(ctx, "outer", nil); err != nil {
		t.Fatal(err)
	}
	if err := ctx.Close(); err != nil {
		t.Fatal(err)
	}
	want := []string{"open db", "open tx", "open db", "open tx", "close tx", "close db", "close tx", "close db"}
	if diff := cmp.Diff(want, journal); diff != "" {
		t.Errorf("calls and runs inside others have scopes of their own: %s", diff)
	}
}

type panicky struct{}

func (panicky) Close() error { panic("close boom") }

func TestPanicWhileClosing(t *testing.T) {
	var log bytes.Buffer
	ctx := dep.Logger.With(t.Context(), slog.New(slog.NewTextHandler(&log, nil)))
	d := dep.New("d", dep.PerCall, func(context.Context) (panicky, error) { return panicky{}, nil })
	s := newSet(t, toolpost.New("use", "", func(ctx context.Context, _ struct{}) (string, error) {
		_, err := d.Get(ctx)
		return "used", err
	}, &toolpost.Options{Policy: toolpost.Policy{Timeout: time.Minute}}))
	if r, err := s.Call(ctx, &toolpost.Call{Name: "use"}); err != nil || text(r) != "used" || !strings.Contains(log.String(), "panic while closing: close boom") {
		t.Errorf("got %v, %v, log %s", r, err, log.String())
	}
}

func TestDepThatIsNil(t *testing.T) {
	opened := false
	d := dep.New("d", dep.PerCall, func(context.Context) (error, error) { opened = true; return nil, nil })
	ctx := new(dep.Scope).Open(t.Context(), dep.PerCall)
	defer ctx.Close()
	if v, err := d.Get(d.With(ctx, nil)); v != nil || err != nil || opened {
		t.Errorf("an override with nil: got %v, %v, opened %v", v, err, opened)
	}
	if v, err := d.Get(ctx); v != nil || err != nil || !opened {
		t.Errorf("opened as nil: got %v, %v", v, err)
	}
}

func TestDepFailureIsTriedAgain(t *testing.T) {
	n := 0
	d := dep.New("d", dep.PerRun, func(context.Context) (int, error) {
		switch n++; n {
		case 1:
			return 0, errors.New("away")
		case 2:
			panic("worse")
		}
		return n, nil
	})
	ctx := new(dep.Scope).Open(t.Context(), dep.PerRun)
	defer ctx.Close()
	for _, want := range []string{"0 dependency d: away", "0 dependency d: panic while opening: worse", "3 <nil>", "3 <nil>"} {
		v, err := d.Get(ctx)
		if got := fmt.Sprint(v, err); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestDepSingleFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opens := 0
		other := dep.New("other", dep.PerRun, func(context.Context) (int, error) { return 1, nil })
		slow := dep.New("slow", dep.PerRun, func(ctx context.Context) (int, error) {
			time.Sleep(time.Second)
			opens++
			return 7, nil
		})
		ctx := new(dep.Scope).Open(t.Context(), dep.PerRun)
		defer ctx.Close()
		var wg sync.WaitGroup
		for range 10 {
			wg.Go(func() {
				if v, err := slow.Get(ctx); v != 7 || err != nil {
					t.Error(v, err)
				}
			})
		}
		synctest.Wait()
		if v, err := other.Get(ctx); v != 1 || err != nil {
			t.Error("the scope is locked while a dependency opens", v, err)
		}
		impatient, cancel := context.WithTimeout(ctx, time.Millisecond)
		defer cancel()
		if _, err := slow.Get(impatient); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a waiter whose context ends: error %v", err)
		}
		wg.Wait()
		if opens != 1 {
			t.Errorf("opened %d times", opens)
		}
	})
}

func TestDepOpenedWhileItsScopeEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var journal []string
		d := dep.New("d", dep.PerRun, func(context.Context) (*resource, error) {
			time.Sleep(time.Second)
			return &resource{"d", &journal}, nil
		})
		ctx := new(dep.Scope).Open(t.Context(), dep.PerRun)
		go func() {
			synctest.Wait()
			_ = ctx.Close()
		}()
		if _, err := d.Get(ctx); err == nil || !strings.Contains(err.Error(), "its scope has ended") {
			t.Errorf("error %v", err)
		}
		if diff := cmp.Diff([]string{"close d"}, journal); diff != "" {
			t.Error(diff)
		}
	})
}
