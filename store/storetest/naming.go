package storetest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"testing"

	"github.com/toolpost/toolpost/store"
)

func testNames(t *testing.T, open Open) {
	s := open(t, nil)
	for _, name := range []string{"a", "-", "_x", "A.b..c-D", "con", "nul.txt", "0", strings.Repeat("N", 200)} {
		put(t, s, name, []byte(name))
		if got := string(content(t, get(t, s, name))); got != name {
			t.Errorf("%s has the content of %s", name, got)
		}
	}
	for _, name := range []string{
		"", ".", "..", ".a", "a.", "a/b", `a\b`, "../a", "/a", "a b", "a\x00", "a\n", "ä", "a:b", "a*", "~", "%41",
		"\xff", strings.Repeat("n", 201),
	} {
		_, err := try(t.Context(), s, name, nil)
		invalid(t, "create", name, err)
		_, err = s.Open(t.Context(), name)
		invalid(t, "open", name, err)
		invalid(t, "remove", name, s.Remove(t.Context(), name))
	}
}

func invalid(t *testing.T, doing, name string, err error) {
	t.Helper()
	if !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("%s %q: error %v, want that the name is invalid", doing, name, err)
	}
}

func testCase(t *testing.T, open Open) {
	s := open(t, nil)
	names := []string{"ref", "Ref", "REF"}
	for _, name := range names {
		put(t, s, name, []byte(name))
	}
	for _, name := range names {
		if got := string(content(t, get(t, s, name))); got != name {
			t.Errorf("%s has the content of %s", name, got)
		}
	}
}

func testUncommitted(t *testing.T, open Open) {
	s := open(t, nil)
	for _, commit := range []bool{false, true} {
		w, err := s.Create(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(text(1_000_000)); err != nil {
			t.Fatal(err)
		}
		missing(t, s, "a")
		listed(t, s)
		if commit {
			if _, err := w.Commit(); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if !commit {
			missing(t, s, "a")
			listed(t, s)
		}
	}
	listed(t, s, "a")
}

func testEnded(t *testing.T, open Open) {
	s := open(t, nil)
	for _, end := range []string{"commit", "close"} {
		w, err := s.Create(t.Context(), end)
		if err != nil {
			t.Fatal(err)
		}
		if end == "commit" {
			if _, err := w.Commit(); err != nil {
				t.Fatal(err)
			}
		}
		if err := errors.Join(w.Close(), w.Close()); err != nil {
			t.Errorf("close twice after %s: %v", end, err)
		}
		if n, err := w.Write([]byte("x")); n != 0 || !errors.Is(err, fs.ErrClosed) {
			t.Errorf("write after %s: %d bytes, error %v", end, n, err)
		}
		if _, err := w.Commit(); !errors.Is(err, fs.ErrClosed) {
			t.Errorf("commit after %s: error %v", end, err)
		}
	}
	listed(t, s, "commit")
}

func testTaken(t *testing.T, open Open) {
	s := open(t, nil)
	late, err := s.Create(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	put(t, s, "a", []byte("first"))
	if _, err := s.Create(t.Context(), "a"); !errors.Is(err, fs.ErrExist) {
		t.Errorf("create what is there: error %v", err)
	}
	if _, err := late.Write([]byte("second")); err != nil {
		t.Fatal(err)
	}
	if _, err := late.Commit(); !errors.Is(err, fs.ErrExist) {
		t.Errorf("commit what is there: error %v", err)
	}
	if got := string(content(t, get(t, s, "a"))); got != "first" {
		t.Errorf("the content is of the %s", got)
	}
}

func testRace(t *testing.T, open Open) {
	s := open(t, nil)
	for round := range 20 {
		name := fmt.Sprint("n", round)
		var (
			all sync.WaitGroup
			mu  sync.Mutex
			won []string
		)
		for i := range 8 {
			all.Go(func() {
				mine := fmt.Sprint("writer ", i)
				_, err := try(t.Context(), s, name, []byte(mine))
				if err == nil {
					mu.Lock()
					won = append(won, mine)
					mu.Unlock()
				} else if !errors.Is(err, fs.ErrExist) {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if len(won) != 1 {
			t.Fatalf("%d writers committed one name", len(won))
		}
		if got := string(content(t, get(t, s, name))); got != won[0] {
			t.Errorf("%s committed, the content is of %s", won[0], got)
		}
	}
}

func testRemove(t *testing.T, open Open) {
	s := open(t, nil)
	if err := s.Remove(t.Context(), "a"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("remove what is not there: error %v", err)
	}
	for _, want := range []string{"first", "second"} {
		put(t, s, "a", []byte(want))
		if got := string(content(t, get(t, s, "a"))); got != want {
			t.Errorf("the content is %s, want %s", got, want)
		}
		if err := s.Remove(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
		missing(t, s, "a")
		listed(t, s)
	}
}

func testReader(t *testing.T, open Open) {
	s := open(t, nil)
	want := text(1_000_000)
	put(t, s, "a", want)
	b, err := s.Open(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Remove(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	put(t, s, "a", []byte("another"))
	if got := content(t, b); string(got) != string(want) {
		t.Errorf("the reader got %d other bytes", len(got))
	}
	lines(t, b, begins(string(want)))
	closeBlob(t, b)
	closeBlob(t, b)
	if n, err := b.ReadAt(make([]byte, 1), 0); n != 0 || !errors.Is(err, fs.ErrClosed) {
		t.Errorf("read after close: %d bytes, error %v", n, err)
	}
	if got := string(content(t, get(t, s, "a"))); got != "another" {
		t.Errorf("the content is %s", got)
	}
}

func testContext(t *testing.T, open Open) {
	s := open(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	w, err := s.Create(ctx, "a")
	if err != nil {
		t.Fatal(err)
	}
	put(t, s, "b", nil)
	cancel()
	if _, err := w.Commit(); err != nil {
		t.Errorf("the context of Create ended its writer: %v", err)
	}
	_, createErr := s.Create(ctx, "c")
	_, openErr := s.Open(ctx, "a")
	var listErr error
	for _, listErr = range s.List(ctx) {
	}
	for doing, err := range map[string]error{"create": createErr, "open": openErr, "remove": s.Remove(ctx, "a"), "list": listErr} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s after cancel: error %v", doing, err)
		}
	}
}

func testParallel(t *testing.T, open Open) {
	s := open(t, &store.Options{Max: 400_000})
	data := text(40_000)
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			for round := range 25 {
				if err := use(t.Context(), s, fmt.Sprint("n", (i+round)%5), data); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
}

// use does what any other may undo meanwhile.
func use(ctx context.Context, s store.Store, name string, data []byte) error {
	if _, err := try(ctx, s, name, data); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	b, err := s.Open(ctx, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer b.Close()
	if got, err := read(b); string(got) != string(data) {
		return fmt.Errorf("%d bytes of %s came back: %w", len(got), name, err)
	}
	for _, err := range s.List(ctx) {
		if err != nil {
			return err
		}
	}
	if err := s.Remove(ctx, name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
