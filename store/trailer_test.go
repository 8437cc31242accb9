package store

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"io"
	"math"
	"testing"
	"time"
)

// FuzzParse reads hostile ends of files: what they claim leads nowhere outside
// the file, and costs no memory that it does not have.
func FuzzParse(f *testing.F) {
	for _, size := range []int{0, 3, 600_000, 1 << 20} {
		var x index
		x.add(contentOf(0, size))
		whole := x.trailer("name", time.Unix(1, 2))
		f.Add(uint32(size), whole, false)
		for _, n := range []uint64{0, 1, 1 << 40, math.MaxInt64, math.MaxUint64, math.MaxUint64/2 + 1} {
			for at := len(whole) - 8; at >= 0; at -= 8 {
				hostile := bytes.Clone(whole)
				binary.LittleEndian.PutUint64(hostile[at:], n)
				f.Add(uint32(size), hostile, true)
			}
		}
	}
	f.Fuzz(func(t *testing.T, size uint32, end []byte, sign bool) {
		if sign && len(end) >= fixedSize {
			end = bytes.Clone(end)
			sum := end[len(end)-8:]
			binary.LittleEndian.PutUint32(sum, crc32.ChecksumIEEE(end[:len(end)-8]))
			binary.LittleEndian.PutUint32(sum[4:], mark)
		}
		file := &endedFile{int64(size % (1<<20 + 1)), end}
		length := file.size + int64(len(end))
		x, info, err := parse(file, length)
		if err != nil {
			return
		}
		if info.Size > length || info.Lines > info.Size || int64(len(x.entries)) > length/chunk {
			t.Fatalf("%d bytes have %+v, %d entries", length, info, len(x.entries))
		}
		last := int64(-1)
		for _, e := range append(x.entries, entry{info.Lines, info.Size}) {
			if e.offset < last || e.offset > info.Size {
				t.Fatalf("an entry leads to %d", e.offset)
			}
			last = e.offset
		}
		r := io.NewSectionReader(file, 0, info.Size)
		for _, line := range []int64{0, 1, info.Lines / 2, info.Lines - 1, info.Lines, info.Lines + 1, math.MaxInt64, math.MinInt64} {
			if at, err := x.find(r, line); err == nil && (at < 0 || at > info.Size) {
				t.Fatalf("line %d of %+v begins at %d", line, info, at)
			}
		}
	})
}

// An endedFile has lines of 1,000 bytes, and an end.
type endedFile struct {
	size int64
	end  []byte
}

func (f *endedFile) ReadAt(p []byte, at int64) (int, error) {
	n := 0
	if at < f.size {
		n = copy(p, contentOf(int(at), int(min(f.size-at, int64(len(p))))))
	}
	if end := at + int64(n) - f.size; end >= 0 && end < int64(len(f.end)) {
		n += copy(p[n:], f.end[end:])
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func contentOf(at, size int) []byte {
	p := make([]byte, size)
	for i := 999 - at%1000; i < size; i += 1000 {
		p[i] = '\n'
	}
	return p
}

// Whatever the pieces are, a line is found in one chunk.
func TestIndexReadsOneChunk(t *testing.T) {
	var content bytes.Buffer
	for i := range 3000 {
		content.Write(bytes.Repeat([]byte{'x'}, i*i%3000))
		content.WriteByte('\n')
		if i%500 == 499 {
			content.Write(bytes.Repeat([]byte{'y'}, 2_000_000))
			content.WriteByte('\n')
		}
	}
	var x index
	x.add(content.Bytes())
	counted := &counter{bytes.NewReader(content.Bytes()), 0}
	for line := range x.total() {
		counted.n = 0
		if _, err := x.find(counted, line); err != nil || counted.n > chunk+64<<10 {
			t.Fatalf("line %d took %d bytes, error %v", line, counted.n, err)
		}
	}
}

type counter struct {
	*bytes.Reader
	n int
}

func (c *counter) ReadAt(p []byte, at int64) (int, error) {
	n, err := c.Reader.ReadAt(p, at)
	c.n += n
	return n, err
}
