package grep

import (
	"os"
	"runtime/debug"
	"unsafe"

	"golang.org/x/sys/unix"
)

// mapping reports whether files can be searched where the system keeps them.
const mapping = true

// window has w search b where the system keeps it. If that is not possible, ok is
// false: b is still to be read and searched.
func (b *block) window(w *worker) (done, ok bool) {
	skip := b.at % int64(os.Getpagesize())
	data := mapped(b.file.r.(*os.File), b.at-skip, skip+b.size)
	if data == nil {
		return false, false
	}
	defer func() { _ = unix.Munmap(data) }()
	return w.volatile(data[skip:])
}

// volatile searches memory that goes away if a program cuts the file off.
func (w *worker) volatile(data []byte) (done, ok bool) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if fault := recover(); fault != nil && !within(data, fault) {
			panic(fault)
		}
	}()
	return w.block(data), true
}

// within reports whether a fault is about memory of data. Others are defects.
func within(data []byte, fault any) bool {
	at, ok := fault.(interface{ Addr() uintptr })
	if !ok || len(data) == 0 {
		return false
	}
	start := uintptr(unsafe.Pointer(&data[0]))
	return at.Addr() >= start && at.Addr()-start < uintptr(len(data))
}

// mapped returns a part of a file, nil if not all of it is in memory: to wait
// for a disk at a byte, and not in a call of the system, keeps goroutines
// waiting that have nothing to do with it.
func mapped(f *os.File, at, size int64) (data []byte) {
	conn, err := f.SyscallConn()
	if err != nil {
		return nil
	}
	_ = conn.Control(func(fd uintptr) {
		if cached(fd, at, size) {
			data, _ = unix.Mmap(int(fd), at, int(size), unix.PROT_READ, unix.MAP_SHARED)
		}
	})
	return data
}

// cached reports whether all of a part of a file is in memory. Before Linux 6.5, and
// in newer ones about a file that is not ours to write, the system does not report it.
func cached(fd uintptr, at, size int64) bool {
	page := int64(os.Getpagesize())
	var have unix.Cachestat_t
	err := unix.Cachestat(uint(fd), &unix.CachestatRange{Off: uint64(at), Len: uint64(size)}, &have, 0)
	return err == nil && int64(have.Cache) >= (size+page-1)/page
}
