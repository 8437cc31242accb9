package dialect_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/schema"
	"github.com/toolpost/toolpost/schema/dialect"
	"github.com/toolpost/toolpost/schema/internal/lower"
)

// defined returns a tool of a definition as a server lists it.
func defined(t testing.TB, raw string) *toolpost.Tool {
	t.Helper()
	var d struct {
		Name, Title, Description  string
		InputSchema, OutputSchema *schema.Schema
		Annotations               toolpost.Annotations
		Meta                      json.RawMessage `json:"_meta"`
	}
	if err := json.Unmarshal([]byte(raw), &d); err != nil {
		t.Fatal(err)
	}
	return &toolpost.Tool{
		Definition: toolpost.Definition{
			Name: d.Name, Title: d.Title, Description: d.Description, Input: d.InputSchema, Output: d.OutputSchema,
			Annotations: d.Annotations, Meta: d.Meta, Raw: json.RawMessage(raw),
		},
		Handler: func(ctx context.Context, call *toolpost.Call) (*toolpost.Result, error) {
			return toolpost.TextResult(string(call.Arguments)), nil
		},
	}
}

func TestUntouchedToolKeepsItsDefinition(t *testing.T) {
	tools := []*toolpost.Tool{
		defined(t, `{"name":"a.b","inputSchema":{"type":"object"},"outputSchema":{"type":"object"},"icons":[]}`),
		defined(t, `{"name":"c","description":"(_)","inputSchema":{"type":"object","properties":{"a_b":{}}}}`),
	}
	for i, got := range dialect.Make("x", dialect.Form{}).Adapt(tools, nil).Tools {
		raw, err := got.MarshalJSON()
		if err != nil || string(raw) != string(tools[i].Raw) || got.Changed() || got.Original != tools[i] || got.Losses != nil {
			t.Errorf("%s: %s, %v, %v", tools[i].Name, raw, got.Losses, err)
		}
		if got.Input != tools[i].Input || got.Output != tools[i].Output {
			t.Errorf("%s: its schemas are copies", tools[i].Name)
		}
	}
}

func TestDefinitionIsKept(t *testing.T) {
	d := dialect.Make("x", dialect.Form{Text: dialect.Text{Forbid: "_"}})
	tool := defined(t, `{"title":"T_t","icons":[{"src":"i_j"}],"name":"n","inputSchema":{ "properties":{"a_b":{"description":"c_d"}}, "type":"object" },
 "annotations":{"readOnlyHint":true,"x":1},"_meta":{"m_n":1},"execution":{"a":1},"description":"e_f"}`)
	got, err := d.Adapt([]*toolpost.Tool{tool}, nil).Tools[0].MarshalJSON()
	want := `{"title":"T_t","icons":[{"src":"i_j"}],"name":"n","inputSchema":{ "properties":{"a_b":{"description":"c d"}}, "type":"object" },` +
		`"annotations":{"readOnlyHint":true,"x":1},"_meta":{"m_n":1},"execution":{"a":1},"description":"e f"}`
	if err != nil || string(got) != want {
		t.Errorf("got  %s\nwant %s\n%v", got, want, err)
	}
}

func TestOutput(t *testing.T) {
	tests := []struct {
		what   string
		output dialect.Output
		in     string
		want   string // "" for none
	}{
		{"no rule", dialect.Output{}, `{"type":"object","minItems":-1}`, `{"type":"object","minItems":-1}`},
		{"no rule, a validator that does not compile it", dialect.Output{}, `{"type":"object","items":1}`, `{"type":"object"}`},
		{"no rule, poison", dialect.Output{}, `{"anyOf":[{"type":"object"}]}`, ""},
		{"none at all", dialect.Output{Drop: true}, `{"type":"object"}`, ""},
		{"object", dialect.Output{Object: true}, `{"type":"object","$id":"x"}`, `{"type":"object","$id":"x"}`},
		{"array", dialect.Output{Object: true}, `{"type":"array"}`, ""},
		{"object or null", dialect.Output{Object: true}, `{"type":["object","null"]}`, ""},
		{"no type", dialect.Output{Object: true}, `{"anyOf":[{"type":"object"}]}`, ""},
		{"a keyword less", dialect.Output{Rules: lower.Rules{Without: []string{"$schema"}}},
			`{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{"b":{"type":"string"},"a":{"type":"integer"}}}`,
			`{"type":"object","properties":{"b":{"type":"string"},"a":{"type":"integer"}}}`},
		{"another shape", dialect.Output{Rules: lower.Rules{Object: lower.Object{Maps: "pairs", Closed: true}}},
			`{"type":"object","additionalProperties":{"type":"string"}}`, ""},
		{"fewer values", dialect.Output{Rules: lower.Rules{Null: "none"}},
			`{"type":"object","properties":{"a":{"type":["string","null"]}},"required":["a"]}`, ""},
	}
	for _, test := range tests {
		tool := defined(t, `{"name":"n","inputSchema":{"type":"object"},"outputSchema":`+test.in+`}`)
		a := dialect.Make("x", dialect.Form{Output: test.output}).Adapt([]*toolpost.Tool{tool}, nil).Tools[0]
		got := ""
		if a.Output != nil {
			got = string(a.Output.Raw())
		}
		if got != test.want {
			t.Errorf("%s: got %s, want %s", test.what, got, test.want)
		}
		if changed := got != test.in; changed != (len(a.Losses) > 0) {
			t.Errorf("%s: losses %v", test.what, a.Losses)
		}
		for _, l := range a.Losses {
			if l.Keyword != "outputSchema" || l.Pointer != "" {
				t.Errorf("%s: loss %v", test.what, l)
			}
		}
	}
}

