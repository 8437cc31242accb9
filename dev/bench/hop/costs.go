//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

// Costs are what one call costs the process of a gateway, in units that depend neither
// on the machine nor on what else runs there.
type costs struct {
	cell   string  // era and upstream
	allocs float64 // of the heap
	bytes  float64 // allocated
	reads  float64 // system calls
	writes float64
	copied float64 // bytes that these read and write
}

// costColumns are what is recorded of each cell.
var costColumns = []string{"allocations", "bytes", "reads", "writes", "copied"}

func (c *costs) values() []*float64 {
	return []*float64{&c.allocs, &c.bytes, &c.reads, &c.writes, &c.copied}
}

const (
	warmCalls = 300  // before it is counted: pools and buffers fill
	costCalls = 1500 // that are counted
)

// measureCosts measures calls of 1 KB from one client, in both eras and with both upstreams.
func (b *bench) measureCosts(ctx context.Context) ([]*costs, error) {
	var all []*costs
	for _, era := range []string{sessionEra, statelessEra} {
		for _, s := range b.subjects {
			if s.name != "toolpost" {
				continue
			}
			up, err := b.server(s.upstream, era)
			if err != nil {
				return nil, err
			}
			r, err := s.run(filepath.Join(b.folder, "costs"), era, up)
			if err != nil {
				return nil, err
			}
			found, err := r.countCosts(ctx)
			r.stop()
			if err != nil {
				return nil, fmt.Errorf("%s: %w", s, err)
			}
			found.cell = era + " " + s.upstream
			all = append(all, found)
		}
	}
	return all, nil
}

// caller returns a function that makes calls of 1 KB from one client, after those that
// are not counted.
func (r *running) caller() (call func(n int) error, end func(), err error) {
	c := cell{size: sizes[0], clients: 1, era: r.endpoint.era}
	w := newWant(c.size.bytes, false)
	clients, err := r.dialAll(c, w)
	end = func() {
		for _, client := range clients {
			client.close()
		}
	}
	call = func(n int) error {
		l := &load{}
		if done := l.callAll(clients, w, time.Now().Add(time.Hour), n); len(done) < n {
			return fmt.Errorf("%d of %d calls succeeded: %s", len(done), n, l.Error)
		}
		return nil
	}
	if err == nil {
		err = call(warmCalls)
	}
	return call, end, err
}

// countCosts counts what a call costs a gateway that is looked into.
func (r *running) countCosts(ctx context.Context) (*costs, error) {
	calls, end, err := r.caller()
	defer end()
	if err != nil {
		return nil, err
	}
	var counted [3]*costs
	for i := range counted {
		if i == 2 {
			err = calls(costCalls)
		}
		if err == nil {
			counted[i], err = r.counters(ctx)
		}
		if err != nil {
			return nil, err
		}
	}
	found, look, before, after := &costs{}, counted[0].values(), counted[1].values(), counted[2].values()
	for i, value := range found.values() { // without what a look itself costs
		*value = (*after[i] - *before[i] - (*before[i] - *look[i])) / costCalls
	}
	return found, nil
}

// counters returns what the process has cost so far.
func (r *running) counters(ctx context.Context) (*costs, error) {
	usage, err := os.ReadFile(r.process.proc("io")) // first, because the longer it runs, the longer is what follows
	if err != nil {
		return nil, err
	}
	heap, err := debug(ctx, r.debug, "allocs?debug=1")
	if err != nil {
		return nil, err
	}
	c := &costs{}
	var written float64
	for _, value := range []struct {
		to   *float64
		from []byte
		name string
	}{
		{&c.allocs, heap, "# Mallocs = "}, {&c.bytes, heap, "# TotalAlloc = "},
		{&c.reads, usage, "syscr: "}, {&c.writes, usage, "syscw: "}, {&c.copied, usage, "rchar: "}, {&written, usage, "wchar: "},
	} {
		_, after, _ := bytes.Cut(value.from, []byte(value.name))
		line, _, _ := bytes.Cut(after, []byte("\n"))
		if *value.to, err = strconv.ParseFloat(string(line), 64); err != nil {
			return nil, fmt.Errorf("there is no %q", value.name)
		}
	}
	c.copied += written
	return c, nil
}

// checkCosts compares the costs with those in the file, or writes them there.
func (b *bench) checkCosts(ctx context.Context, out io.Writer) error {
	now, err := b.measureCosts(ctx)
	if err != nil {
		return err
	}
	var table bytes.Buffer
	if err := writeCosts(&table, now); err != nil {
		return err
	}
	if _, err := out.Write(table.Bytes()); err != nil {
		return err
	}
	if b.update {
		return os.WriteFile(b.options.costs, table.Bytes(), 0o644)
	}
	recorded, err := readCosts(b.options.costs)
	if err != nil {
		return err
	}
	return compareCosts(recorded, now)
}

func writeCosts(w io.Writer, all []*costs) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "era\tserver\t"+strings.Join(costColumns, "\t")+"\t")
	for _, c := range all {
		fmt.Fprint(t, strings.ReplaceAll(c.cell, " ", "\t")+"\t")
		for _, value := range c.values() {
			fmt.Fprintf(t, "%.1f\t", *value)
		}
		fmt.Fprintln(t)
	}
	return t.Flush()
}

func readCosts(file string) (all []*costs, err error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	for i, line := range strings.Split(strings.TrimSpace(string(data)), "\n") {
		fields := strings.Fields(line)
		if i == 0 {
			continue
		}
		c := &costs{}
		if len(fields) != 2+len(costColumns) {
			return nil, fmt.Errorf("%s: line %d has %d fields", file, i+1, len(fields))
		}
		c.cell = fields[0] + " " + fields[1]
		for j, value := range c.values() {
			if *value, err = strconv.ParseFloat(fields[2+j], 64); err != nil {
				return nil, fmt.Errorf("%s: line %d: %w", file, i+1, err)
			}
		}
		all = append(all, c)
	}
	return all, nil
}

// What a call may cost more than is recorded. How often a process finds that there is
// nothing to read yet depends on chance.
const (
	costTolerance = 1.03
	callTolerance = 0.8 // of system calls
)

// compareCosts returns an error for each cost that is above what is recorded.
func compareCosts(recorded, now []*costs) error {
	if len(recorded) != len(now) {
		return fmt.Errorf("%d cells are recorded, and %d measured", len(recorded), len(now))
	}
	var errs []error
	for i, c := range now {
		before := recorded[i].values()
		for j, value := range c.values() {
			limit := *before[j] * costTolerance
			if value == &c.reads || value == &c.writes {
				limit = *before[j] + callTolerance
			}
			if *value > limit {
				errs = append(errs, fmt.Errorf("%s: %s of a call are %.1f, and at most %.1f by what is recorded; make it cost less, or record the costs (make bench-costs UPDATE=1) in a commit that says what they are for", c.cell, costColumns[j], *value, limit))
			}
		}
	}
	return errors.Join(errs...)
}
