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
// entries, checksum of the content, checksum of the trailer, mark.
const (
	fixedSize = 4*8 + 3*4
	entrySize = 2 * 8
	mark      = 0x32427054 // "TpB2"
)

// syncedFrom is the size from which on the file of a blob is on the disk before
// it gets its name. To wait for the disk takes longer than all else that is done
// for a smaller one. If the system crashes, parts of such a file may get lost
// that were written last: its content has a checksum, which is compared whenever
// it is opened, so that a blob is whole or not there.
const syncedFrom = 4 << 20

// checksum continues a checksum of contents with p. Processors compute this one.
func checksum(sum uint32, p []byte) uint32 {
	return crc32.Update(sum, crc32.MakeTable(crc32.Castagnoli), p)
}

var errDamaged = errors.New("its file is damaged")

// trailerSize returns the size of the trailer.
func (x *index) trailerSize(name string) int64 {
	return int64(len(x.entries)*entrySize + len(name) + fixedSize)
}

// trailer returns the end of the file of a blob.
func (x *index) trailer(name string, created time.Time) []byte {
	b := make([]byte, 0, x.trailerSize(name))
	for _, e := range x.entries {
		b = binary.LittleEndian.AppendUint64(b, uint64(e.line))
		b = binary.LittleEndian.AppendUint64(b, uint64(e.offset))
	}
	b = append(b, name...)
	for _, n := range []int64{x.size, x.total(), created.UnixNano(), int64(len(x.entries))} {
		b = binary.LittleEndian.AppendUint64(b, uint64(n))
	}
	b = binary.LittleEndian.AppendUint32(b, x.sum)
	b = binary.LittleEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
	return binary.LittleEndian.AppendUint32(b, mark)
}

// parse reads the trailer of a file of a blob. Whoever wrote it, the index that
// it returns leads nowhere outside the blob.
func parse(r io.ReaderAt, length int64) (*index, Info, error) {
	b := make([]byte, fixedSize)
	if err := readAll(r, b, length-fixedSize); err != nil {
		return nil, Info{}, err
	}
	number := func(i int) int64 { return int64(binary.LittleEndian.Uint64(b[8*i:])) }
	x, created, count := &index{size: number(0), lines: number(1), sum: binary.LittleEndian.Uint32(b[4*8:])}, number(2), number(3)
	if x.lines < 0 || x.lines > x.size || count < 0 || count > x.size/chunk {
		return nil, Info{}, errDamaged
	}
	name := length - fixedSize - x.size - count*entrySize // its size
	if name < 1 || name > maxName {
		return nil, Info{}, errDamaged
	}
	b = make([]byte, length-x.size)
	if err := readAll(r, b, x.size); err != nil {
		return nil, Info{}, err
	}
	sum := b[len(b)-8:]
	if binary.LittleEndian.Uint32(sum) != crc32.ChecksumIEEE(b[:len(b)-8]) || binary.LittleEndian.Uint32(sum[4:]) != mark {
		return nil, Info{}, errDamaged
	}
	if err := x.parse(b[:count*entrySize]); err != nil {
		return nil, Info{}, err
	}
	b = b[count*entrySize:]
	return x, Info{Name: string(b[:name]), Size: x.size, Lines: x.lines, Created: time.Unix(0, created)}, nil
}

// parse reads the entries.
func (x *index) parse(b []byte) error {
	var last entry
	for ; len(b) > 0; b = b[entrySize:] {
		e := entry{int64(binary.LittleEndian.Uint64(b)), int64(binary.LittleEndian.Uint64(b[8:]))}
		if e.line <= last.line || e.line > x.lines || e.offset < last.offset+chunk || e.offset > x.size {
			return errDamaged
		}
		x.entries, last = append(x.entries, e), e
	}
	return nil
}

// verify compares the content that r begins with with its checksum, if it may
// have got lost in part.
func (x *index) verify(r io.ReaderAt) error {
	if x.size >= syncedFrom {
		return nil
	}
	b := make([]byte, x.size)
	if err := readAll(r, b, 0); err != nil {
		return err
	}
	if checksum(0, b) != x.sum {
		return errDamaged
	}
	return nil
}

func readAll(r io.ReaderAt, p []byte, at int64) error {
	if at < 0 {
		return errDamaged
	}
	n, err := r.ReadAt(p, at)
	if n == len(p) {
		return nil
	}
	if err == io.EOF {
		return errDamaged
	}
	return err
}
