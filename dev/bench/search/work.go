//go:build unix

package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"

	"github.com/toolpost/toolpost/internal/grep"
	"github.com/toolpost/toolpost/store"
)

const (
	logSize = 100_000_000
	blob    = "log"
	pages   = 1000
)

// writeLog writes a log that is always the same.
func writeLog(name string) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	r := rand.New(rand.NewPCG(20, 26))
	messages := []string{"request finished", "connection reset by peer", "retry later", "café geöffnet", "接続しました", "flush took long", "lease renewed"}
	for n, size := 0, 0; size < logSize; n++ {
		message := messages[r.IntN(len(messages))]
		switch {
		case n == 600_000:
			message = "needle_42_xyz"
		case r.IntN(100) == 0:
			message = "timeout"
		}
		k, _ := fmt.Fprintf(w, "2026-11-21T%02d:%02d:%02d.%03dZ %s [worker-%d] id=%08x-%04x %s in %dms status=%d\n",
			n/40_000%24, n/600%60, n/10%60, r.IntN(1000), []string{"INFO", "INFO", "DEBUG", "WARN", "ERROR"}[r.IntN(5)], r.IntN(100),
			r.Uint32(), r.IntN(1<<16), message, r.IntN(3000), 200+r.IntN(4)*100)
		size += k
	}
	return w.Flush()
}

// work does one thing in a process of its own, as its arguments say.
func work(what, name, argument string) error {
	switch what {
	case "store":
		return storeLog(name, argument)
	case "page":
		return readPages(argument)
	case "tree":
		return searchTree(name, argument)
	}
	return count(name, argument)
}

// storeLog stores a file. The cost is measured before it is committed, as that
// waits for the disk, and cat does not.
func storeLog(name, folder string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	s, err := store.Dir(folder, nil)
	if err != nil {
		return err
	}
	w, err := s.Create(context.Background(), blob)
	if err != nil {
		return err
	}
	err = measured(func() error {
		_, err := io.CopyBuffer(struct{ io.Writer }{w}, struct{ io.Reader }{f}, make([]byte, 32<<10))
		return err
	})
	if err == nil {
		_, err = w.Commit()
	}
	return err
}

// readPages opens, reads 200 lines anywhere and closes, many times.
func readPages(folder string) error {
	s, err := store.Dir(folder, nil)
	if err != nil {
		return err
	}
	return measured(func() error {
		for range pages {
			if err := readPage(s); err != nil {
				return err
			}
		}
		return nil
	})
}

func readPage(s store.Store) error {
	b, err := s.Open(context.Background(), blob)
	if err != nil {
		return err
	}
	defer b.Close()
	first := rand.Int64N(b.Info().Lines - 200)
	from, err := b.Line(first)
	if err != nil {
		return err
	}
	to, err := b.Line(first + 200)
	if err != nil {
		return err
	}
	_, err = b.ReadAt(make([]byte, to-from), from)
	return err
}

// count prints how many lines match, and what counting them cost.
func count(name, pattern string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	var r *grep.Result
	err = measured(func() error {
		p, err := grep.Compile(pattern, nil)
		if err == nil {
			r, err = p.File(context.Background(), f, info.Size(), &grep.Limits{Matches: -1})
		}
		return err
	})
	if err == nil {
		fmt.Println(r.Matches)
	}
	return err
}
