package lint

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
)

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
// list. Findings below --fail-on are in its output.
func writeJUnit(w io.Writer, r *Report, o *Options) error {
	found := r.junitTexts()
	out := junitSuites{Name: "toolpost lint " + r.Title}
	for _, d := range r.targets {
		s := junitSuite{Name: d.ID}
		for _, t := range append(r.Tools[:len(r.Tools):len(r.Tools)], nil) {
			c := newJUnitCase(d.ID, t, found[junitKey{d.ID, t}], o.Limit)
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

// A junitKey says which test case a finding belongs to.
type junitKey struct {
	target string
	tool   *Tool
}

// A junitText is a finding as a test case reports it.
type junitText struct {
	hit
	text string
}

func (r *Report) junitTexts() map[junitKey][]junitText {
	found := map[junitKey][]junitText{}
	for _, p := range r.problems {
		for _, h := range p.hits {
			key := junitKey{h.target.ID, p.tool}
			text := fmt.Sprintf("%s: %s: %s (%s); %s", levelOf(h.Effect), h.Rule, h.Message, p.where(), h.Effect)
			found[key] = append(found[key], junitText{h, text})
		}
	}
	return found
}

func newJUnitCase(target string, t *Tool, found []junitText, limit Level) junitCase {
	c := junitCase{Class: target, Name: title(t)}
	var failed, passed []string
	for _, f := range found {
		if levelOf(f.Effect) > limit || limit == Never {
			passed = append(passed, f.text)
			continue
		}
		if failed = append(failed, f.text); c.Failure == nil {
			c.Failure = &junitFailure{Message: f.Message, Type: f.Rule}
		}
	}
	if c.Failure != nil {
		c.Failure.Text = strings.Join(failed, "\n")
	}
	c.Out = strings.Join(passed, "\n")
	return c
}
