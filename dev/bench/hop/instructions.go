//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

const (
	countedCalls         = 1000
	countedRuns          = 3    // of which the least counts: goroutines that look for work add to the others
	instructionTolerance = 1.05 // as that look for work depends on how busy the machine is
)

// checkInstructions counts the instructions of a call, in both eras and with both
// upstreams, by callgrind, and compares them with those in the file or writes them there.
// Builds that are named are only counted.
func (b *bench) checkInstructions(ctx context.Context, out io.Writer) error {
	recorded := map[string]float64{}
	if !b.update {
		var err error
		if recorded, err = readInstructions(b.instructions); err != nil {
			return err
		}
	}
	var lines bytes.Buffer
	var errs []error
	for _, era := range []string{sessionEra, statelessEra} {
		for _, s := range b.subjects {
			if !s.limits || s.peer {
				continue
			}
			least, err := b.leastInstructions(ctx, s, era)
			if err != nil {
				return fmt.Errorf("%s: %w", s, err)
			}
			name := strings.Join([]string{era, s.upstream, s.name}, " ")
			fmt.Fprintf(io.MultiWriter(out, &lines), "%s %.0f\n", name, least)
			if limit, ok := recorded[name]; ok && least > limit*instructionTolerance {
				errs = append(errs, fmt.Errorf("%s: a call has %.0f instructions, and %.0f are recorded; make it cost less, or record it (make bench-instructions UPDATE=1) in a commit that says what it is for", name, least, limit))
			}
		}
	}
	if b.update {
		return os.WriteFile(b.instructions, lines.Bytes(), 0o644)
	}
	return errors.Join(errs...)
}

// leastInstructions returns the least instructions of a call in some processes. Callgrind
// does not survive each signal, such as that of a child that has ended.
func (b *bench) leastInstructions(ctx context.Context, s *subject, era string) (float64, error) {
	least := math.Inf(1)
	var failed error
	for range countedRuns {
		n, err := b.countInstructions(ctx, s, era)
		if err != nil {
			failed = err
			continue
		}
		least = min(least, n)
	}
	if math.IsInf(least, 1) {
		return 0, failed
	}
	return least, nil
}

// countInstructions returns the instructions of a call in a process of its own.
func (b *bench) countInstructions(ctx context.Context, s *subject, era string) (float64, error) {
	up, err := b.server(s.upstream, era)
	if err != nil {
		return 0, err
	}
	folder := filepath.Join(b.folder, "callgrind")
	pipe, file := filepath.Join(folder, "vgdb"), filepath.Join(folder, "callgrind.out")
	under := *s
	under.env = append(under.env, "GODEBUG=asyncpreemptoff=1") // callgrind does not survive the signals of preemption
	under.command = func(address, folder, era string, up server) ([]string, error) {
		command, err := s.command(address, folder, era, up)
		return append([]string{"valgrind", "--tool=callgrind", "--vgdb-prefix=" + pipe, "--callgrind-out-file=" + file}, command...), err
	}
	r, err := under.run(folder, era, up)
	if err != nil {
		return 0, err
	}
	defer r.stop()
	call, end, err := r.caller()
	defer end()
	if err != nil {
		return 0, err
	}
	tell := func(command string) error {
		out, err := exec.CommandContext(ctx, "vgdb", "--vgdb-prefix="+pipe, "--pid="+strconv.Itoa(r.process.cmd.Process.Pid), command).CombinedOutput()
		if err != nil {
			return fmt.Errorf("vgdb %s: %w: %s", command, err, out)
		}
		return nil
	}
	if err := errors.Join(tell("zero"), call(countedCalls), tell("dump")); err != nil {
		return 0, err
	}
	counted, err := os.ReadFile(file + ".1")
	if err != nil {
		return 0, err
	}
	total := regexp.MustCompile(`(?m)^totals: (\d+)$`).FindSubmatch(counted)
	if total == nil {
		return 0, errors.New("callgrind counted nothing")
	}
	n, err := strconv.ParseFloat(string(total[1]), 64)
	return n / countedCalls, err
}

// readInstructions reads lines of an era, an upstream, the name of a build and a number.
func readInstructions(file string) (map[string]float64, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	all := map[string]float64{}
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		i := strings.LastIndexByte(line, ' ')
		n, err := strconv.ParseFloat(line[i+1:], 64)
		if i < 0 || err != nil {
			return nil, fmt.Errorf("%s: %q is not a cell and a number", file, line)
		}
		all[line[:i]] = n
	}
	return all, nil
}
