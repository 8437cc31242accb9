package lint

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/terminal"
	"github.com/toolpost/toolpost/schema/dialect"
)

// A Level is the severity of an effect.
type Level int

// The levels, the worst first.
const (
	Error   Level = iota // tools are lost, requests refused, calls break
	Warning              // a part is lost
	Note                 // it still works
	Never                // for --fail-on
)

// String returns the name as in --fail-on and in SARIF.
func (l Level) String() string { return [...]string{"error", "warning", "note", "never"}[l] }

func levelOf(e dialect.Effect) Level {
	switch {
	case e.Loses():
		return Warning
	case e.Advises():
		return Note
	}
	return Error
}

// A Report is the findings of [New].
type Report struct {
	*Source
	targets  []*dialect.Dialect
	Unasked  []*dialect.Dialect // targets that are not looked at because the user did not name them
	rules    map[string]*dialect.Rule
	problems []*problem // by tool in source order, the worst first
	off      []*problem // problems of rules that are switched off, in the same order
	opts     *dialect.Options
	adapted  map[string]*Adapted // by target, once it was asked for
}

// A problem is a finding in one place, of all the targets that have it.
type problem struct {
	tool    *Tool  // nil if it is about the list
	name    string // of the tool, "" if it is about the list
	rule    *dialect.Rule
	pointer string
	keyword string
	hits    []hit // the worst first
	reason  string
}

// A hit is a finding of one target.
type hit struct {
	dialect.Finding
	target *dialect.Dialect
}

func (p *problem) effect() dialect.Effect { return p.hits[0].Effect }
func (p *problem) level() Level           { return levelOf(p.effect()) }

// message describes everything that the worst target finds in the place.
func (p *problem) message() string {
	const few = 3
	first, others := p.hits[0], []string{}
	subject, rest := quotedStart(first.Message)
	for _, h := range p.hits[1:] {
		if h.target != first.target || h.Message == first.Message {
			continue
		}
		other, same := quotedStart(h.Message)
		if subject == "" || same != rest {
			other, subject = h.Message, ""
		}
		others = append(others, other)
	}
	if len(others) == 0 {
		return first.Message
	}
	more := ""
	if n := len(others) - few; n > 0 {
		others, more = others[:few], fmt.Sprintf(", and %d more", n)
	}
	if subject == "" {
		return first.Message + "; " + strings.Join(others, "; ") + more
	}
	return first.Message + "; the same applies to " + strings.Join(others, ", ") + more
}

// quotedStart cuts a message behind the name that it begins with.
func quotedStart(message string) (name, rest string) {
	name, err := strconv.QuotedPrefix(message)
	if err != nil {
		return "", message
	}
	return name, message[len(name):]
}

// byEffect returns a hit of each target by effect, the worst first.
func (p *problem) byEffect() (groups [][]hit) {
	seen := map[*dialect.Dialect]bool{}
	last := dialect.Effect("")
	for _, h := range p.hits {
		if seen[h.target] {
			continue
		}
		seen[h.target] = true
		if h.Effect != last {
			groups, last = append(groups, nil), h.Effect
		}
		groups[len(groups)-1] = append(groups[len(groups)-1], h)
	}
	return groups
}

// place is what problems are merged by.
type place struct {
	tool                        *Tool
	rule, pointer, keyword, off string
}

// New checks all tools against every target.
func New(src *Source, targets []*dialect.Dialect, opts *dialect.Options) *Report {
	r := &Report{Source: src, opts: opts, targets: targets, rules: rulesByName(), adapted: map[string]*Adapted{}}
	at := map[place]*problem{}
	for _, d := range targets {
		for _, f := range r.findings(d) {
			_, rule, _ := strings.Cut(f.Rule, "/")
			key := place{f.tool, rule, f.Pointer, f.Keyword, f.Off}
			if at[key] == nil {
				at[key] = &problem{tool: f.tool, name: f.Tool, rule: r.rules[rule], pointer: f.Pointer, keyword: f.Keyword, reason: f.Off}
				r.add(at[key])
			}
			at[key].hits = append(at[key].hits, hit{f.Finding, d})
		}
	}
	r.sort()
	return r
}

func (r *Report) add(p *problem) {
	if p.reason == "" {
		r.problems = append(r.problems, p)
	} else {
		r.off = append(r.off, p)
	}
}

// A toolFinding is a finding with the tool that it is about, nil for the list.
type toolFinding struct {
	dialect.Finding
	tool *Tool
}

