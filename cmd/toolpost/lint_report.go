package main

import (
	"cmp"
	"slices"
	"strings"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/dialect"
	"github.com/toolpost/toolpost/schema/lower"
)

// A level says how bad an effect is.
type level int

const (
	levelError   level = iota // tools are lost, requests refused, calls break
	levelWarning              // a part is lost
	levelNote                 // it still works
	levelNever                // for --fail-on
)

// String returns the name as in --fail-on and in SARIF.
func (l level) String() string { return [...]string{"error", "warning", "note", "never"}[l] }

// effects are those of package dialect, the worst first.
var effects = [...]dialect.Effect{
	dialect.KillsSession, dialect.KillsServer, dialect.RefusesCall, dialect.DropsTool, dialect.BreaksCall,
	dialect.LosesSilently, dialect.Truncates, dialect.Rewrites, dialect.Advice,
}

func rank(e dialect.Effect) int { return slices.Index(effects[:], e) }

func levelOf(e dialect.Effect) level {
	switch e {
	case dialect.LosesSilently, dialect.Truncates:
		return levelWarning
	case dialect.Rewrites, dialect.Advice:
		return levelNote
	}
	return levelError
}

// A lintReport is what lint found.
type lintReport struct {
	*toolSource
	targets  []*dialect.Dialect
	unasked  []*dialect.Dialect // targets that are not looked at because nobody named them
	rules    map[string]*dialect.Rule
	problems []*problem // by tool in source order, the worst first
	off      []*problem // likewise
	opts     *dialect.Options
	adapted  map[string]*adapted // by target, once it was asked for
}

// A problem is a finding in one place, of all the targets that have it.
type problem struct {
	tool    *fileTool // nil if it is about the list
	name    string    // of the tool, "" if it is about the list
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
func (p *problem) level() level           { return levelOf(p.effect()) }
func (p *problem) message() string        { return p.hits[0].Message }

// byEffect returns the hits of each effect, the worst first.
func (p *problem) byEffect() (groups [][]hit) {
	for i, h := range p.hits {
		if i == 0 || h.Effect != p.hits[i-1].Effect {
			groups = append(groups, nil)
		}
		groups[len(groups)-1] = append(groups[len(groups)-1], h)
	}
	return groups
}

// place is what problems are merged by.
type place struct {
	tool                        *fileTool
	rule, pointer, keyword, off string
}

// lintSource looks at all tools under every target. Off has ids of findings
// with the reason why they do not count.
func lintSource(src *toolSource, targets []*dialect.Dialect, server string, off map[string]string) *lintReport {
	r := &lintReport{toolSource: src, targets: targets, rules: rulesByName(), adapted: map[string]*adapted{}}
	r.opts = &dialect.Options{Server: server, Off: off}
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

func (r *lintReport) add(p *problem) {
	if p.reason == "" {
		r.problems = append(r.problems, p)
	} else {
		r.off = append(r.off, p)
	}
}

// A toolFinding is a finding with the tool that it is about, nil for the list.
type toolFinding struct {
	dialect.Finding
	tool *fileTool
}

// findings returns those of one target. Tools are looked at one by one, as
// two may have one name, and then as a list.
func (r *lintReport) findings(d *dialect.Dialect) (all []toolFinding) {
	named := map[string]*fileTool{}
	for _, t := range r.tools {
		named[t.name] = t
		for _, f := range t.findings(d, r.rules) {
			f.Off = r.opts.Off[f.Rule]
			all = append(all, toolFinding{f, t})
		}
		if t.Tool == nil {
			continue
		}
		for _, f := range d.Lint([]*toolpost.Tool{t.Tool}, r.opts) {
			if !ofList(&f) {
				all = append(all, toolFinding{f, t})
			}
		}
	}
	for _, f := range d.Lint(r.definitions(), r.opts) {
		switch {
		case ofList(&f):
			all = append(all, toolFinding{f, nil})
		case strings.HasSuffix(f.Rule, "/name-collision"): // the last one has the name wrongly
			all = append(all, toolFinding{f, named[f.Tool]})
		}
	}
	return all
}

func ofList(f *dialect.Finding) bool { return f.Tool == "" && f.Pointer == "" }

func (r *lintReport) sort() {
	order := map[*fileTool]int{nil: len(r.tools)}
	for i, t := range r.tools {
		order[t] = i
	}
	for _, p := range slices.Concat(r.problems, r.off) {
		slices.SortStableFunc(p.hits, func(a, b hit) int { return cmp.Compare(rank(a.Effect), rank(b.Effect)) })
	}
	slices.SortStableFunc(r.problems, func(a, b *problem) int {
		return cmp.Or(cmp.Compare(order[a.tool], order[b.tool]), cmp.Compare(a.level(), b.level()),
			cmp.Compare(rank(a.effect()), rank(b.effect())), strings.Compare(a.rule.Name, b.rule.Name))
	})
}

// count returns how many problems there are of each level.
func (r *lintReport) count() (n [levelNever]int) {
	for _, p := range r.problems {
		n[p.level()]++
	}
	return n
}

// failing returns how many problems are at least as bad as limit.
func (r *lintReport) failing(limit level) (n int) {
	for l, count := range r.count() {
		if level(l) <= limit && limit != levelNever {
			n += count
		}
	}
	return n
}

// remedy tells what adapting does about a problem for its worst target.
func (r *lintReport) remedy(p *problem) string {
	d := p.hits[0].target
	if r.adapted[d.ID] == nil {
		r.adapted[d.ID] = adaptSource(r.toolSource, d, r.opts)
	}
	a := r.adapted[d.ID]
	for _, t := range a.Tools {
		if p.tool == nil || a.origins[t.Original] != p.tool {
			continue
		}
		for _, l := range a.losses(t) {
			if p.isTold(&l) {
				return l.Detail + " (" + string(l.Kind) + ")"
			}
		}
		return ""
	}
	for _, w := range a.Withheld {
		if w.Name == p.name && p.name != "" {
			return "withheld: " + w.Why
		}
	}
	return ""
}

// isTold says that l is what became of what p is about.
func (p *problem) isTold(l *lower.Loss) bool {
	for _, member := range []string{"name", "description", "outputSchema"} {
		if strings.HasPrefix(p.pointer, "/"+member) {
			return l.Pointer == "" && l.Keyword == member
		}
	}
	if l.Keyword == "inputSchema" {
		return true
	}
	return "/inputSchema"+l.Pointer == p.pointer && (l.Keyword == p.keyword || p.keyword == "")
}
