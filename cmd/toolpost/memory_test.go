package main

import (
	"io/fs"
	"testing"
)

func TestMemoryLimit(t *testing.T) {
	const meminfo = "MemFree: 1 kB\nMemTotal:        8388608 kB\n"
	tests := []struct {
		name  string
		files map[string]string
		want  int64
	}{
		{"machine", map[string]string{"/proc/meminfo": meminfo, "/sys/fs/cgroup/memory.max": "max\n"}, 4 << 30},
		{"container", map[string]string{"/proc/meminfo": meminfo, "/sys/fs/cgroup/memory.max": "536870912\n"}, 256 << 20},
		{"cgroup 1", map[string]string{"/proc/meminfo": meminfo, "/sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n"}, 4 << 30},
		{"unknown", nil, 1 << 30},
		{"odd", map[string]string{"/proc/meminfo": "MemTotal:"}, 1 << 30},
	}
	for _, tt := range tests {
		got := memoryLimit(func(name string) ([]byte, error) {
			if data, ok := tt.files[name]; ok {
				return []byte(data), nil
			}
			return nil, fs.ErrNotExist
		})
		if got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
}

// Memory is given back once after the start and after each burst.
func TestRelease(t *testing.T) {
	const mb = 1 << 20
	var r release
	for i, step := range []struct {
		allocated uint64
		due       bool
	}{
		{10 * mb, false}, {10*mb + 1000, true}, {10*mb + 2000, false}, // a start
		{100 * mb, false}, {190 * mb, false}, {190*mb + 1000, true}, {190*mb + 2000, false},
		{200 * mb, false}, {200*mb + 1000, false}, // too little to be worth it
		{300 * mb, false}, {300*mb + mb - 1, true}, {301*mb + mb, false},
	} {
		if due := r.isDue(step.allocated); due != step.due {
			t.Errorf("step %d: %v", i, due)
		}
	}
}
