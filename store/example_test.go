package store_test

import (
	"context"
	"fmt"
	"os"

	"github.com/toolpost/toolpost/store"
)

func ExampleMemory() {
	ctx := context.Background()
	s := store.Memory(nil)
	w, err := s.Create(ctx, "greeting")
	if err != nil {
		panic(err)
	}
	defer w.Close()
	fmt.Fprint(w, "hello\nworld\n")
	if _, err := w.Commit(); err != nil {
		panic(err)
	}

	blob, err := s.Open(ctx, "greeting")
	if err != nil {
		panic(err)
	}
	defer blob.Close()
	from, err := blob.Line(1)
	if err != nil {
		panic(err)
	}
	line := make([]byte, blob.Info().Size-from)
	if _, err := blob.ReadAt(line, from); err != nil {
		panic(err)
	}
	fmt.Printf("%d lines, the last is %q\n", blob.Info().Lines, line)
	// Output: 2 lines, the last is "world\n"
}

func ExampleDir() {
	folder, err := os.MkdirTemp("", "store")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(folder)
	s, err := store.Dir(folder, &store.Options{Max: 100 << 20, TTL: -1})
	if err != nil {
		panic(err)
	}
	_, err = s.Open(context.Background(), "unknown")
	fmt.Println(err)
	// Output: open blob "unknown": file does not exist
}
