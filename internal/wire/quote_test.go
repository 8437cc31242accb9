package wire

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// Strings are quoted as the codec quotes them, also those that are not UTF-8.
func TestAppendQuote(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	alphabet := []rune("aaaaaaaaaz~\x7f\n\t\x00\x1f\"\\ éß…日本👩\u2028\ufffd")
	for range 20_000 {
		text := []byte{}
		for range r.IntN(60) {
			text = append(text, string(alphabet[r.IntN(len(alphabet))])...)
		}
		if r.IntN(10) == 0 {
			text = append(text, "\xff\xc3"...)
		}
		want, _ := jsontext.AppendQuote([]byte("x"), text) // the error only reports the replacement
		if got := AppendQuote([]byte("x"), string(text)); string(got) != string(want) {
			t.Fatalf("%q is quoted as %s, want %s", text, got, want)
		}
	}
}

// A text with many escapes is not copied for each of them.
func TestAppendQuoteAllocations(t *testing.T) {
	s := strings.Repeat("a line of text\n", 10_000)
	b := make([]byte, 0, 2*len(s))
	if n := testing.AllocsPerRun(10, func() { AppendQuote(b, s) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
