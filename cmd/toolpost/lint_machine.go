package main

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"strings"
)

// A jsonReport is what --format json writes.
type jsonReport struct {
	Source   string         `json:"source"`
	Tools    int            `json:"tools"`
	Targets  []string       `json:"targets"`
	Errors   int            `json:"errors"`
	Warnings int            `json:"warnings"`
	Notes    int            `json:"notes"`
	Findings []*jsonFinding `json:"findings"`
	Off      []*jsonFinding `json:"off"`
}

type jsonFinding struct {
	Tool    string    `json:"tool"` // "" for the list as a whole
	Rule    string    `json:"rule"`
	Level   string    `json:"level"`
	Pointer string    `json:"pointer"`
	Keyword string    `json:"keyword"`
	Message string    `json:"message"`
	Line    int       `json:"line,omitempty"`
	Column  int       `json:"column,omitempty"`
	Hits    []jsonHit `json:"hits"`
	Reason  string    `json:"reason,omitempty"`
}

type jsonHit struct {
	Target  string `json:"target"`
	ID      string `json:"id"`
	Effect  string `json:"effect"`
	Message string `json:"message"`
}

func writeJSON(w io.Writer, r *lintReport, _ *lintOptions) error {
	n := r.count()
	out := jsonReport{
		Source: r.title, Tools: len(r.tools), Errors: n[levelError], Warnings: n[levelWarning], Notes: n[levelNote],
		Findings: r.jsonFindings(r.problems), Off: r.jsonFindings(r.off),
	}
	for _, d := range r.targets {
		out.Targets = append(out.Targets, d.ID)
	}
	return writeIndented(w, out)
}

func writeIndented(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

func (r *lintReport) jsonFindings(problems []*problem) []*jsonFinding {
	all := []*jsonFinding{}
	for _, p := range problems {
		f := &jsonFinding{
			Tool: p.name, Rule: p.rule.Name, Level: p.level().String(), Pointer: p.pointer, Keyword: p.keyword,
			Message: p.message(), Hits: p.jsonHits(), Reason: p.reason,
		}
		if at, ok := r.spot(p); ok {
			f.Line, f.Column = at.line, at.column
		}
		all = append(all, f)
	}
	return all
}

func (p *problem) jsonHits() (hits []jsonHit) {
	for _, h := range p.hits {
		hits = append(hits, jsonHit{h.target.ID, h.Rule, string(h.Effect), h.Message})
	}
	return hits
}

// plain tells a problem in one line, for formats that show it in a place.
func (p *problem) plain() string {
	text := p.message()
	if p.name != "" {
		text = fmt.Sprintf("tool %q: %s", p.name, text)
	}
	if p.pointer != "" {
		text += " (" + p.where() + ")"
	}
	text += "."
	for _, hits := range p.byEffect() {
		var who []string
		for _, h := range hits {
			who = append(who, h.target.ID)
		}
		text += fmt.Sprintf(" %s: %s.", strings.Join(who, ", "), hits[0].Effect)
	}
	return text + " " + p.rule.Fix
}

// writeGitHub writes workflow commands of GitHub Actions.
func writeGitHub(w io.Writer, r *lintReport, _ *lintOptions) error {
	commands := [...]string{"error", "warning", "notice"}
	data := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	property := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	for _, p := range r.problems {
		place := ""
		if at, ok := r.spot(p); ok {
			place = fmt.Sprintf("file=%s,line=%d,endLine=%d,", property.Replace(r.file.path), at.line, at.endLine)
			if at.line == at.endLine {
				place += fmt.Sprintf("col=%d,endColumn=%d,", at.column, at.endColumn)
			}
		}
		_, err := fmt.Fprintf(w, "::%s %stitle=%s::%s\n", commands[p.level()], place, property.Replace(p.rule.Name), data.Replace(p.plain()))
		if err != nil {
			return err
		}
	}
	return nil
}

// The elements of JUnit's XML.
type (
	junitSuites struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Name     string       `xml:"name,attr"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Class   string        `xml:"classname,attr"`
		Name    string        `xml:"name,attr"`
		Failure *junitFailure `xml:"failure"`
		Out     string        `xml:"system-out,omitempty"`
	}
	junitFailure struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr"`
		Text    string `xml:",chardata"`
	}
)

// writeJUnit writes a test case for each tool and target, and one for the
// list. What is below --fail-on is told in its output.
func writeJUnit(w io.Writer, r *lintReport, o *lintOptions) error {
	out := junitSuites{Name: "toolpost lint " + r.title}
	for _, d := range r.targets {
		s := junitSuite{Name: d.ID}
		for _, t := range append(r.tools[:len(r.tools):len(r.tools)], nil) {
			c := r.junitCase(d.ID, t, o.limit())
			s.Cases = append(s.Cases, c)
			if s.Tests++; c.Failure != nil {
				s.Failures++
			}
		}
		out.Suites = append(out.Suites, s)
		out.Tests, out.Failures = out.Tests+s.Tests, out.Failures+s.Failures
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(out); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func (r *lintReport) junitCase(target string, t *fileTool, limit level) junitCase {
	c := junitCase{Class: target, Name: title(t)}
	var failed, told []string
	for _, p := range r.problems {
		for _, h := range p.hits {
			if p.tool != t || h.target.ID != target {
				continue
			}
			text := fmt.Sprintf("%s: %s: %s (%s); %s", levelOf(h.Effect), h.Rule, h.Message, p.where(), h.Effect)
			if levelOf(h.Effect) > limit || limit == levelNever {
				told = append(told, text)
				continue
			}
			if failed = append(failed, text); c.Failure == nil {
				c.Failure = &junitFailure{Message: h.Message, Type: h.Rule}
			}
		}
	}
	if c.Failure != nil {
		c.Failure.Text = strings.Join(failed, "\n")
	}
	c.Out = strings.Join(told, "\n")
	return c
}
