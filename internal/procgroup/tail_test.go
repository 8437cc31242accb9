package procgroup

import (
	"bytes"
	"strings"
	"testing"
)

func TestTail(t *testing.T) {
	tail := Tail{Most: 2 << 10}
	for i := range 10_000 {
		if _, err := tail.Write([]byte(strings.Repeat("x", i%300) + "\n")); err != nil {
			t.Fatal(err)
		}
	}
	if got := tail.String(); len(got) > tail.Most || len(got) < tail.Most-300 || strings.Trim(got, "x\n") != "" {
		t.Errorf("%d bytes: %.30q…", len(got), got)
	}
	_, _ = tail.Write(bytes.Repeat([]byte("y"), 9*tail.Most))
	if got := tail.String(); len(got) != tail.Most {
		t.Errorf("one long line: %d bytes", len(got))
	}
	_, _ = tail.Write([]byte("\nlast \xff\n"))
	if got := tail.String(); got != "last \uFFFD" {
		t.Errorf("got %.100q", got)
	}
	if cap(tail.kept) > 4*tail.Most {
		t.Errorf("it keeps %d bytes", cap(tail.kept))
	}
}
