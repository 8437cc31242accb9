package wire

import (
	"bytes"
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

// What is quoted in blocks is quoted alike wherever a block ends, and nothing is written
// behind the room of what it is appended to.
func TestAppendQuoteInBlocks(t *testing.T) {
	for at := range 130 {
		for _, escaped := range []string{"\n", "\"", "\\", "\t", "\x00", "é", "\n\n\"", ""} {
			text := strings.Repeat("x", at) + escaped + strings.Repeat("some text\n", 13)
			want, _ := jsontext.AppendQuote([]byte("##"), text) // it is UTF-8
			for room := 0; room <= len(want)+40; room += 7 {
				all := bytes.Repeat([]byte("#"), 2+room+40)
				if got := AppendQuote(all[:2:2+room], text); string(got) != string(want) {
					t.Fatalf("%q is quoted as %s, want %s", text, got, want)
				}
				if behind := all[2+room:]; len(bytes.Trim(behind, "#")) > 0 {
					t.Fatalf("%q with room for %d bytes: %q is behind them", text, room, behind)
				}
			}
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