// findings returns those of one target.
func (r *Report) findings(d *dialect.Dialect) (all []toolFinding) {
	tools, definitions := map[*toolpost.Tool]*Tool{}, []*toolpost.Tool{}
	for _, t := range r.Tools {
		for _, f := range t.findings(d, r.rules) {
			f.Off = r.opts.Off[f.Rule]
			all = append(all, toolFinding{f, t})
		}
		if t.Tool != nil {
			tools[t.Tool], definitions = t, append(definitions, t.Tool)
		}
	}
	for _, f := range d.Lint(definitions, r.opts) {
		all = append(all, toolFinding{f, tools[f.Of]})
	}
	return all
}

func (r *Report) sort() {
	order := map[*Tool]int{nil: len(r.Tools)}
	for i, t := range r.Tools {
		order[t] = i
	}
	for _, p := range slices.Concat(r.problems, r.off) {
		sort.SliceStable(p.hits, func(i, j int) bool { return p.hits[i].Effect.Rank() < p.hits[j].Effect.Rank() })
	}
	slices.SortStableFunc(r.problems, func(a, b *problem) int {
		return cmp.Or(cmp.Compare(order[a.tool], order[b.tool]), cmp.Compare(a.level(), b.level()),
			cmp.Compare(a.effect().Rank(), b.effect().Rank()), strings.Compare(a.rule.Name, b.rule.Name))
	})
}

// count returns how many problems there are of each level.
func (r *Report) count() (n [Never]int) {
	for _, p := range r.problems {
		n[p.level()]++
	}
	return n
}

// Failing returns how many problems are at least as bad as limit.
func (r *Report) Failing(limit Level) (n int) {
	for l, count := range r.count() {
		if Level(l) <= limit && limit != Never {
			n += count
		}
	}
	return n
}

// A remedy is what adapting does about a problem, for its worst target.
type remedy struct {
	kind    dialect.LossKind // "" if the tool is withheld, or there is no loss
	text    string           // "" if there is no loss
	derived bool             // it only refers to the loss of another keyword
}

func (r *Report) remedy(p *problem) remedy {
	d := p.hits[0].target
	if r.adapted[d.ID] == nil {
		r.adapted[d.ID] = Adapt(r.Source, d, r.opts)
	}
	f := r.adapted[d.ID].fates[p.tool]
	switch {
	case f == nil:
		return remedy{}
	case f.withheld != "":
		return remedy{text: "withheld: " + f.withheld}
	}
	l, ok := f.loss(p)
	if !ok {
		return remedy{}
	}
	return remedy{l.Kind, l.Detail + " (" + string(l.Kind) + ")", strings.HasPrefix(l.Detail, "follows from ")}
}

// outline is equal for remedies that differ only in names and values.
func (m remedy) outline() string {
	text, _, _ := strings.Cut(strings.TrimPrefix(m.text, "withheld: "), ":")
	if i := strings.IndexAny(text, `"(`); i >= 0 {
		text = text[:i]
	}
	return string(m.kind) + " " + text
}

// together describes a loss that adapting reports only together with others, ""
// if there is none.
func (r *Report) together(g []*problem) string {
	n, kinds := 0, []string{}
	for _, p := range g {
		if m := r.remedy(p); m.derived {
			n++
			kinds = append(kinds, string(m.kind))
		}
	}
	switch first := r.remedy(g[0]); {
	case n == 0:
		return ""
	case n == 1 && first.derived:
		return first.text
	}
	slices.Sort(kinds)
	return fmt.Sprintf("%d of %s together with another keyword (%s)", n, terminal.Count(len(g), "place"), strings.Join(slices.Compact(kinds), ", "))
}

// Options say how a report is written.
type Options struct {
	Limit   Level  // of a JUnit failure: findings at this level and above
	Verbose bool   // text: notes, every place and the evidence
	Version string // SARIF: of this program
}

// A Writer writes a report in one format.
type Writer func(w io.Writer, r *Report, o *Options) error

// formats are the ways to write findings.
var formats = [...]struct {
	name  string
	write Writer
}{{"github", writeGitHub}, {"json", writeJSON}, {"junit", writeJUnit}, {"sarif", writeSARIF}, {"text", writeText}}

// Formats returns the names of all formats.
func Formats() (names []string) {
	for _, f := range formats {
		names = append(names, f.name)
	}
	return names
}

// Format returns the writer of a format, nil if there is none of that name.
func Format(name string) Writer {
	for _, f := range formats {
		if f.name == name {
			return f.write
		}
	}
	return nil
}