// TestRejected: what a reader cannot be told at all withholds one tool.
func TestRejected(t *testing.T) {
	d := dialect.Make("x", dialect.Form{Input: lower.Rules{Root: lower.Root{Object: true}, Limits: lower.Limits{Properties: 1}}})
	a := d.Adapt([]*toolpost.Tool{
		defined(t, `{"name":"good","inputSchema":{"type":"object","properties":{"a":{"type":"string"}}}}`),
		defined(t, `{"name":"large","inputSchema":{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}}}}`),
		defined(t, `{"name":"list","inputSchema":{"type":"array"}}`),
	}, nil)
	if len(a.Tools) != 1 || a.Tools[0].Name != "good" || len(a.Withheld) != 2 {
		t.Fatalf("got %v", a)
	}
	if w := a.Withheld[0]; w.Name != "large" || w.Rule != "x/size" || !strings.Contains(w.Why, "limit") {
		t.Errorf("withheld %+v", w)
	}
	if w := a.Withheld[1]; w.Name != "list" || w.Rule != "all/poison-root-type" || !strings.Contains(w.Why, "object") {
		t.Errorf("withheld %+v", w)
	}
}

func TestNoSchemaWithholdsOneTool(t *testing.T) {
	d := dialect.Make("x", dialect.Form{Text: dialect.Text{Max: 10}})
	good := defined(t, `{"name":"good","inputSchema":{"type":"object"}}`)
	bad := &toolpost.Tool{Definition: toolpost.Definition{Name: "bad"}} // no schema at all
	a := d.Adapt([]*toolpost.Tool{bad, good}, nil)
	if len(a.Tools) != 1 || a.Tools[0].Original != good || len(a.Withheld) != 1 {
		t.Fatalf("got %v", a)
	}
	if w := a.Withheld[0]; w.Name != "bad" || w.Rule != "all/poison-root-type" || !strings.HasPrefix(w.Why, "the tool has no input schema") {
		t.Errorf("withheld %+v", w)
	}
}

// TestWithheldByARule: what withholds a tool has a rule that says so, and a text
// for people.
func TestWithheldByARule(t *testing.T) {
	fixes := map[string]string{}
	for _, r := range dialect.Rules() {
		fixes[r.Name] = r.Fix
	}
	const nested = `{"type":"object","properties":{"a":`
	for in, want := range map[string]string{
		`false`: "all/poison-root-type",
		`{"type":"object","properties":{"a":false},"required":["a"]}`: "all/unsatisfiable",
		`{"enum":[]}`: "all/poison-root-type", `{"not":{}}`: "all/poison-root-type", `{"type":"string"}`: "all/poison-root-type",
		`{"type":"object","properties":{"a":{"enum":[]}},"required":["a"]}`: "",
		`{"type":"object","minProperties":3,"maxProperties":1}`:             "",
		`{"allOf":[{"type":"object"},{"type":"string"}]}`:                   "",
		`{"$ref":"#"}`: "",
		strings.Repeat(nested, 70) + `{}` + strings.Repeat("}}", 70): "",
	} {
		for _, d := range dialect.All() {
			a := d.Adapt([]*toolpost.Tool{defined(t, `{"name":"n","description":"A tool.","inputSchema":`+in+`}`)}, nil)
			if want != "" && len(a.Withheld) == 0 {
				t.Errorf("%s: %.60s is not withheld", d.ID, in)
			}
			for _, w := range a.Withheld {
				_, name, _ := strings.Cut(w.Rule, "/")
				if !strings.Contains(fixes[name], "withheld") || want != "" && w.Rule != want || w.Why == "" || strings.Contains(w.Why, `""`) {
					t.Errorf("%s: %.60s: %+v", d.ID, in, w)
				}
			}
		}
	}
}

