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
		holds(t, s, name, name)
	}
	for _, name := range []string{
		"", ".", "..", ".a", "a.", "a/b", `a\b`, "../a", "/a", "a b", "a\x00", "a\n", "ä", "a:b", "a*", "~", "%41",
		"\xff", strings.Repeat("n", 201),
	} {
		_, err := try(t.Context(), s, name, nil)
		fails(t, fmt.Sprintf("create %q", name), err, fs.ErrInvalid)
		_, err = s.Open(t.Context(), name)
		fails(t, fmt.Sprintf("open %q", name), err, fs.ErrInvalid)
		fails(t, fmt.Sprintf("remove %q", name), s.Remove(t.Context(), name), fs.ErrInvalid)
	}
}

func testCase(t *testing.T, open Open) {
	s := open(t, nil)
	names := []string{"ref", "Ref", "REF"}
	for _, name := range names {
		put(t, s, name, []byte(name))
	}
	for _, name := range names {
		holds(t, s, name, name)
	}
}

func testUncommitted(t *testing.T, open Open) {
	s := open(t, nil)
	for _, commit := range []bool{false, true} {
		w := create(t, s, "a")
		if _, err := w.Write(text(1_000_000)); err != nil {
			t.Fatal(err)
		}
		missing(t, s, "a")
		checkListed(t, s)
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
			checkListed(t, s)
		}
	}
	checkListed(t, s, "a")
}

func testEnded(t *testing.T, open Open) {
	s := open(t, nil)
	for _, end := range []string{"commit", "close"} {
		w := create(t, s, end)
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
		_, err := w.Commit()
		fails(t, "commit after "+end, err, fs.ErrClosed)
	}
	checkListed(t, s, "commit")
}

func testTaken(t *testing.T, open Open) {
	s := open(t, nil)
	late := create(t, s, "a")
	put(t, s, "a", []byte("first"))
	_, err := s.Create(t.Context(), "a")
	fails(t, "create what is there", err, fs.ErrExist)
	if _, err := late.Write([]byte("second")); err != nil {
		t.Fatal(err)
	}
	_, err = late.Commit()
	fails(t, "commit what is there", err, fs.ErrExist)
	holds(t, s, "a", "first")
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
		holds(t, s, name, won[0])
	}
}

func testRemove(t *testing.T, open Open) {
	s := open(t, nil)
	fails(t, "remove what is not there", s.Remove(t.Context(), "a"), fs.ErrNotExist)
	for _, want := range []string{"first", "second"} {
		put(t, s, "a", []byte(want))
		holds(t, s, "a", want)
		if err := s.Remove(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
		missing(t, s, "a")
		checkListed(t, s)
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
	holds(t, s, "a", "another")
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
	for call, err := range map[string]error{"create": createErr, "open": openErr, "remove": s.Remove(ctx, "a"), "list": listErr} {
		fails(t, call+" after cancel", err, context.Canceled)
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
