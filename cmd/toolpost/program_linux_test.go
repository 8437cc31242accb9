package main

import (
	"slices"
	"testing"
)

// What was written to a mapping is never dropped, even if it is swapped out.
func TestUnchangedMappings(t *testing.T) {
	const smaps = `00400000-00500000 r-xp 00000000 fe:00 1083 /usr/bin/tool post
Rss: 800 kB
Anonymous:             0 kB
Swap:                  0 kB
VmFlags: rd ex mr mw me
00500000-00600000 r--p 00100000 fe:00 1083   /usr/bin/tool post
Anonymous:             0 kB
Swap:                  0 kB
00600000-00700000 r--p 00200000 fe:00 1083 /usr/bin/tool post
Anonymous:             4 kB
Swap:                  0 kB
00700000-00800000 r--p 00200000 fe:00 1083 /usr/bin/tool post
Anonymous:             0 kB
Swap:                  4 kB
00800000-00900000 rw-p 00300000 fe:00 1083 /usr/bin/tool post
Anonymous:             0 kB
00900000-00a00000 rw-p 00000000 00:00 0
7f0000000000-7f0000001000 r--p 00000000 fe:00 7 /usr/lib/libc.so
Anonymous:             0 kB
x-y r--p 00000000 fe:00 7 /usr/bin/tool post
7ffc00000000-7ffc00001000 r-xp 00000000 00:00 0 [vdso]
`
	want := []mapping{{0x400000, 0x500000}, {0x500000, 0x600000}}
	if got := unchangedMappings([]byte(smaps), "/usr/bin/tool post"); !slices.Equal(got, want) {
		t.Errorf("%x, want %x", got, want)
	}
	if got := unchangedMappings(nil, "/usr/bin/tool post"); got != nil {
		t.Errorf("%x", got)
	}
}

// The program goes on without the pages that it had.
func TestUnmapProgram(t *testing.T) {
	unmapProgram()
	if got := unchangedMappings([]byte("400-500 r-xp 0 0:0 1 f\nAnonymous: 0 kB\n"), "f"); len(got) != 1 {
		t.Errorf("%x", got)
	}
}
