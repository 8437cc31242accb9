package longjson_test

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/toolpost/toolpost/internal/longjson"
)

func FuzzText(f *testing.F) {
	for _, s := range []string{"plain", "\"\\/\b\f\n\r\t\u0000", "😀 \u2028", strings.Repeat("long\n", 30_000)} {
		b, _ := json.Marshal(s)
		f.Add(string(b[1 : len(b)-1]))
	}
	for _, s := range []string{`😀`, `\ud83d`, `\udc00\ud83d`, `\ud83dA`, `\ud83d\n`, `\/`, `\u00e9`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, content string) {
		var want string
		if json.Unmarshal([]byte(`"`+content+`"`), &want) != nil {
			want = "" // no string: it must only end
		}
		got, err := io.ReadAll(longjson.Text(iotest.HalfReader(strings.NewReader(content)), new(longjson.Buffers)))
		if err != nil {
			t.Fatal(err)
		}
		if valid := strings.ToValidUTF8(string(got), "�"); want != "" && strings.ReplaceAll(valid, "�", "") != strings.ReplaceAll(want, "�", "") {
			t.Fatalf("%q is %q, not %q", content, got, want)
		}
	})
}

// Escapes mean the same wherever the buffer of the reader ends, and whoever reads.
func TestTextInPieces(t *testing.T) {
	buffers, size := new(longjson.Buffers), len(longjson.Buffer{})
	for _, escape := range []string{`\n`, `\u00e9`, `\ud83d\ude00`, `\ud83d`, `\ud83dx`, `\`, `\u00`, `\x`} {
		for before := size - len(escape) - 2; before <= size+1; before++ {
			content := strings.Repeat("x", before) + escape
			want, _ := longjson.Unescape(nil, []byte(content), true)
			if short, _ := longjson.Unescape(nil, []byte(escape), true); string(want) != content[:before]+string(short) {
				t.Fatalf("%q after %d bytes is %q", escape, before, want[before:])
			}
			for _, rest := range []string{"", "\\n", strings.Repeat("y", size)} {
				want, _ := longjson.Unescape(nil, []byte(content+rest), true)
				read, err := io.ReadAll(struct{ io.Reader }{longjson.Text(strings.NewReader(content+rest), buffers)})
				if err != nil || !bytes.Equal(read, want) {
					t.Fatalf("%q after %d bytes is read as %q, %v", escape, before, read[before:], err)
				}
				var written bytes.Buffer
				n, err := io.Copy(&written, longjson.Text(strings.NewReader(content+rest), buffers))
				if err != nil || n != int64(len(want)) || !bytes.Equal(written.Bytes(), want) {
					t.Fatalf("%q after %d bytes is written as %q, %v", escape, before, written.Bytes()[before:], err)
				}
			}
		}
	}
	failing := io.MultiReader(strings.NewReader("begin"), iotest.ErrReader(io.ErrUnexpectedEOF))
	if n, err := io.Copy(io.Discard, longjson.Text(failing, buffers)); n != 5 || err != io.ErrUnexpectedEOF {
		t.Errorf("a text that breaks off: %d bytes, %v", n, err)
	}
}
