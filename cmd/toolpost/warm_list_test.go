package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// BenchmarkFirstList measures how long it takes from the start of the program to the
// list of three servers on stdio, whose lists are stored, and how long the program
// takes that prints its version. TOOLPOST_BINARY and TOOLPOST_FIXTURE are the programs,
// as for TestWarmStart; those of this test take longer to start.
func BenchmarkFirstList(b *testing.B) {
	w := &warm{dir: b.TempDir(), home: b.TempDir()}
	server := os.Getenv("TOOLPOST_FIXTURE")
	if server == "" {
		var err error
		if server, err = exec.LookPath("fixture"); err != nil {
			b.Fatal(err)
		}
	}
	entry := map[string]any{"command": server}
	text, _ := json.Marshal(map[string]any{"mcpServers": map[string]any{"one": entry, "two": entry, "three": entry}})
	if err := os.WriteFile(filepath.Join(w.dir, "servers.json"), text, 0o600); err != nil {
		b.Fatal(err)
	}
	first := w.serve(b, "--stdio")
	w.list(b, stdioClient(first))
	w.settle(b, 3, 3)
	first.end(b)

	list := func(b *testing.B, p *serving, c client) time.Duration {
		names := w.list(b, c)
		took := p.since()
		if len(names) != 14 {
			b.Errorf("got %v", names)
		}
		p.end(b)
		return took
	}
	b.Run("http", medianOf(func(b *testing.B) time.Duration {
		p := w.serve(b, "--addr", "127.0.0.1:0")
		return list(b, p, httpClient(b, p.addr(b)))
	}))
	b.Run("stdio", medianOf(func(b *testing.B) time.Duration {
		p := w.serve(b, "--stdio")
		return list(b, p, stdioClient(p))
	}))
	b.Run("version", medianOf(func(b *testing.B) time.Duration {
		began := time.Now()
		if err := exec.Command(w.binary(), "version").Run(); err != nil {
			b.Fatal(err)
		}
		return time.Since(began)
	}))
}

// medianOf reports the median of what f returns.
func medianOf(f func(b *testing.B) time.Duration) func(b *testing.B) {
	return func(b *testing.B) {
		var all []time.Duration
		for b.Loop() {
			all = append(all, f(b))
		}
		slices.Sort(all)
		b.ReportMetric(float64(all[len(all)/2])/1e6, "median-ms")
	}
}
