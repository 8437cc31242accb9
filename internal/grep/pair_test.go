package grep

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// TestPair looks for texts in others of the same few bytes, by each two of
// their places, and compares with package bytes.
func TestPair(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 9))
	for range 3000 {
		alphabet := []string{"ab", "abcAB", "k\x00\xffK\x80\x20\x4b\x6b"}[r.IntN(3)]
		random := func(n int) []byte {
			b := make([]byte, n)
			for i := range b {
				b[i] = alphabet[r.IntN(len(alphabet))]
			}
			return b
		}
		data := random(r.IntN(200))
		text := random(2 + r.IntN(5))
		l, haystack := literal{low: text, high: text}, data
		if r.IntN(2) == 0 {
			l = literal{low: bytes.ToLower(text), high: bytes.ToUpper(text)}
			haystack = bytes.ToLower(data)
			if !bytes.Equal(bytes.ToUpper(l.low), l.high) || len(l.low) != len(text) || len(haystack) != len(data) {
				continue // not of ASCII
			}
		}
		first := r.IntN(len(text))
		second := (first + 1 + r.IntN(len(text)-1)) % len(text)
		f := finder{literal: l, pair: newPair(l, first, second)}
		for from := range len(data) + 1 {
			f.begin(len(data))
			want := bytes.Index(haystack[from:], l.low)
			if want >= 0 {
				want += from
			}
			if at, _ := f.next(data, from); at != want {
				t.Fatalf("%q (%q) by %v in %q from %d: %d, want %d", l.low, l.high, f.pair.at, data, from, at, want)
			}
		}
	}
}
