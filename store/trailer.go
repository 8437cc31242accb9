package store

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"time"
)

// A file of a blob is its bytes, then its trailer: the entries of the index, the
// name, and a fixed part of numbers: size, lines, time of creation, number of
// entries, checksum of the trailer, mark. It comes to its place when all of it
// is on the disk, so that no blob is there in part.
const (
	fixedSize = 4*8 + 4 + 4
	entrySize = 2 * 8
	mark      = 0x31427054 // "TpB1"
)

var errDamaged = errors.New("its file is damaged")

// trailer returns the end of the file of a blob.
func (x *index) trailer(name string, created time.Time) []byte {
	b := make([]byte, 0, len(x.entries)*entrySize+len(name)+fixedSize)
	for _, e := range x.entries {
		b = binary.LittleEndian.AppendUint64(b, uint64(e.line))
		b = binary.LittleEndian.AppendUint64(b, uint64(e.offset))
	}
	b = append(b, name...)
	for _, n := range []int64{x.size, x.total(), created.UnixNano(), int64(len(x.entries))} {
		b = binary.LittleEndian.AppendUint64(b, uint64(n))
	}
	b = binary.LittleEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
	return binary.LittleEndian.AppendUint32(b, mark)
}

// parse reads the trailer of a file of a blob. Whoever wrote it, the index that
// it returns leads nowhere outside the blob.
func parse(r io.ReaderAt, length int64) (*index, Info, error) {
	var fixed [fixedSize]byte
	if length < fixedSize {
		return nil, Info{}, errDamaged
	}
	if err := readAll(r, fixed[:], length-fixedSize); err != nil {
		return nil, Info{}, err
	}
	number := func(i int) int64 { return int64(binary.LittleEndian.Uint64(fixed[8*i:])) }
	size, lines, count := number(0), number(1), number(3)
	rest := length - fixedSize - size
	if size < 0 || lines < 0 || lines > size || count < 0 || count > size/chunk ||
		rest <= count*entrySize || rest > count*entrySize+200 {
		return nil, Info{}, errDamaged
	}
	b := make([]byte, rest+fixedSize)
	if err := readAll(r, b, size); err != nil {
		return nil, Info{}, err
	}
	sum := len(b) - 8
	if binary.LittleEndian.Uint32(b[sum+4:]) != mark || binary.LittleEndian.Uint32(b[sum:]) != crc32.ChecksumIEEE(b[:sum]) {
		return nil, Info{}, errDamaged
	}
	x := &index{size: size, lines: lines, entries: make([]entry, count)}
	var last entry
	for i := range x.entries {
		e := entry{int64(binary.LittleEndian.Uint64(b[i*entrySize:])), int64(binary.LittleEndian.Uint64(b[i*entrySize+8:]))}
		if e.line <= last.line || e.line > lines || e.offset < last.offset+chunk || e.offset > size {
			return nil, Info{}, errDamaged
		}
		x.entries[i], last = e, e
	}
	name := string(b[count*entrySize : rest])
	return x, Info{Name: name, Size: size, Lines: lines, Created: time.Unix(0, number(2))}, nil
}

func readAll(r io.ReaderAt, p []byte, at int64) error {
	n, err := r.ReadAt(p, at)
	if n == len(p) {
		return nil
	}
	if err == io.EOF {
		return errDamaged
	}
	return err
}
