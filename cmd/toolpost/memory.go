package main

import (
	"bytes"
	"math"
	"os"
	"runtime/debug"
	"strconv"
)

// tuneMemory trades memory for speed. A gateway keeps little alive, but each
// message passes through buffers of 32 KiB and more, so with Go's default the
// collector runs all the time. Collecting at five times the live heap makes
// calls clearly faster; the limit keeps that from filling the machine.
// Whoever sets GOGC or GOMEMLIMIT knows better.
func tuneMemory() {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	debug.SetGCPercent(400)
	debug.SetMemoryLimit(memoryLimit(os.ReadFile))
}

// memoryLimit is half of what the container or the machine has; 1 GiB if
// neither is known, as outside Linux.
func memoryLimit(read func(string) ([]byte, error)) int64 {
	limit := int64(math.MaxInt64)
	for _, file := range []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"} {
		if data, err := read(file); err == nil {
			if n, err := strconv.ParseInt(string(bytes.TrimSpace(data)), 10, 64); err == nil && n > 0 {
				limit = min(limit, n)
			}
		}
	}
	if data, err := read("/proc/meminfo"); err == nil {
		_, after, _ := bytes.Cut(data, []byte("MemTotal:"))
		fields := bytes.Fields(after)
		if len(fields) > 0 {
			if kb, err := strconv.ParseInt(string(fields[0]), 10, 64); err == nil && kb > 0 {
				limit = min(limit, kb<<10)
			}
		}
	}
	if limit == math.MaxInt64 {
		return 1 << 30
	}
	return limit / 2
}
