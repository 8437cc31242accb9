package store_test

import (
	"errors"
	"testing"

	"github.com/toolpost/toolpost/store"
)

// Writers of Memory that have not committed have a limit together, and so have blobs that
// are removed while they are read. What ends gives its bytes back.
func TestMemoryHeld(t *testing.T) {
	const limit = 1000
	s := store.Memory(&store.Options{Max: limit})
	begin := func(name string) store.Writer {
		t.Helper()
		w, err := s.Create(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	write := func(w store.Writer, n int) error {
		_, err := w.Write(make([]byte, n))
		return err
	}
	for round, end := range []func(w store.Writer, name string) error{
		func(w store.Writer, _ string) error { return w.Close() },
		func(w store.Writer, _ string) error { _, err := w.Commit(); return err },
		func(w store.Writer, _ string) error { // its write fails
			err := write(w, limit)
			if !errors.Is(err, store.ErrFull) {
				return errors.New("more than the limit is held")
			}
			return nil
		},
		func(w store.Writer, name string) error { // its commit fails
			first, err := s.Create(t.Context(), name)
			if err == nil {
				_, err = first.Commit()
			}
			if _, e := w.Commit(); e == nil {
				return errors.New("one name was committed twice")
			}
			return err
		},
		func(w store.Writer, name string) error { // its blob is removed while it is read
			_, err := w.Commit()
			blob, e := s.Open(t.Context(), name)
			if err = errors.Join(err, e, s.Remove(t.Context(), name)); err != nil {
				return err
			}
			other := begin("other")
			if err := write(other, 500); !errors.Is(err, store.ErrFull) {
				return errors.New("a removed blob that is read is not held")
			}
			return errors.Join(blob.Close(), blob.Close())
		},
	} {
		names := [3]string{string(rune('a' + 3*round)), string(rune('b' + 3*round)), string(rune('c' + 3*round))}
		a, b, c := begin(names[0]), begin(names[1]), begin(names[2])
		if err := errors.Join(write(a, 600), write(b, 300)); err != nil {
			t.Fatal(round, err)
		}
		if err := write(c, 200); !errors.Is(err, store.ErrFull) {
			t.Errorf("round %d: three writers have more than the limit: %v", round, err)
		}
		if err := errors.Join(b.Close(), end(a, names[0]), a.Close(), c.Close()); err != nil {
			t.Error(round, err)
		}
	}
	last := begin("last")
	if err := write(last, limit); err != nil {
		t.Errorf("bytes were not given back: %v", err)
	}
}
