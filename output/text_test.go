package output

import (
	"math/rand/v2"
	"testing"
	"unicode/utf8"
)

// Texts are counted and cut as they are rune by rune.
func TestTextByWords(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	alphabet := []rune("aaaaaaaaaz~\x7f\n\t\x00\x1f\"\\ éß…日本👩\u2028\ufffd")
	for range 20_000 {
		runesOf := make([]rune, r.IntN(60))
		for i := range runesOf {
			runesOf[i] = alphabet[r.IntN(len(alphabet))]
		}
		text, n := []byte(string(runesOf)), r.IntN(64)
		if got := runes(text); got != len(runesOf) {
			t.Fatalf("%q has %d characters, want %d", text, got, len(runesOf))
		}
		if got, want := prefix(text, n), len(string(runesOf[:min(n, len(runesOf))])); got != want {
			t.Fatalf("the first %d of %q are %d bytes, want %d", n, text, got, want)
		}
		want := string(runesOf[max(0, len(runesOf)-n):])
		if got := suffix(text, n); got != len(want) {
			t.Fatalf("the last %d of %q are %d bytes, want %d", n, text, got, len(want))
		}
		if got := scaleOf(text); got.wide != (len(runesOf) < len(text)) || got.prefix(text, n) != prefix(text, n) || got.suffix(text, n) != suffix(text, n) || got.runes(text) != runes(text) {
			t.Fatalf("the scale of %q is %v", text, got)
		}
		part := text
		for len(part) > 0 { // it may begin within a character
			part = part[1:]
			whole := part
			for len(whole) > 0 && !utf8.RuneStart(whole[0]) {
				whole = whole[1:]
			}
			if got, want := suffix(part, n), suffix(whole, n); got != want {
				t.Fatalf("the last %d of %q are %d bytes, want %d", n, part, got, want)
			}
		}
	}
}
