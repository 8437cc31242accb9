package store_test

import (
	"testing"

	"github.com/toolpost/toolpost/store"
	"github.com/toolpost/toolpost/tooltest"
)

func TestMemory(t *testing.T) {
	tooltest.Store(t, func(_ *testing.T, opts *store.Options) store.Store { return store.Memory(opts) })
}

func TestDir(t *testing.T) {
	tooltest.Store(t, func(t *testing.T, opts *store.Options) store.Store {
		s, err := store.Dir(t.TempDir(), opts)
		if err != nil {
			t.Fatal(err)
		}
		return s
	})
}
