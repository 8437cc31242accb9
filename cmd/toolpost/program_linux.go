package main

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
)

// unmapProgram drops what is mapped of the program's file. A start touches three quarters
// of its pages, and a gateway needs few of them afterwards: these are mapped again, from
// the system's page cache, when they are next used.
func unmapProgram() {
	program, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return
	}
	smaps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		return
	}
	for _, m := range unchangedMappings(smaps, program) {
		// An error means that the pages stay, which harms nobody.
		_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, m.start, m.end-m.start, syscall.MADV_DONTNEED)
	}
}

// A mapping is a range of addresses.
type mapping struct{ start, end uintptr }

// unchangedMappings returns the mappings of a file that cannot be written, without those
// that have pages of their own, as a debugger or a dynamic linker makes them: these would
// be lost. It reads the contents of /proc/self/smaps.
func unchangedMappings(smaps []byte, file string) []mapping {
	var found []mapping
	isCandidate := false // the last of found
	for line := range bytes.Lines(smaps) {
		line = bytes.TrimSpace(line)
		name, value, _ := bytes.Cut(line, []byte(" "))
		switch {
		case !bytes.HasSuffix(name, []byte(":")): // the line of a mapping
			m, ok := readMapping(name)
			isCandidate = ok && len(value) > 4 && value[1] == '-' && bytes.HasSuffix(value, []byte(" "+file))
			if isCandidate {
				found = append(found, m)
			}
		case isCandidate && (string(name) == "Anonymous:" || string(name) == "Swap:") && string(bytes.TrimSpace(value)) != "0 kB":
			isCandidate, found = false, found[:len(found)-1]
		}
	}
	return found
}

// readMapping reads START-END, two numbers of base 16.
func readMapping(text []byte) (mapping, bool) {
	first, last, _ := bytes.Cut(text, []byte("-"))
	start, err := strconv.ParseUint(string(first), 16, strconv.IntSize)
	end, err2 := strconv.ParseUint(string(last), 16, strconv.IntSize)
	return mapping{uintptr(start), uintptr(end)}, err == nil && err2 == nil
}
