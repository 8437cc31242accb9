//go:build unix

// Command search compares how a large log is stored, read and searched, and how
// a tree of files is, with cat and ripgrep. Each run is a process of its own;
// the two that are compared take turns.
package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

func main() {
	rounds := flag.Int("rounds", 15, "measured `ROUNDS` of each line")
	flag.Parse()
	var err error
	if flag.NArg() == 3 {
		err = work(flag.Arg(0), flag.Arg(1), flag.Arg(2))
	} else {
		err = bench(*rounds)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "search:", err)
		os.Exit(1)
	}
}

func bench(rounds int) error {
	dir, err := os.MkdirTemp("", "search")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	self, err := os.Executable()
	if err != nil {
		return err
	}
	b := &table{rounds: max(rounds, 1), self: self, log: filepath.Join(dir, "log"), store: filepath.Join(dir, "store")}
	if err := writeLog(b.log); err != nil {
		return err
	}
	fmt.Println("| | ours ms, CPU | theirs | ratio, least | median | ours ms, wall | theirs | ratio, least | median |\n|---|---|---|---|---|---|---|---|---|")
	b.storing()
	b.searching()
	fmt.Printf("\nAt most resident: %.1f MiB.\n", float64(b.memory)/1024)
	return b.err
}

// A table compares two commands in each line. It ends with the first error.
type table struct {
	rounds           int
	self, log, store string
	memory           int // KiB
	err              error
}

// A side is one of two that are compared. The first line of its output is what
// it cost, if that is not the whole process.
type side struct {
	part    bool
	before  func() error
	command []string
}

func (t *table) storing() {
	copied := t.log + ".copy"
	t.line("store ÷ cat > file",
		side{part: true, before: func() error { return os.RemoveAll(t.store) }, command: []string{t.self, "store", t.log, t.store}},
		side{before: func() error { return os.RemoveAll(copied) }, command: []string{"sh", "-c", `exec cat "$1" >"$2"`, "sh", t.log, copied}})
	if t.err != nil {
		return
	}
	var c cost
	if c, _, t.err = t.run(side{part: true, command: []string{t.self, "page", t.log, t.store}}, true); t.err == nil {
		fmt.Printf("| page of 200 lines | %.3f | | | | %.3f | | | |\n", ms(c.CPU)/pages, ms(c.Wall)/pages)
	}
}

func (t *table) searching() {
	if _, err := exec.LookPath("rg"); err != nil {
		fmt.Println("\nThe searches are left out: install ripgrep to compare with.")
		return
	}
	for _, s := range []struct{ kind, pattern string }{
		{"text, once", `needle_42_xyz`},
		{"text, nowhere", `kangaroo`},
		{"text, one line in 100", `timeout`},
		{"text, one line in 7", `connection reset`},
		{"text, any case, nowhere", `(?i)kangaroos`},
		{"expression", `id=[0-9]{8}-[0-9]{4} `},
		{"no text in it", `[A-Z]{5} \[[a-z]{6}-\d\]`},
		{"no text in it", `\d{4}-\d\d-\d\dT.*\d{4}$`},
	} {
		t.line(fmt.Sprintf("log: %s, `%s`", s.kind, s.pattern),
			side{command: []string{t.self, "grep", t.log, s.pattern}},
			side{command: []string{"rg", "-j1", "-c", s.pattern, t.log}})
	}
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.err = cmp.Or(t.err, fmt.Errorf("go env GOROOT: %w", err))
		return
	}
	source := filepath.Join(strings.TrimSpace(string(goroot)), "src")
	for _, pattern := range []string{`needle_42_xyz`, `func main`, `Context`, `[A-Z]{4,5} \[[a-z]+-6\d\]`} {
		t.line(fmt.Sprintf("tree: `%s`", pattern),
			side{part: true, command: []string{t.self, "tree", source, pattern}},
			side{command: []string{"rg", "-j2", "-c", pattern, source}})
	}
}

// line prints how ours compares with theirs.
func (t *table) line(name string, ours, theirs side) {
	var all [2][]cost
	var matches [2]string
	for range t.rounds {
		for i, s := range []side{ours, theirs} {
			if t.err != nil {
				return
			}
			var c cost
			c, matches[i], t.err = t.run(s, i == 0)
			all[i] = append(all[i], c)
		}
	}
	if !ours.part && matches[0] != matches[1] {
		t.err = fmt.Errorf("%s: %q lines match, and for ripgrep %q", name, matches[0], matches[1])
		return
	}
	fmt.Printf("| %s |%s|%s|\n", name,
		compared(all, func(c cost) time.Duration { return c.CPU }),
		compared(all, func(c cost) time.Duration { return c.Wall }))
}

func compared(all [2][]cost, of func(cost) time.Duration) string {
	var least, median [2]float64
	for i := range all {
		slices.SortFunc(all[i], func(a, b cost) int { return cmp.Compare(of(a), of(b)) })
		least[i], median[i] = ms(of(all[i][0])), ms(of(all[i][len(all[i])/2]))
	}
	return fmt.Sprintf(" %.1f | %.1f | %.2f | %.2f ", least[0], least[1], least[0]/least[1], median[0]/median[1])
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// run runs a side, and returns the last line of its output too.
func (t *table) run(s side, ours bool) (c cost, last string, err error) {
	if s.before != nil {
		if err := s.before(); err != nil {
			return c, "", err
		}
	}
	cmd := exec.Command(s.command[0], s.command[1:]...)
	begin := time.Now()
	out, err := cmd.Output()
	wall := time.Since(begin)
	if code := cmd.ProcessState.ExitCode(); err != nil && (ours || code != 1) { // ripgrep's, if nothing matches
		return c, "", fmt.Errorf("%s: %w", strings.Join(s.command, " "), err)
	}
	if ours {
		if err := json.NewDecoder(bytes.NewReader(out)).Decode(&c); err != nil {
			return c, "", fmt.Errorf("%s: %w", strings.Join(s.command, " "), err)
		}
		t.memory = max(t.memory, c.Memory)
	}
	if !s.part {
		c.Wall, c.CPU = wall, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime()
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return c, cmp.Or(lines[len(lines)-1], "0"), nil
}
