//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"
)

// A report collects results and prints a line for each.
type report struct {
	began    time.Time
	rounds   int
	duration time.Duration
	results  []*result
}

// start prints where and when this is measured, and the head of the table.
func (r *report) start(out io.Writer) {
	fmt.Fprintf(out, "%s, %s, %d CPUs, load average %s; medians of %d rounds of %v.\n\n",
		r.began.UTC().Format("2006-01-02 15:04 UTC"), runtime.Version(), runtime.NumCPU(), loadAverage(), r.rounds, r.duration)
	fmt.Fprintln(out, "| result | clients | version | subject | upstream | calls/s | p50 / p99 ms | CPU µs/call | rate ÷ proxy | CPU ÷ proxy | peak / after MiB |")
	fmt.Fprintln(out, "|---|---|---|---|---|---|---|---|---|---|---|")
}

func loadAverage() string {
	data, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	return strings.Join(strings.Fields(string(data))[:3], " ")
}

// add prints the lines of a cell.
func (r *report) add(out io.Writer, cell []*result) {
	var proxy *result
	for _, s := range cell {
		if s.Subject == "proxy" {
			proxy = s
		}
	}
	for _, s := range cell {
		fmt.Fprintln(out, s.line(proxy))
	}
	r.results = append(r.results, cell...)
}

// line returns the line of a subject. A ratio is the median of those of the
// rounds, with the least and the most.
func (s *result) line(proxy *result) string {
	begin := fmt.Sprintf("| %s | %d | %s | %s | %s |", s.Size, s.Clients, s.Era, s.Subject, s.Upstream)
	loads := slices.DeleteFunc(slices.Clone(s.Rounds), func(l *load) bool { return l == nil })
	if len(loads) == 0 {
		return begin + " not measured: " + firstLine(s.Error) + " | | | | | |"
	}
	get := func(f func(*load) float64) float64 { return median(each(loads, f)) }
	cpu := func(l *load) float64 { return float64(l.CPU) / 1e3 }
	rate := func(l *load) float64 { return l.Rate }
	line := fmt.Sprintf("%s %s | %s / %s |", begin, digits(get(rate)),
		digits(get(func(l *load) float64 { return float64(l.P50) / 1e6 })), digits(get(func(l *load) float64 { return float64(l.P99) / 1e6 })))
	if s.Subject == "direct" {
		line += fmt.Sprintf(" | %s | | |", ratios(s, proxy, rate))
	} else {
		peak := slices.Max(each(loads, func(l *load) float64 { return l.Peak }))
		line += fmt.Sprintf(" %s | %s | %s | %.0f / %.0f |", digits(get(cpu)), ratios(s, proxy, rate), ratios(s, proxy, cpu), peak, s.Rest)
	}
	failures := 0
	for _, l := range loads {
		failures += l.Failures
	}
	if failures > 0 || len(loads) < len(s.Rounds) {
		line += fmt.Sprintf(" <!-- %d failures, %d of %d rounds: %s -->", failures, len(loads), len(s.Rounds), firstLine(s.Error+loads[0].Error))
	}
	return line
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return strings.ReplaceAll(s[:min(len(s), 160)], "|", "/")
}

// ratios returns how a subject compares with the proxy.
func ratios(s, proxy *result, f func(*load) float64) string {
	var all []float64
	for i, l := range s.Rounds {
		if i < len(proxy.Rounds) && l != nil && proxy.Rounds[i] != nil && f(proxy.Rounds[i]) > 0 {
			all = append(all, f(l)/f(proxy.Rounds[i]))
		}
	}
	if len(all) == 0 {
		return ""
	}
	return fmt.Sprintf("**%.2f** (%.2f–%.2f)", median(all), slices.Min(all), slices.Max(all))
}

func each(loads []*load, f func(*load) float64) []float64 {
	all := make([]float64, len(loads))
	for i, l := range loads {
		all[i] = f(l)
	}
	return all
}

func median(values []float64) float64 {
	slices.Sort(values)
	n := len(values)
	return (values[(n-1)/2] + values[n/2]) / 2
}

// digits writes a number with three digits that count.
func digits(f float64) string {
	switch {
	case f >= 100:
		return fmt.Sprintf("%.0f", f)
	case f >= 10:
		return fmt.Sprintf("%.1f", f)
	}
	return fmt.Sprintf("%.2f", f)
}

// write writes all rounds to a file.
func (r *report) write(file string) error {
	fmt.Fprintf(os.Stderr, "hop: %v, load average now %s\n", time.Since(r.began).Round(time.Second), loadAverage())
	if file == "" {
		return nil
	}
	commit, _ := exec.Command("git", "rev-parse", "--short", "HEAD").Output() // "" outside a checkout
	data, err := json.MarshalIndent(map[string]any{
		"began": r.began.UTC(), "commit": strings.TrimSpace(string(commit)), "go": runtime.Version(), "cpus": runtime.NumCPU(),
		"duration": r.duration.String(), "results": r.results,
	}, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(file, append(data, '\n'), 0o644)
}
