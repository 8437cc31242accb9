package jsontree

import (
	"bytes"
	"testing"
)

// slowLiteralText is what LiteralText returns, byte by byte.
func slowLiteralText(data []byte) (n int, ascii bool) {
	for ascii = true; n < len(data) && data[n] >= ' ' && data[n] != '"' && data[n] != '\\'; n++ {
		ascii = ascii && data[n] < 0x80
	}
	return n, ascii
}

// slowStringText is what StringText returns.
func slowStringText(data []byte) (n int, ascii bool) {
	for ascii = true; ; n += 2 {
		text, narrow := slowLiteralText(data[n:])
		n, ascii = n+text, ascii && narrow
		if n+1 >= len(data) || data[n] != '\\' || bytes.IndexByte([]byte(`"\/bfnrt`), data[n+1]) < 0 {
			return n, ascii
		}
	}
}

// sameText compares both functions with the slow ones.
func sameText(t *testing.T, data []byte) {
	t.Helper()
	n, ascii := LiteralText(data)
	if want, wantASCII := slowLiteralText(data); n != want || ascii != wantASCII {
		t.Fatalf("%q is text up to %d, ASCII %v; want %d, %v", data, n, ascii, want, wantASCII)
	}
	n, ascii = StringText(data)
	if want, wantASCII := slowStringText(data); n != want || ascii != wantASCII {
		t.Fatalf("%q is text with escapes up to %d, ASCII %v; want %d, %v", data, n, ascii, want, wantASCII)
	}
}

// TestLiteralText has bytes of all kinds at each place of texts around the length of blocks.
func TestLiteralText(t *testing.T) {
	for _, size := range []int{0, 1, 8, 31, 63, 64, 65, 96, 107} {
		for at := range size {
			for _, c := range []byte{0, 0x1f, ' ', '!', '"', '#', '[', '\\', ']', 0x7f, 0x80, 0xa2, 0xdc, 0xff} {
				data := bytes.Repeat([]byte("x"), size)
				data[(at+size)/2] = 0xe9
				data[at] = c
				sameText(t, data)
				if at+1 < size {
					for _, escaped := range []byte("\"\\/bfnrtux") { // two escapes, and what is none
						data[at+1] = escaped
						sameText(t, data)
						sameText(t, append(data[:size-1:size-1], `\n`...))
					}
				}
			}
		}
	}
}

func FuzzLiteralText(f *testing.F) {
	f.Add(bytes.Repeat([]byte("a line of text\\n"), 20), uint8(3))
	f.Add(bytes.Repeat([]byte("é"), 100), uint8(1))
	f.Fuzz(func(t *testing.T, data []byte, from uint8) {
		data = data[min(int(from), len(data)):]
		sameText(t, data)
	})
}

func BenchmarkLiteralText(b *testing.B) {
	for _, size := range []int{20, 86, 1 << 16} {
		data := bytes.Repeat([]byte("x"), size)
		b.Run("", func(b *testing.B) {
			b.SetBytes(int64(size))
			for b.Loop() {
				LiteralText(data)
			}
		})
	}
}
