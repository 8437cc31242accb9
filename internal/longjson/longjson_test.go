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
		// Its first escape may lie across the end of a buffer.
		before := strings.Repeat("x", len(longjson.Buffer{})-1-len(content)%12)
		got, err := io.ReadAll(iotest.HalfReader(textOf(t, "", before+content)))
		if err != nil {
			t.Fatal(err)
		}
		got = got[len(before):]
		if valid := strings.ToValidUTF8(string(got), "�"); want != "" && strings.ReplaceAll(valid, "�", "") != strings.ReplaceAll(want, "�", "") {
			t.Fatalf("%q is %q, not %q", content, got, want)
		}
	})
}

// textOf returns a reader of the text of a JSON string, whose content is in memory, or in a
// file if there is a folder for it.
func textOf(t *testing.T, dir, content string) io.Reader {
	t.Helper()
	buffers, from := new(longjson.Buffers), int64(0)
	s := longjson.NewSpool(dir, buffers)
	if dir != "" {
		from = 2 << 20 // a shorter message is not in a file
	}
	if err := s.Add(append(make([]byte, from), content...), 3<<20); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s.Text(longjson.Span{From: from, To: from + int64(len(content))})
}

// Escapes mean the same wherever the buffer of the reader ends, and whoever reads.
func TestTextInPieces(t *testing.T) {
	size, dir := len(longjson.Buffer{}), t.TempDir()
	for _, escape := range []string{`\n`, `\u00e9`, `\ud83d\ude00`, `\ud83d`, `\ud83dx`, `\`, `\u00`, `\x`} {
		for before := size - len(escape) - 2; before <= size+1; before++ {
			content := strings.Repeat("x", before) + escape
			want, _ := longjson.Unescape(nil, []byte(content), true)
			if short, _ := longjson.Unescape(nil, []byte(escape), true); string(want) != content[:before]+string(short) {
				t.Fatalf("%q after %d bytes is %q", escape, before, want[before:])
			}
			for i, rest := range []string{"", "\\n", strings.Repeat("y", size)} {
				want, _ := longjson.Unescape(nil, []byte(content+rest), true)
				folder := ""
				if before%8 == i {
					folder = dir
				}
				read, err := io.ReadAll(struct{ io.Reader }{textOf(t, folder, content+rest)})
				if err != nil || !bytes.Equal(read, want) {
					t.Fatalf("%q after %d bytes is read as %q, %v", escape, before, read[before:], err)
				}
				var written bytes.Buffer
				n, err := io.Copy(&written, textOf(t, folder, content+rest))
				if err != nil || n != int64(len(want)) || !bytes.Equal(written.Bytes(), want) {
					t.Fatalf("%q after %d bytes is written as %q, %v", escape, before, written.Bytes()[before:], err)
				}
				var got []byte
				for part := textOf(t, folder, content[before-100:]+rest[:min(len(rest), 100)]); ; {
					p := make([]byte, 1+len(got)%40)
					n, err := part.Read(p)
					if got = append(got, p[:n]...); err == io.EOF {
						break
					}
					if err != nil || n == 0 {
						t.Fatalf("%q is read in parts up to %d bytes: %d, %v", escape, len(got), n, err)
					}
				}
				if want = want[before-100:]; !bytes.Equal(got, want[:min(len(want), len(got))]) || len(rest) < 100 && len(got) != len(want) {
					t.Fatalf("%q is read in parts as %q", escape, got)
				}
			}
		}
	}
}

// A text is the same whether it is written beside its JSON, which is done in blocks, or
// into new memory, and nothing is written behind its room.
func TestUnescapeInBlocks(t *testing.T) {
	for _, size := range []int{64, 95, 96, 97, 130} {
		for at := range size {
			for _, escape := range []string{`\n`, `\"`, `\\`, `\t`, `\/`, `\u00e9`, `\ud83d\ude00`, `\\\n\"`, `\`, `\x`} {
				content := []byte(strings.Repeat("x", at) + escape + strings.Repeat("é\\n", size)[:size-at])
				want, _ := longjson.Unescape(nil, content, true)
				for _, last := range []bool{false, true} {
					room := bytes.Repeat([]byte{'#'}, 3+len(content)+32)
					got, rest := longjson.Unescape(room[:3:3+len(content)], content, last)
					all, _ := longjson.Unescape(bytes.Clone(got), rest, true)
					if string(all) != "###"+string(want) || last && len(rest) > 0 || strings.Trim(string(room[3+len(content):]), "#") != "" {
						t.Fatalf("%q is %q, and %q is left; want %q", content, got, rest, want)
					}
				}
			}
		}
	}
}

// A text whose message is given up while it is read breaks off with an error.
func TestTextBreaksOff(t *testing.T) {
	s := longjson.NewSpool("", new(longjson.Buffers))
	content := strings.Repeat("x", 2*len(longjson.Buffer{}))
	if err := s.Add([]byte(content), 1<<20); err != nil {
		t.Fatal(err)
	}
	text := s.Text(longjson.Span{To: int64(len(content))})
	if _, err := io.ReadFull(text, make([]byte, 5)); err != nil {
		t.Fatal(err)
	}
	s.Close()
	if n, err := io.Copy(io.Discard, text); n > int64(len(longjson.Buffer{})) || err != io.ErrUnexpectedEOF {
		t.Errorf("%d bytes, %v", n, err)
	}
}
