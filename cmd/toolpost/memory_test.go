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
