//go:build linux

package main

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// leastTime is the shortest run in which growth is judged.
const leastTime = 3 * time.Minute

// A sample is the size of the gateway at one moment.
type sample struct {
	heap        float64 // MiB that the last collection left
	resident    float64 // MiB
	goroutines  float64
	descriptors float64
	processes   float64 // of servers
}

// measure takes a sample.
func (g *process) measure() (s sample, err error) {
	response, err := http.Get(g.metrics)
	if err != nil {
		return s, err
	}
	defer response.Body.Close()
	into := map[string]*float64{"go_gc_heap_live_bytes": &s.heap, "process_resident_memory_bytes": &s.resident, "go_goroutines": &s.goroutines}
	lines := bufio.NewScanner(response.Body)
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), " ")
		if to := into[name]; to != nil {
			if *to, err = strconv.ParseFloat(value, 64); err != nil {
				return s, err
			}
			delete(into, name)
		}
	}
	if len(into) > 0 || lines.Err() != nil {
		return s, fmt.Errorf("the metrics lack %v: %v", into, lines.Err())
	}
	files, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", g.pid))
	s.heap, s.resident = s.heap/(1<<20), s.resident/(1<<20)
	s.descriptors, s.processes = float64(len(files)), float64(len(childrenOf(g.pid)))
	return s, err
}

// watch takes samples until ctx ends, or the gateway.
func watch(ctx context.Context, g *process, every time.Duration) (all []sample) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return all
		case <-tick.C:
		}
		s, err := g.measure()
		if err != nil {
			<-ctx.Done()
			return all // exited reports it
		}
		all = append(all, s)
	}
}

// A measure is one number of a sample, and how much it may grow: to factor times
// what it was, and slack more. A factor of 0 means that growth is not judged.
type measure struct {
	name          string
	of            func(*sample) float64
	factor, slack float64
	held          float64 // how much more than before the first client is left after the last one; 0 is not judged
}

func measures() []measure {
	return []measure{
		{"live heap in MiB", func(s *sample) float64 { return s.heap }, 1.2, 4, 0},
		{"resident memory in MiB", func(s *sample) float64 { return s.resident }, 0, 0, 0}, // Go returns memory to the system late: the live heap shows a leak
		{"goroutines", func(s *sample) float64 { return s.goroutines }, 1.1, 50, 250},
		{"descriptors", func(s *sample) float64 { return s.descriptors }, 1.1, 50, 100},
		{"processes of servers", func(s *sample) float64 { return s.processes }, 1.1, 5, 5},
	}
}

// quarters returns where the second, third and last quarter of the samples begin. The
// first one warms up.
func quarters(all []sample) (second, third, last int) {
	return len(all) / 4, len(all) / 2, len(all) * 3 / 4
}

// growth returns the medians of the second and the last quarter.
func (m *measure) growth(all []sample) (before, after float64) {
	second, third, last := quarters(all)
	return median(all[second:third], m.of), median(all[last:], m.of)
}

// limit returns how much a measure may have grown to.
func (m *measure) limit(before float64) float64 { return before*m.factor + m.slack }

// judge compares the quarters.
func judge(all []sample) (problems []error) {
	if len(all) < 50 {
		return []error{fmt.Errorf("only %d samples", len(all))}
	}
	for _, m := range measures() {
		before, after := m.growth(all)
		if limit := m.limit(before); m.factor > 0 && after > limit {
			problems = append(problems, fmt.Errorf("%s: the median grows from %.1f to %.1f; the limit is %.1f", m.name, before, after, limit))
		}
	}
	return problems
}

// held returns what the gateway still holds after all clients have left.
func (r *run) held() (problems []error) {
	for _, m := range measures() {
		before, after := m.of(&r.idle), m.of(&r.after)
		if m.held > 0 && after > before+m.held {
			problems = append(problems, fmt.Errorf("%s: %.0f are left after all clients have left; %.0f were there before the first", m.name, after, before))
		}
	}
	return problems
}

func median(all []sample, of func(*sample) float64) float64 {
	var values []float64
	for i := range all {
		values = append(values, of(&all[i]))
	}
	if values == nil {
		return 0
	}
	slices.Sort(values)
	return values[len(values)/2]
}