func TestListIsCounted(t *testing.T) {
	var tools []*toolpost.Tool
	for i := range 5 {
		tools = append(tools, defined(t, fmt.Sprintf(`{"name":"t%d","inputSchema":{"type":"object"}}`, i))) // 45 bytes
	}
	tests := []struct {
		limit    dialect.List
		fit      bool
		kept     int
		tokens   int
		findings string
		withheld string
	}{
		{dialect.List{}, true, 5, 60, "", ""},
		{dialect.List{Tools: 3}, false, 5, 60, "x/tool-count", ""},
		{dialect.List{Tools: 3}, true, 3, 36, "", "t3:x/tool-count t4:x/tool-count"},
		{dialect.List{Tokens: 59}, false, 5, 60, "x/token-count", ""},
		{dialect.List{Tokens: 59}, true, 4, 48, "", "t4:x/token-count"},
		{dialect.List{Tools: 4, Tokens: 24}, true, 2, 24, "", "t2:x/token-count t3:x/token-count t4:x/token-count"},
	}
	for _, test := range tests {
		a := dialect.Make("x", dialect.Form{List: test.limit}).Adapt(tools, &dialect.Options{Fit: test.fit})
		var findings, withheld []string
		for _, f := range a.Findings {
			findings = append(findings, f.Rule)
		}
		for _, w := range a.Withheld {
			withheld = append(withheld, w.Name+":"+w.Rule)
		}
		if len(a.Tools) != test.kept || a.Tokens != test.tokens ||
			strings.Join(findings, " ") != test.findings || strings.Join(withheld, " ") != test.withheld {
			t.Errorf("%+v fit %v: %d tools, %d tokens, findings %v, withheld %v", test.limit, test.fit, len(a.Tools), a.Tokens, findings, withheld)
		}
	}
}

// TestUnlisted adapts tools that are not listed: they do not count as listed, and are
// not withheld.
func TestUnlisted(t *testing.T) {
	var tools []*toolpost.Tool
	for i := range 4 {
		tool := defined(t, fmt.Sprintf(`{"name":"t%d","inputSchema":{"type":"object"}}`, i))
		tool.Policy.Unlisted = i%2 == 1
		tools = append(tools, tool)
	}
	a := dialect.Make("x", dialect.Form{List: dialect.List{Tools: 2}}).Adapt(tools, &dialect.Options{Fit: true})
	if len(a.Tools) != 4 || len(a.Findings) != 0 || a.Tokens != 2*dialect.Tokens(tools[0]) || !a.Tools[1].Policy.Unlisted {
		t.Errorf("%d tools of %d tokens, findings %v, withheld %v", len(a.Tools), a.Tokens, a.Findings, a.Withheld)
	}
}

func TestStrict(t *testing.T) {
	property := `{"name":"n%d","inputSchema":{"type":"object","properties":{%s},"required":[],"additionalProperties":false}}`
	var tools []*toolpost.Tool
	for i, properties := range []string{
		`"a":{"type":"string"},"b":{"type":"string"}`, // 2 optional
		`"a":{"type":"string"}`,
		``,
		`"a":{"type":"string"},"b":{"type":"string"},"c":{"type":"string"}`,
		`"d":{"type":"string"}`,
	} {
		tools = append(tools, defined(t, fmt.Sprintf(property, i, properties)))
	}
	inexact := defined(t, `{"name":"inexact","inputSchema":{"type":"object","properties":{"a":{"type":"string","format":"x"}},"additionalProperties":false}}`)
	tests := []struct {
		strict *dialect.Strict
		want   string
		over   bool
	}{
		{nil, "", false},
		{&dialect.Strict{}, "n0 n1 n2 n3 n4", false},
		{&dialect.Strict{Optional: 7}, "n0 n1 n2 n3 n4", false},
		{&dialect.Strict{Optional: 6}, "n0 n1 n2 n4", true},
		{&dialect.Strict{Optional: 1}, "n1 n2", true},
		{&dialect.Strict{Tools: 2}, "n0 n1", true},
		{&dialect.Strict{Properties: 4}, "n0 n1 n2 n4", true},
	}
	for _, test := range tests {
		d := dialect.Make("x", dialect.Form{Strict: test.strict, Input: lower.Rules{Formats: map[string][]string{}}})
		a := d.Adapt(append(tools, inexact), nil)
		var got []string
		for _, tool := range a.Tools {
			if tool.Strict {
				got = append(got, tool.Name)
			}
		}
		if strings.Join(got, " ") != test.want || test.over != (len(a.Findings) == 1 && a.Findings[0].Rule == "x/strict-limits") {
			t.Errorf("%+v: strict are %v; findings %v; withheld %v", test.strict, got, a.Findings, a.Withheld)
		}
	}
}

