//go:build linux

package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// An aim is a limit for Toolpost in the cells of a size and a number of clients.
type aim struct {
	what        string
	size        string
	clients     int
	whole       bool
	http, stdio float64 // limits
	atLeast     bool
	value       func(s, proxy *result) (float64, bool)
}

func cpuOfProxy(s, proxy *result) (float64, bool) {
	return medianRatio(s, proxy, func(l *load) float64 { return float64(l.CPU) })
}

func rateOfProxy(s, proxy *result) (float64, bool) {
	return medianRatio(s, proxy, func(l *load) float64 { return l.Rate })
}

func medianRatio(s, other *result, f func(*load) float64) (float64, bool) {
	all := ratios(s, other, f)
	if len(all) == 0 {
		return 0, false
	}
	return median(all), true
}

func peak(s, _ *result) (float64, bool) {
	loads := slices.DeleteFunc(slices.Clone(s.Rounds), func(l *load) bool { return l == nil })
	if len(loads) == 0 {
		return 0, false
	}
	return slices.Max(each(loads, func(l *load) float64 { return l.Peak })), true
}

func resident(s, _ *result) (float64, bool) { return s.Rest, s.Rest > 0 }

func aims() []aim {
	all := []aim{
		{what: "1 KB, 32 clients: CPU ÷ proxy", size: "1KB", clients: 32, http: 0.8, stdio: 0.45, value: cpuOfProxy},
		{what: "1 KB, 1 client: CPU ÷ proxy", size: "1KB", clients: 1, http: 1, stdio: 0.75, value: cpuOfProxy},
		{what: "1 KB, 32 clients: rate ÷ proxy", size: "1KB", clients: 32, http: 1.1, stdio: 1.5, atLeast: true, value: rateOfProxy},
	}
	for _, whole := range []bool{true, false} {
		for _, size := range []string{"64KB", "1MB"} {
			for _, clients := range []int{1, 32} {
				a := aim{size: size, clients: clients, whole: whole, http: 1.2, stdio: 1.2, value: cpuOfProxy}
				kind := "whole"
				if !whole {
					a.http, a.stdio, kind = 1.5, 1.5, "stored"
				}
				a.what = fmt.Sprintf("%s %s %s, clients: %d: CPU ÷ proxy", size[:len(size)-2], size[len(size)-2:], kind, clients)
				all = append(all, a)
			}
		}
	}
	return append(all,
		aim{what: "1 KB, 32 clients: MiB after the calls", size: "1KB", clients: 32, http: 36, stdio: 36, value: resident},
		aim{what: "20 MiB whole: peak, MiB", size: "20MiB", clients: 1, whole: true, http: 32, stdio: 32, value: peak})
}

// writeAims writes what was measured beside the aims, in both eras. What is missed is bold.
func writeAims(out io.Writer, results []*result) {
	fmt.Fprint(out, "| what | aim | HTTP | stdio |\n|---|---|---|---|\n")
	for _, a := range aims() {
		limit := "at most "
		if a.atLeast {
			limit = "at least "
		}
		limit += fmt.Sprint(a.http)
		if a.stdio != a.http {
			limit += fmt.Sprintf(" HTTP, %v stdio", a.stdio)
		}
		fmt.Fprintf(out, "| %s | %s | %s | %s |\n", a.what, limit, a.cell(results, "http", a.http), a.cell(results, "stdio", a.stdio))
	}
}

// cell returns the values of both eras.
func (a *aim) cell(results []*result, upstream string, limit float64) string {
	var values []string
	for _, era := range []string{sessionEra, statelessEra} {
		find := func(subject, upstream string) *result {
			i := slices.IndexFunc(results, func(r *result) bool {
				return r.Size == a.size && r.Clients == a.clients && r.Era == era && r.Subject == subject && r.Upstream == upstream
			})
			if i < 0 {
				return &result{}
			}
			return results[i]
		}
		subject := "toolpost"
		if a.whole {
			subject += "-whole"
		}
		value, ok := a.value(find(subject, upstream), find("proxy", "http"))
		text := "–"
		if ok {
			text = digits(value)
		}
		if ok && (a.atLeast && value < limit || !a.atLeast && value > limit) {
			text = "**" + text + "**"
		}
		values = append(values, text)
	}
	return strings.Join(values, " / ")
}
