//go:build linux

package main

import (
	"cmp"
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

// start prints when and where this is measured, and the head of the table.
func (r *report) start(out io.Writer) {
	fmt.Fprintf(out, "%s, %s, %d CPUs, load average %s; medians of %d rounds of %v.\n\n",
		r.began.UTC().Format("2006-01-02 15:04 UTC"), runtime.Version(), runtime.NumCPU(), loadAverage(), r.rounds, r.duration)
	fmt.Fprintln(out, "| result | clients | version | subject | upstream | calls/s | p50 / p99 ms | CPU µs/call | rate ÷ direct | rate ÷ proxy | CPU ÷ proxy | peak / after MiB |")
	fmt.Fprintln(out, "|---|---|---|---|---|---|---|---|---|---|---|---|")
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
	direct, proxy := &result{}, &result{}
	for _, s := range cell {
		switch s.Subject {
		case "direct":
			direct = s
		case "proxy":
			proxy = s
		}
	}
	for _, s := range cell {
		fmt.Fprintln(out, s.line(direct, proxy))
	}
	r.results = append(r.results, cell...)
}

// line returns the line of a subject. A ratio is the median of those of the
// rounds, with the least and the most.
func (s *result) line(direct, proxy *result) string {
	begin := fmt.Sprintf("| %s | %d | %s | %s | %s |", s.Size, s.Clients, s.Era, s.Subject, s.Upstream)
	loads := slices.DeleteFunc(slices.Clone(s.Rounds), func(l *load) bool { return l == nil })
	if len(loads) == 0 {
		return begin + " not measured: " + firstLine(s.Error) + " | | | | | | |"
	}
	rate := func(l *load) float64 { return l.Rate }
	cpu := func(l *load) float64 { return float64(l.CPU) / 1e3 }
	milliseconds := func(f func(*load) time.Duration) string {
		return digits(medianOf(loads, func(l *load) float64 { return float64(f(l)) / 1e6 }))
	}
	cells := []string{
		digits(medianOf(loads, rate)),
		milliseconds(func(l *load) time.Duration { return l.P50 }) + " / " + milliseconds(func(l *load) time.Duration { return l.P99 }),
		digits(medianOf(loads, cpu)),
		ratio(s, direct, rate), ratio(s, proxy, rate), ratio(s, proxy, cpu),
		fmt.Sprintf("%.0f / %.0f", slices.Max(each(loads, func(l *load) float64 { return l.Peak })), s.Rest),
	}
	if s.Subject == "direct" { // there is no process in between
		cells[2], cells[5], cells[6] = "", "", ""
	}
	return begin + " " + strings.Join(cells, " | ") + " |" + s.failures(loads)
}

// failures describes what went wrong in some rounds, "" if nothing did.
func (s *result) failures(loads []*load) string {
	n, text := 0, s.Error
	for _, l := range loads {
		n += l.Failures
		text = cmp.Or(text, l.Error)
	}
	if n == 0 && len(loads) == len(s.Rounds) {
		return ""
	}
	return fmt.Sprintf(" <!-- %d calls failed, %d of %d rounds: %s -->", n, len(loads), len(s.Rounds), firstLine(text))
}

func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return strings.ReplaceAll(s[:min(len(s), 160)], "|", "/")
}

// ratios returns how a subject compares with another one in each round of both.
func ratios(s, other *result, f func(*load) float64) (all []float64) {
	for i, l := range s.Rounds {
		if i < len(other.Rounds) && l != nil && other.Rounds[i] != nil && f(other.Rounds[i]) > 0 {
			all = append(all, f(l)/f(other.Rounds[i]))
		}
	}
	return all
}

// ratio writes how a subject compares with another one.
func ratio(s, other *result, f func(*load) float64) string {
	all := ratios(s, other, f)
	switch {
	case len(all) == 0:
		return ""
	case s == other:
		return "1"
	}
	places := 2
	if median(all) < 0.1 {
		places = 3
	}
	return fmt.Sprintf("**%.*f** (%.*f–%.*f)", places, median(all), places, slices.Min(all), places, slices.Max(all))
}

func medianOf(loads []*load, f func(*load) float64) float64 { return median(each(loads, f)) }

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

// A table in a document stands between two lines.
const (
	hopTable  = "the table of make bench-hop"
	aimsTable = "the aims of make bench-hop"
)

// replaceTable replaces a table in a document.
func replaceTable(file, name, table string) error {
	begin, end := "<!-- begin of "+name+" -->", "<!-- end of "+name+" -->"
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	before, rest, ok := strings.Cut(string(data), begin)
	_, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		return fmt.Errorf("%s has no lines %s and %s", file, begin, end)
	}
	return os.WriteFile(file, []byte(before+begin+"\n\n"+table+"\n"+end+after), 0o644)
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