// TestStrictSaysAllThatTheToolSays: what is lost anywhere in the definition
// counts.
func TestStrictSaysAllThatTheToolSays(t *testing.T) {
	d := dialect.Make("x", dialect.Form{Strict: &dialect.Strict{}, Name: plain, Text: dialect.Text{Max: 20, SchemaMax: 20, Forbid: "~"}, Output: dialect.Output{Drop: true}})
	long := strings.Repeat("Some words here. ", 10)
	for raw, want := range map[string]bool{
		`{"name":"n","inputSchema":{"type":"object"}}`:                                                                   true,
		`{"name":"A.b","inputSchema":{"type":"object"}}`:                                                                 true,
		`{"name":"n","description":"a~b","inputSchema":{"type":"object"}}`:                                               true,
		`{"name":"n","description":"` + long + `","inputSchema":{"type":"object"}}`:                                      false,
		`{"name":"n","inputSchema":{"type":"object","properties":{"a":{"type":"string","description":"` + long + `"}}}}`: false,
		`{"name":"n","inputSchema":{"type":"object"},"outputSchema":{"type":"object"}}`:                                  false,
	} {
		if got := d.Adapt([]*toolpost.Tool{defined(t, raw)}, nil).Tools[0]; got.Strict != want {
			t.Errorf("%s: strict %v, losses %v", raw, got.Strict, got.Losses)
		}
	}
}

// TestStrictRank: one large tool does not cost the others.
func TestStrictRank(t *testing.T) {
	object := func(n int) string {
		var properties, required []string
		for i := range n {
			properties = append(properties, fmt.Sprintf(`"p%d":{"type":"string"}`, i))
			required = append(required, fmt.Sprintf(`"p%d"`, i))
		}
		return `"inputSchema":{"type":"object","additionalProperties":false,"properties":{` + strings.Join(properties, ",") + `},"required":[` + strings.Join(required, ",") + `]}`
	}
	tools := []*toolpost.Tool{defined(t, `{"name":"large","description":"d",`+object(490)+`}`)}
	for i := range 20 {
		tools = append(tools, defined(t, fmt.Sprintf(`{"name":"small%d","description":"d",%s}`, i, object(2))))
	}
	d := dialect.Make("x", dialect.Form{Strict: &dialect.Strict{Properties: 500, Optional: 10}})
	for _, tool := range d.Adapt(tools, nil).Tools {
		if tool.Strict != (tool.Name != "large") {
			t.Errorf("%s: strict %v", tool.Name, tool.Strict)
		}
	}
}

