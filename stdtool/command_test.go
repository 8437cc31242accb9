package stdtool

import (
	"bytes"
	"testing"
)

// TestWaiterWork checks that the work of a waiter grows with the output only, also
// if a command writes one long line byte by byte.
func TestWaiterWork(t *testing.T) {
	const written = 200_000
	searched := 0
	w := &waiter{found: make(chan struct{})}
	w.match = func(line []byte) bool { searched += len(line); return bytes.HasSuffix(line, []byte("!")) }
	for range written {
		w.feed([]byte("."))
	}
	if searched > 6*written || len(w.line) > 2*maxWatched {
		t.Errorf("%d bytes were searched for %d bytes of output, and %d are kept", searched, written, len(w.line))
	}
	w.feed([]byte("!"))
	w.look()
	select {
	case <-w.found:
	default:
		t.Error("the end of an unfinished line was not found")
	}
}

// TestWaiterLines checks what a waiter searches: each line once it has ended, and
// the beginning of one that has not.
func TestWaiterLines(t *testing.T) {
	var searched []string
	w := &waiter{found: make(chan struct{})}
	w.match = func(line []byte) bool { searched = append(searched, string(line)); return string(line) == "and" }
	for _, p := range []string{"on", "e\ntwo\nth", "ree\n", "a"} {
		w.feed([]byte(p))
	}
	w.look()
	w.look() // nothing new
	w.feed([]byte("nd"))
	w.look()
	want := []string{"one\ntwo\nth", "three\n", "a", "and"}
	if len(searched) != len(want) {
		t.Fatalf("searched %q, want %q", searched, want)
	}
	for i := range want {
		if searched[i] != want[i] {
			t.Errorf("searched %q, want %q", searched, want)
		}
	}
}
