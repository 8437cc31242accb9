//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"syscall"
	"time"
)

// A cost is what something took.
type cost struct {
	Wall, CPU time.Duration
	Memory    int // KiB at most resident, of the whole process
}

// measured runs f and prints what it cost.
func measured(f func() error) error {
	begin, cpu := time.Now(), used()
	if err := f(); err != nil {
		return err
	}
	c := cost{Wall: time.Since(begin), CPU: used() - cpu, Memory: resident()}
	return json.NewEncoder(os.Stdout).Encode(c)
}

func used() time.Duration {
	var r syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &r) != nil {
		return 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// resident is the memory that Linux reports for this program alone: ru_maxrss also counts
// the one that started it.
func resident() (kib int) {
	data, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	if _, after, ok := bytes.Cut(data, []byte("VmHWM:")); ok {
		_, _ = fmt.Sscan(string(after), &kib)
	}
	return kib
}