// TestLayerAgain: a list that changes in one tool is the same as if all of it
// were adapted, and only that tool is.
func TestLayerAgain(t *testing.T) {
	d := dialect.Make("x", dialect.Form{
		Name:  dialect.Name{Pattern: "^[a-z_0-9]+$", Fold: "[a-z0-9_]"},
		Input: lower.Rules{Union: lower.Union{NoList: true}}, Strict: &dialect.Strict{Tools: 2},
	})
	tool := func(name, a string) *toolpost.Tool {
		return defined(t, `{"name":"`+name+`","inputSchema":{"type":"object","properties":{"a":{"type":["`+a+`","null"]}}}}`)
	}
	first, second, third := tool("a.b", "string"), tool("c", "integer"), tool("d", "number")
	var list []*toolpost.Tool
	var got *dialect.Adapted
	layer := d.Layer(toolpost.ToolsetFunc(func(context.Context) ([]*toolpost.Tool, error) { return list, nil }),
		&dialect.Options{Report: func(a *dialect.Adapted) { got = a }})
	before := map[*toolpost.Tool]*toolpost.Tool{}
	for i, step := range []struct {
		list []*toolpost.Tool
		kept int
	}{
		{[]*toolpost.Tool{first, second, third}, 0},
		{[]*toolpost.Tool{third, tool("c", "boolean"), first}, 2},
		{[]*toolpost.Tool{third, first}, 2},
		{[]*toolpost.Tool{first, tool("a_b", "string"), first}, 1}, // once it is the same, and once it has another name
	} {
		list = step.list
		if _, err := layer.Tools(t.Context()); err != nil {
			t.Fatal(err)
		}
		want, kept := d.Adapt(list, nil), 0
		for j, one := range got.Tools {
			fresh := want.Tools[j]
			if one.Name != fresh.Name || one.Original != fresh.Original || one.Strict != fresh.Strict || string(one.Input.Raw()) != string(fresh.Input.Raw()) {
				t.Errorf("step %d: %s %t, want %s %t", i, one.Name, one.Strict, fresh.Name, fresh.Strict)
			}
			if before[one.Original] == one.Tool {
				kept++
			}
		}
		if kept != step.kept || len(got.Tools) != len(want.Tools) {
			t.Errorf("step %d: %d of %d tools were kept, want %d", i, kept, len(got.Tools), step.kept)
		}
		for _, one := range got.Tools {
			before[one.Original] = one.Tool
		}
	}
}

func TestLayer(t *testing.T) {
	d := dialect.Make("x", dialect.Form{Name: plain, Input: lower.Rules{Root: lower.Root{OmitEmpty: true}}})
	var reported *dialect.Adapted
	opts := &dialect.Options{Report: func(a *dialect.Adapted) { reported = a }}
	tools := toolpost.Tools{defined(t, `{"name":"get.it","inputSchema":{"type":"object"}}`)}
	set, err := toolpost.NewSet(t.Context(), d.Layer(tools, opts))
	if err != nil {
		t.Fatal(err)
	}
	if reported == nil || reported.Dialect != d || len(reported.Tools) != 1 {
		t.Fatalf("reported %v", reported)
	}
	got, err := set.CallText(t.Context(), reported.Tools[0].Name, nil)
	if err != nil || got != "{}" {
		t.Errorf("got %q, %v", got, err)
	}
	broken := errors.New("broken")
	_, err = d.Layer(toolpost.ToolsetFunc(func(context.Context) ([]*toolpost.Tool, error) { return nil, broken }), nil).Tools(t.Context())
	if !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

// TestNoSchemaForNoArguments: some readers want none.
func TestNoSchemaForNoArguments(t *testing.T) {
	d := dialect.Make("x", dialect.Form{Input: lower.Rules{Root: lower.Root{OmitEmpty: true}}})
	tool := defined(t, `{"name":"n","inputSchema":{"type":"object"}}`)
	a := d.Adapt([]*toolpost.Tool{tool}, nil).Tools[0]
	if a.Input != nil || a.Original != tool {
		t.Errorf("got %+v", a.Tool)
	}
	if raw, err := a.MarshalJSON(); err != nil || string(raw) != `{"name":"n"}` {
		t.Errorf("got %s, %v", raw, err)
	}
}

// TestLayerOverCopies: tools that a layer below copies at each listing are not
// adapted again, and calls reach the copy.
func TestLayerOverCopies(t *testing.T) {
	d := dialect.Make("x", dialect.Form{Input: lower.Rules{Union: lower.Union{NoList: true}}})
	original := defined(t, `{"name":"a","inputSchema":{"type":"object","properties":{"a":{"type":["string","null"]}}}}`)
	listing := 0
	layer := d.Layer(toolpost.ToolsetFunc(func(context.Context) ([]*toolpost.Tool, error) {
		listing++
		c, answer := *original, fmt.Sprint("listing ", listing)
		c.Title = answer
		c.Handler = func(context.Context, *toolpost.Call) (*toolpost.Result, error) {
			return toolpost.TextResult(answer), nil
		}
		return []*toolpost.Tool{&c}, nil
	}), nil)
	var input *schema.Schema
	for _, want := range []string{"listing 1", "listing 2"} {
		tools, err := layer.Tools(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if input != nil && tools[0].Input != input {
			t.Error("the tool was adapted again")
		}
		input = tools[0].Input
		r, err := tools[0].Run(t.Context(), &toolpost.Call{Name: "a", Arguments: []byte(`{"a":"x"}`)})
		if err != nil || r.Parts()[0].Text != want || tools[0].Title != want {
			t.Errorf("%s: got %v, %v, title %q", want, r, err, tools[0].Title)
		}
	}
}
