package stdtool

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// TestCharactersStayWhole reads the output of a command in pieces of every size, and
// leaves a part of it out at every place.
func TestCharactersStayWhole(t *testing.T) {
	text := strings.Repeat("aé日𐍈", 20)
	for size := 1; size < 9; size++ {
		read, h := "", &headTail{}
		for rest := text; rest != ""; {
			n := min(size, len(rest))
			h.write([]byte(rest[:n]))
			rest = rest[n:]
			next := &headTail{}
			next.write(h.dropUnfinished())
			part, _ := h.text()
			read, h = read+part, next
		}
		if end, _ := h.text(); read+end != text {
			t.Errorf("pieces of %d bytes became %q", size, read+end)
		}
	}
	for shift := range 10 {
		h := &headTail{}
		h.write([]byte(strings.Repeat("x", shift) + strings.Repeat("日", maxOutput)))
		if got, left := h.text(); left == 0 || strings.ContainsRune(got, utf8.RuneError) {
			t.Errorf("shifted by %d: %d bytes are left out, of %.100q", shift, left, got)
		}
	}
	for _, broken := range []string{"\xff", "a\x80\x80\x80\x80", "\xc3\x28", ""} {
		h := &headTail{}
		h.write([]byte(broken))
		if rest := h.dropUnfinished(); len(rest) > 0 {
			t.Errorf("%q: %q may go on", broken, rest)
		}
	}
}
