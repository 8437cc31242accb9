package main

import (
	"bytes"
	"context"
	"math"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"time"
)

// tuneMemory trades memory for speed. A gateway keeps little alive, but each
// message passes through buffers of 32 KiB and more, so with Go's default the
// collector runs all the time. Collecting at five times the live heap makes
// calls clearly faster, and most commands end before the first collection; the
// limit keeps that from filling the machine.
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

// Go gives memory back over minutes, and Linux keeps what the start has read of the
// program's file as the memory of the process. The start or a burst of calls is over when
// little was allocated for a while; then all that is unused is given back at once.
const (
	quietTime = 3 * time.Second
	little    = 1 << 20  // bytes allocated in that time
	burst     = 16 << 20 // bytes allocated since memory was given back
)

// giveBack returns memory to the system after the start and after each burst of calls,
// until ctx ends.
func giveBack(ctx context.Context) {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	var r release
	for tick := time.NewTicker(quietTime); ; {
		select {
		case <-ctx.Done():
			tick.Stop()
			return
		case <-tick.C:
		}
		metrics.Read(sample)
		isFirst := r.before == 0
		due := r.isDue(sample[0].Value.Uint64())
		if due {
			debug.FreeOSMemory()
		}
		if due || isFirst { // calls that follow the start without a pause need no page of it
			unmapProgram()
		}
	}
}

// A release knows when memory is to be given back.
type release struct{ before, released uint64 } // bytes allocated at the last look, and at the last release

// isDue reports whether the start or a burst is over. It is called after each quietTime,
// with the bytes that were allocated since the start.
func (r *release) isDue(allocated uint64) bool {
	due := allocated-r.before < little && (allocated-r.released > burst || r.released == 0)
	if r.before = allocated; due {
		r.released = allocated
	}
	return due
}
