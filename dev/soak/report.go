//go:build linux

package main

import (
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/toolpost/toolpost/dev/bench/page"
)

// report writes the tables and the verdict.
func report(w io.Writer, r *run, problems []error) {
	t := r.tally
	fmt.Fprintf(w, "%d clients for %v\n\n| outcome | count |\n|---|---|\n", r.clients, r.time)
	for _, name := range slices.Sorted(maps.Keys(t.counts)) {
		fmt.Fprintf(w, "| %s | %d |\n", name, t.counts[name])
	}
	fmt.Fprint(w, "\n| measure | before the first client | median of the second quarter | median of the last quarter | limit | after the last client |\n|---|---|---|---|---|---|\n")
	for _, m := range measures() {
		before, after := m.growth(r.samples)
		limit := "not judged"
		if m.factor > 0 {
			limit = fmt.Sprintf("%.1f", m.limit(before))
		}
		fmt.Fprintf(w, "| %s | %.1f | %.1f | %.1f | %s | %.1f |\n", m.name, m.of(&r.idle), before, after, limit, m.of(&r.after))
	}
	verdict := "PASS: every answer is right, nothing reached another connection, and nothing grows"
	if r.time < leastTime {
		verdict = fmt.Sprintf("PASS: every answer is right, and nothing reached another connection; growth is judged in runs of %v and more", leastTime)
	}
	if len(problems) > 0 {
		verdict = "FAIL"
	}
	fmt.Fprintf(w, "\n%s\n", verdict)
	for _, p := range problems {
		fmt.Fprintf(w, "\n- `%s`\n", strings.ReplaceAll(p.Error(), "`", "'"))
	}
}

// Of the plot, in pixels.
const (
	plotWidth, panelHeight = 720, 130
	marginLeft, marginTop  = 50, 26
	curveWidth             = plotWidth - marginLeft - 10
	curveHeight            = panelHeight - marginTop - 24
)

// plot returns an SVG image with a panel for each measure, from 0 to its largest
// value, and the medians that are compared.
func plot(r *run) string {
	var b strings.Builder
	all := measures()
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="11">`+"\n", plotWidth, panelHeight*len(all)+20)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="white"/>`+"\n", plotWidth, panelHeight*len(all)+20)
	for i := range all {
		panel(&b, r, &all[i], i*panelHeight)
	}
	fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="middle">minutes; the grey part warms up; the lines are the medians that are compared</text>`+"\n", plotWidth/2, panelHeight*len(all)+12)
	b.WriteString("</svg>\n")
	return b.String()
}

// panel draws the curve of one measure.
func panel(b *strings.Builder, r *run, m *measure, top int) {
	n := len(r.samples)
	most := 1.0
	for i := range r.samples {
		most = max(most, m.of(&r.samples[i]))
	}
	x := func(i int) float64 { return marginLeft + float64(i)*curveWidth/float64(max(1, n-1)) }
	y := func(v float64) float64 { return float64(top+marginTop+curveHeight) - v*curveHeight/most }
	fmt.Fprintf(b, `<text x="%d" y="%d" font-weight="bold">%s</text>`+"\n", marginLeft, top+marginTop-8, m.name)
	second, third, last := quarters(r.samples)
	fmt.Fprintf(b, `<rect x="%d" y="%.1f" width="%.1f" height="%d" fill="#eee"/>`+"\n", marginLeft, y(most), x(second)-marginLeft, curveHeight)
	for _, v := range []float64{0, most / 2, most} {
		fmt.Fprintf(b, `<path d="M%d %.1f H%d" stroke="#ddd"/><text x="%d" y="%.1f" text-anchor="end">%.0f</text>`+"\n", marginLeft, y(v), marginLeft+curveWidth, marginLeft-5, y(v)+4, v)
	}
	minutes := r.time.Minutes()
	for i := 0; i <= 10; i++ {
		fmt.Fprintf(b, `<text x="%d" y="%.1f" text-anchor="middle">%.3g</text>`+"\n", marginLeft+i*curveWidth/10, y(0)+14, minutes*float64(i)/10)
	}
	var points []string
	for i := range r.samples {
		points = append(points, fmt.Sprintf("%.1f,%.1f", x(i), y(m.of(&r.samples[i]))))
	}
	fmt.Fprintf(b, `<polyline fill="none" stroke="#1f77b4" points="%s"/>`+"\n", strings.Join(points, " "))
	before, after := m.growth(r.samples)
	fmt.Fprintf(b, `<path d="M%.1f %.1f H%.1f M%.1f %.1f H%.1f" stroke="#d62728" stroke-width="2"/>`+"\n", x(second), y(before), x(third), x(last), y(after), x(n-1))
}

// writePage writes the tables into a document, and the plot beside it.
func writePage(r *run, problems []error) error {
	var table strings.Builder
	report(&table, r, problems)
	if err := os.WriteFile(strings.TrimSuffix(r.page, ".md")+".svg", []byte(plot(r)), 0o644); err != nil {
		return err
	}
	return page.Replace(r.page, "soak", table.String())
}
