// Package storetest holds the contract of a store.Store as tests, for each of
// its engines.
package storetest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"slices"
	"testing"

	"github.com/toolpost/toolpost/store"
)

// An Open returns an empty store with the limits. It is called within a bubble
// of testing/synctest where time is tested: the store must take it from
// [time.Now] and may not need goroutines that outlive the test.
type Open func(t *testing.T, opts *store.Options) store.Store

// Run tests the stores that open returns. The engine may count up to 1,000 bytes
// more than its content for each blob.
func Run(t *testing.T, open Open) {
	for _, test := range []struct {
		name string
		run  func(t *testing.T, open Open)
	}{
		{"content", testContent},
		{"lines", testLines},
		{"names", testNames},
		{"case of names", testCase},
		{"no reader sees data that is not committed", testUncommitted},
		{"end of a writer", testEnded},
		{"a name is taken once", testTaken},
		{"several writers of a name", testRace},
		{"remove", testRemove},
		{"reader of what is removed", testReader},
		{"context", testContext},
		{"order of use", testOrder},
		{"time to live", testTTL},
		{"no time to live", testForever},
		{"cap", testCap},
		{"cap with readers", testCapReaders},
		{"too large", testTooLarge},
		{"all at once", testParallel},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, open) })
	}
}

// put keeps a blob.
func put(t *testing.T, s store.Store, name string, content []byte) store.Info {
	t.Helper()
	info, err := try(t.Context(), s, name, content)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

func try(ctx context.Context, s store.Store, name string, content []byte) (store.Info, error) {
	w, err := s.Create(ctx, name)
	if err != nil {
		return store.Info{}, err
	}
	_, err = w.Write(content)
	if err != nil {
		return store.Info{}, errors.Join(err, w.Close())
	}
	info, err := w.Commit()
	return info, errors.Join(err, w.Close())
}

// get opens a blob for the time of the test.
func get(t *testing.T, s store.Store, name string) store.Blob {
	t.Helper()
	b, err := s.Open(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// create begins a blob.
func create(t *testing.T, s store.Store, name string) store.Writer {
	t.Helper()
	w, err := s.Create(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// holds checks the content of a blob.
func holds(t *testing.T, s store.Store, name, want string) {
	t.Helper()
	if got := string(content(t, get(t, s, name))); got != want {
		t.Errorf("%s has the content %q, want %q", name, got, want)
	}
}

// fails checks with what error a call ends.
func fails(t *testing.T, call string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: error %v, want %v", call, err, want)
	}
}

func closeBlob(t *testing.T, b store.Blob) {
	t.Helper()
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
}

// content reads a blob.
func content(t *testing.T, b store.Blob) []byte {
	t.Helper()
	data, err := read(b)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func read(b store.Blob) ([]byte, error) {
	return io.ReadAll(io.NewSectionReader(b, 0, b.Info().Size+1))
}

// missing checks that a name is not there.
func missing(t *testing.T, s store.Store, name string) {
	t.Helper()
	b, err := s.Open(t.Context(), name)
	if err == nil {
		closeBlob(t, b)
	}
	fails(t, "open "+name, err, fs.ErrNotExist)
}

// checkListed checks which names are kept, oldest use first.
func checkListed(t *testing.T, s store.Store, want ...string) {
	t.Helper()
	if got := names(t, s); !slices.Equal(got, want) {
		t.Errorf("list has %q, want %q", got, want)
	}
}

func names(t *testing.T, s store.Store) []string {
	t.Helper()
	var all []string
	for info, err := range s.List(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, info.Name)
	}
	return all
}

// text returns size bytes in lines of different lengths.
func text(size int) []byte {
	var b bytes.Buffer
	for i := 0; b.Len() < size; i++ {
		b.Write(bytes.Repeat([]byte{byte('a' + i%26)}, i*i%200))
		b.WriteByte('\n')
	}
	return b.Bytes()[:size]
}
