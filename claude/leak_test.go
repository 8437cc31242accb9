package claude_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolpost/toolpost/claude"
)

// children counts the processes that this one has started and that are not
// gone; 0 where that cannot be told.
func children(t testing.TB) int {
	t.Helper()
	tasks, err := filepath.Glob("/proc/self/task/*/children")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, task := range tasks {
		data, err := os.ReadFile(task)
		if err == nil { // the thread may have ended
			n += len(strings.Fields(string(data)))
		}
	}
	return n
}

// descriptors counts the open files; 0 where that cannot be told.
func descriptors() int {
	open, _ := os.ReadDir("/proc/self/fd") // nothing if there is no such folder
	return len(open)
}

// leaks fails the test if a goroutine of this module runs, or a process.
func leaks(t *testing.T) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for {
		ours := goroutines()
		n := children(t)
		if ours == "" && n == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d processes and these goroutines are left:\n%s", n, ours)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// goroutines are the stacks of the goroutines that run code of this module, but
// for tests.
func goroutines() string {
	var all strings.Builder
	_ = pprof.Lookup("goroutine").WriteTo(&all, 2) // a Builder takes everything
	var ours []string
	for stack := range strings.SplitSeq(all.String(), "\n\n") {
		if strings.Contains(stack, "github.com/toolpost/toolpost") && !strings.Contains(stack, "testing.tRunner") {
			ours = append(ours, stack)
		}
	}
	return strings.Join(ours, "\n\n")
}

// TestRunsLeakNothing runs a shell as the CLI, which starts faster than
// the test binary. CI runs it with the race detector, and more often.
func TestRunsLeakNothing(t *testing.T) {
	runs := 200
	if raced {
		runs = 1000
	}
	path := filepath.Join(t.TempDir(), "claude")
	lines := []string{
		encode(success("toolpost_1", object{})), encode(initLine([]string{"mcp__tools__shout"})), encode(result("fine", nil)), encode(state("idle")),
	}
	script := "#!/bin/sh\nread -r a\nread -r b\ncat <<'END'\n" + strings.Join(lines, "\n") + "\nEND\nread -r c\nexit 0\n"
	if err := os.WriteFile(path, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	tool := shout()
	once := func() error {
		o := options(t, "", tool)
		o.CLI = path
		all, err := collect(claude.Run(t.Context(), "go", o))
		if err == nil && len(results(all)) != 1 {
			err = fmt.Errorf("the results are %q", results(all))
		}
		return err
	}
	if err := once(); err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	before := descriptors()
	var workers sync.WaitGroup
	for range 4 {
		workers.Go(func() {
			for range runs / 4 {
				if err := once(); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	workers.Wait()
	leaks(t)
	if after := descriptors(); after > before {
		t.Errorf("%d descriptors are open, %d were before", after, before)
	}
}
