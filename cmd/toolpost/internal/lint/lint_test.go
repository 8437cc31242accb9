package lint

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/dev/accept"
	"github.com/toolpost/toolpost/schema"
	"github.com/toolpost/toolpost/schema/dialect"
)

// tortured is a file of all tools that are odd, on many lines.
func tortured(t testing.TB) *Source {
	t.Helper()
	var tools []json.RawMessage
	for _, s := range accept.Torture() {
		tools = append(tools, s.Raw)
	}
	tools = append(tools, []byte(`7`), []byte(`{"name":"é\u00e9","description":"É (","inputSchema":{"type":["object"]}}`))
	data, err := json.MarshalIndent(map[string]any{"result": map[string]any{"tools": tools}}, "", "\t")
	if err != nil {
		t.Fatal(err)
	}
	return sourceOf(t, data)
}

func sourceOf(t testing.TB, data []byte) *Source {
	t.Helper()
	f, err := ParseFile("some folder/tools.json", data)
	if err != nil {
		t.Fatal(err)
	}
	book, err := dialect.NewBook(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &Source{Title: f.Path, File: f, Tools: f.Tools, Book: book}
}

func some(t testing.TB, src *Source) []*dialect.Dialect {
	t.Helper()
	var targets []*dialect.Dialect
	for _, id := range []string{"claude-code", "claude-desktop", "codex", "gemini-schema", "ollama", "openai-strict"} {
		d, err := src.Book.Find(id)
		if err != nil {
			t.Fatal(err)
		}
		targets = append(targets, d)
	}
	return targets
}

// Every finding about a keyword that is written is placed at that keyword.
func TestSpots(t *testing.T) {
	src := tortured(t)
	r := New(src, some(t, src), &dialect.Options{})
	lines := strings.Split(string(src.File.data), "\n")
	checked := 0
	for _, p := range r.problems {
		at, ok := r.spot(p)
		if !ok || at.line < 1 || at.line > len(lines) || at.endLine < at.line || at.endLine > len(lines) {
			t.Fatalf("%s of %q: %+v", p.rule.Name, p.name, at)
		}
		text := string([]rune(lines[at.line-1])[at.column-1:])
		if p.tool == nil || p.tool.Tool == nil || p.keyword == "" {
			continue
		}
		around, ok := find(p.tool.tree(), p.pointer)
		if !ok || around.value.Get(p.keyword) == nil {
			continue
		}
		if checked++; !strings.HasPrefix(text, fmt.Sprintf("%q:", p.keyword)) {
			t.Errorf("%s of %q at %s: line %d, column %d is %q", p.rule.Name, p.name, p.where(), at.line, at.column, text)
		}
	}
	if checked < 50 {
		t.Errorf("only %d findings are about a keyword", checked)
	}
}

// What SARIF 2.1.0 and GitHub's code scanning require is there.
func TestSARIF(t *testing.T) {
	src := tortured(t)
	var b bytes.Buffer
	if err := writeSARIF(&b, New(src, some(t, src), &dialect.Options{Off: map[string]string{"all/poison-null": "why not"}}), &Options{Version: "1"}); err != nil {
		t.Fatal(err)
	}
	type message struct{ Text, Markdown string }
	var log struct {
		Schema  string `json:"$schema"`
		Version string
		Runs    []struct {
			Tool struct {
				Driver struct {
					Name, Version, InformationURI string
					Rules                         []struct {
						ID                                      string
						ShortDescription, FullDescription, Help message
						HelpURI                                 string
						DefaultConfiguration                    struct{ Level string }
					}
				}
			}
			ColumnKind string
			Results    []struct {
				RuleID              string
				RuleIndex           int
				Level               string
				Message             message
				PartialFingerprints map[string]string
				Properties          struct {
					Tool string
					Hits []jsonHit
				}
				Locations []struct {
					PhysicalLocation struct {
						ArtifactLocation struct{ URI string }
						Region           struct{ StartLine, StartColumn, EndLine, EndColumn int }
					}
					LogicalLocations []struct{ FullyQualifiedName, Kind string }
				}
				Suppressions []struct{ Kind, Justification string }
			}
		}
	}
	d := json.NewDecoder(&b)
	d.DisallowUnknownFields()
	if err := d.Decode(&log); err != nil {
		t.Fatal(err)
	}
	driver, results := log.Runs[0].Tool.Driver, log.Runs[0].Results
	if log.Version != "2.1.0" || driver.Name == "" || len(results) < 100 {
		t.Fatalf("version %q, tool %q, %d results", log.Version, driver.Name, len(results))
	}
	for _, r := range driver.Rules {
		if r.ID == "" || r.ShortDescription.Text == "" || r.FullDescription.Text == "" || r.Help.Text == "" || !strings.HasSuffix(r.HelpURI, "/docs/rules/"+r.ID+".md") {
			t.Errorf("rule %+v", r)
		}
	}
	levels, prints, suppressed := map[string]bool{}, map[string]bool{}, 0
	for _, r := range results {
		levels[r.Level], prints[r.PartialFingerprints["toolpost/v1"]] = true, true
		suppressed += len(r.Suppressions)
		physical := r.Locations[0].PhysicalLocation
		if driver.Rules[r.RuleIndex].ID != r.RuleID || r.Message.Text == "" || len(r.Properties.Hits) == 0 ||
			physical.ArtifactLocation.URI != "some%20folder/tools.json" || physical.Region.StartLine < 1 || physical.Region.StartColumn < 1 {
			t.Fatalf("result %+v", r)
		}
	}
	if delete(levels, "error"); len(prints) < len(results)*9/10 || suppressed == 0 || len(levels) != 2 || !levels["warning"] || !levels["note"] {
		t.Errorf("%d fingerprints of %d results, %d suppressed, levels %v", len(prints), len(results), suppressed, levels)
	}
}

// Every format is written whatever the tools are.
func TestFormats(t *testing.T) {
	src := tortured(t)
	r := New(src, some(t, src), &dialect.Options{})
	for _, f := range formats {
		name, write := f.name, f.write
		for _, verbose := range []bool{false, true} {
			var b bytes.Buffer
			if err := write(&b, r, &Options{Limit: Error, Verbose: verbose}); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			switch text := b.String(); name {
			case "junit":
				var suites junitSuites
				if err := xml.Unmarshal(b.Bytes(), &suites); err != nil || suites.Tests != len(r.targets)*(len(r.Tools)+1) || suites.Failures == 0 {
					t.Errorf("%v: %d tests, %d failures", err, suites.Tests, suites.Failures)
				}
			case "github":
				if n := strings.Count(text, "\n"); n != len(r.problems) || strings.Count(text, "\n::")+1 != n {
					t.Errorf("%d lines for %d findings", n, len(r.problems))
				}
			case "json", "sarif":
				if !json.Valid(b.Bytes()) {
					t.Errorf("%s is not JSON", name)
				}
			case "text":
				if strings.Contains(text, "\x1b") {
					t.Errorf("what is no terminal gets colours")
				}
			}
		}
	}
}

// Tools of one name are distinguished: each but the first has the name wrongly.
func TestSameName(t *testing.T) {
	src := sourceOf(t, []byte(`[{"name":"a","inputSchema":{"type":"object"}},`+"\n"+`{"name":"a","inputSchema":{"type":"string"}},{"name":"a","inputSchema":{"type":"object"}}]`))
	mcp, err := src.Book.Find("mcp")
	if err != nil {
		t.Fatal(err)
	}
	r := New(src, []*dialect.Dialect{mcp}, &dialect.Options{})
	found := map[string][]*Tool{}
	for _, p := range r.problems {
		found[p.rule.Name] = append(found[p.rule.Name], p.tool)
	}
	if !slices.Equal(found["poison-root-type"], src.Tools[1:2]) || !slices.Equal(found["name-collision"], src.Tools[1:]) {
		t.Errorf("found %v", found)
	}
}

// BenchmarkManyFindings reports two findings of each of many properties. The time
// for each of them does not grow with their number.
func BenchmarkManyFindings(b *testing.B) {
	for _, n := range []int{1_000, 6_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			var properties strings.Builder
			for i := range n {
				fmt.Fprintf(&properties, `,"p%d":{"type":["string","null"],"const":1}`, i)
			}
			src := sourceOf(b, []byte(`[{"name":"a","inputSchema":{"type":"object","properties":{`+properties.String()[1:]+`}}}]`))
			for b.Loop() {
				r := New(src, some(b, src)[3:4], &dialect.Options{})
				for _, f := range formats {
					if err := f.write(io.Discard, r, &Options{Verbose: true}); err != nil {
						b.Fatal(err)
					}
				}
				if len(r.problems) < 2*n {
					b.Fatalf("%d findings", len(r.problems))
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/property")
		})
	}
}

// A tool without a file is shown from its definition.
func TestExcerptOfOwnTool(t *testing.T) {
	tool := &toolpost.Tool{Definition: toolpost.Definition{Name: "own", Input: schema.MustParse(`{"type":"object","properties":{"a":{"type":["string","null"]}}}`)}}
	p := &problem{tool: &Tool{Tool: tool, name: "own"}, pointer: "/inputSchema/properties/a", keyword: "type"}
	if got := p.excerpt(); got != `"type": ["string", "null"]` {
		t.Errorf("got %s", got)
	}
}

// One tool that is nested too deeply does not concern the others.
func TestDeepTool(t *testing.T) {
	deep := strings.Repeat(`{"items":`, 20_000) + "{}" + strings.Repeat("}", 20_000)
	src := sourceOf(t, []byte(`[{"name":"deep","inputSchema":`+deep+`},{"name":"good","inputSchema":{"type":"object"}}]`))
	d, err := src.Book.Find("mcp")
	if err != nil {
		t.Fatal(err)
	}
	a := Adapt(src, d, nil)
	if len(a.Tools) != 1 || a.Tools[0].Name != "good" || len(a.Withheld) != 1 || a.Withheld[0].Name != "deep" || a.Withheld[0].Rule != "mcp/depth" {
		t.Errorf("tools %v, withheld %+v", a.Tools, a.Withheld)
	}
}

// Of tools with one name, each is told what becomes of itself.
func TestRemedyOfSameName(t *testing.T) {
	src := sourceOf(t, []byte(`[{"name":"a","inputSchema":{"type":"array"}},{"name":"a","inputSchema":"x"},{"name":"a","inputSchema":{}},{"inputSchema":{}},7]`))
	src.AddSkipped([]toolpost.Finding{{Message: "tool 2 of 3 is left out: it has no name"}})
	r := New(src, []*dialect.Dialect{some(t, src)[0]}, &dialect.Options{})
	want := []string{
		"withheld: arguments are an object, and the schema accepts none", `withheld: it is "x", want an object`, "arguments are an object (noop)",
		"withheld: the tool has no name, so it cannot be called", "withheld: the tool is 7, want an object",
		"withheld: tool 2 of 3 is left out: it has no name",
	}
	for i, tool := range src.Tools {
		for _, p := range r.problems {
			if got := r.remedy(p).text; p.tool == tool && p.rule.Name != "name-collision" && got != want[i] {
				t.Errorf("tool %d: %s: got %q, want %q", i, p.rule.Name, got, want[i])
			}
		}
	}
	if n := r.Failing(Error); n < len(want) {
		t.Errorf("%d errors", n)
	}
}

// Whatever a file holds, its tools are read, linted and adapted, or refused.
func FuzzToolFile(f *testing.F) {
	f.Add([]byte(`[{"name":"a","inputSchema":{"type":"object","properties":{"b\u0063":{"type":["string","null"]}}}}]`))
	f.Add([]byte(`{"result":{"tools":[{},null,7,[],{"name":7,"description":{},"inputSchema":true,"outputSchema":1}]}}`))
	f.Add([]byte("\ufeff{\"tools\":[{\"name\":\"a\",\"name\":\"b\"}]}"))
	f.Add([]byte(`[[[`))
	f.Add([]byte(`{"tools":[{"name":"\ud800","inputSchema":{"type":"object"}}]`))
	mcp, err := dialect.Find("gemini-schema")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := ParseFile("f", data)
		if err != nil {
			return
		}
		src := &Source{Title: "f", File: file, Tools: file.Tools}
		r := New(src, []*dialect.Dialect{mcp}, &dialect.Options{})
		for _, format := range formats {
			if err := format.write(io.Discard, r, &Options{Limit: Error, Verbose: true}); err != nil {
				t.Fatal(err)
			}
		}
		a := Adapt(src, mcp, nil)
		if len(a.Tools)+len(a.Withheld) < len(file.Tools) {
			t.Errorf("%d tools became %d and %d withheld", len(file.Tools), len(a.Tools), len(a.Withheld))
		}
		var b bytes.Buffer
		if err := a.Write(&b); err != nil || !json.Valid(b.Bytes()) {
			t.Errorf("%v: %s", err, &b)
		}
	})
}
