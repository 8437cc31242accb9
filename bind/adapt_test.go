package bind_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/bind"
	"github.com/toolpost/toolpost/dep"
	"github.com/toolpost/toolpost/schema"
)

// call adapts v and calls it through a Set.
func callAdapted(t *testing.T, v any, arguments string) *toolpost.Result {
	t.Helper()
	tool, err := bind.Adapt(v)
	if err != nil {
		t.Fatal(err)
	}
	set, err := toolpost.NewSet(t.Context(), toolpost.Tools{tool})
	if err != nil {
		t.Fatal(err)
	}
	r, err := set.Call(t.Context(), &toolpost.Call{Name: tool.Name, Arguments: json.RawMessage(arguments)})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func wire(t *testing.T, r *toolpost.Result) string {
	t.Helper()
	raw, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// named has what every tool has but a schema and a function.
type named struct{ Name, Description string }

const aSchema = `{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"]}`

// Three ways to have a schema, and a fourth that comes after them.
type (
	schemaFirst  struct{ named }
	schemaSecond struct{ named }
	schemaThird  struct{ named }
	schemaFourth struct {
		named
		InputSchema map[string]any
	}
	functionSchema struct{ schema any }
	definition     struct{ schema any }
)

func (schemaFirst) ParametersJSONSchema() json.RawMessage          { return json.RawMessage(aSchema) }
func (schemaFirst) FunctionSchema() functionSchema                 { return functionSchema{`{"type":"object"}`} }
func (schemaFirst) Call(_ context.Context, r json.RawMessage) any  { return string(r) }
func (schemaSecond) FunctionSchema() *functionSchema               { return &functionSchema{[]byte(aSchema)} }
func (schemaSecond) Definition() definition                        { return definition{`{"type":"object"}`} }
func (schemaSecond) Call(_ context.Context, r json.RawMessage) any { return string(r) }
func (schemaThird) ParametersJSONSchema() json.RawMessage          { return nil } // none here
func (schemaThird) Definition() (definition, error) {
	return definition{schema.MustParse(aSchema)}, nil
}
func (schemaThird) Call(_ context.Context, r json.RawMessage) any  { return string(r) }
func (schemaFourth) Call(_ context.Context, r json.RawMessage) any { return string(r) }
func (f functionSchema) JSONSchema() any                           { return f.schema }
func (d definition) ParametersJSONSchema() (any, error)            { return d.schema, nil }

func TestAdaptSchemaPatterns(t *testing.T) {
	n := named{"tool", "Does it."}
	var m map[string]any
	if err := json.Unmarshal([]byte(aSchema), &m); err != nil {
		t.Fatal(err)
	}
	for name, v := range map[string]any{
		"first": schemaFirst{n}, "second": &schemaSecond{n}, "third": schemaThird{n}, "fourth": schemaFourth{n, m},
	} {
		tool, err := bind.Adapt(v)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var got map[string]any
		if err := json.Unmarshal(tool.Input.Raw(), &got); err != nil || !cmp.Equal(got, m) {
			t.Errorf("%s: schema %s, %v", name, tool.Input.Raw(), err)
		}
		if tool.Name != "tool" || tool.Description != "Does it." {
			t.Errorf("%s: got %q, %q", name, tool.Name, tool.Description)
		}
		if r := callAdapted(t, v, `{"a":9007199254740993}`); wire(t, r) != `{"content":[{"type":"text","text":"{\"a\":9007199254740993}"}]}` {
			t.Errorf("%s: result %s", name, wire(t, r))
		}
		if r := callAdapted(t, v, `{"a":"x"}`); !r.IsError() || r.Outcome() != toolpost.Retry {
			t.Errorf("%s: wrong arguments gave %s", name, wire(t, r))
		}
	}
}

// A chain is the shape of a langchaingo tool.
type chain struct{}

func (chain) Name() string        { return "shout" }
func (chain) Description() string { return "Says it loudly." }
func (chain) Call(_ context.Context, input string) (string, error) {
	if input == "" {
		return "", errors.New("nothing to say")
	}
	return strings.ToUpper(input), nil
}

func TestAdaptTextTool(t *testing.T) {
	if got := wire(t, callAdapted(t, chain{}, `{"input":"hé"}`)); got != `{"content":[{"type":"text","text":"HÉ"}]}` {
		t.Errorf("got %s", got)
	}
	if r := callAdapted(t, chain{}, `{"input":""}`); !r.IsError() {
		t.Errorf("got %s", wire(t, r))
	}
	if r := callAdapted(t, chain{}, `{}`); r.Outcome() != toolpost.Retry {
		t.Errorf("got %s", wire(t, r))
	}
}

// An invokable is the shape of an eino tool.
type invokable struct{}

type (
	info struct {
		Name, Desc string
		*oneOf
		ParamsOneOf *oneOf
	}
	oneOf struct{}
)

func (*oneOf) ToJSONSchema() (any, error) { return json.RawMessage(aSchema), nil }
func (invokable) Info(context.Context) (*info, error) {
	return &info{Name: "run", Desc: "Runs.", ParamsOneOf: &oneOf{}}, nil
}
func (invokable) InvokableRun(_ context.Context, arguments string, _ ...func()) (string, error) {
	return arguments, nil
}

func TestAdaptJSONTextTool(t *testing.T) {
	if got := wire(t, callAdapted(t, invokable{}, `{"a":1}`)); got != `{"content":[{"type":"text","text":"{\"a\":1}"}]}` {
		t.Errorf("got %s", got)
	}
}

// A record is a tool as plain data.
type record struct {
	Name, Description string
	Parameters        any
	Function          any
}

type sum struct {
	A int `json:"a"`
	B int `json:"b,omitempty"`
}

func TestAdaptFunctions(t *testing.T) {
	type word string
	object := map[string]any{"type": "object"}
	tests := map[string]struct {
		parameters, function any
		want                 string
	}{
		"typed, context":    {nil, func(_ context.Context, in sum) (int, error) { return in.A + in.B, nil }, `{"content":[{"type":"text","text":"3"}],"structuredContent":3}`},
		"typed, no context": {nil, func(in *sum) int { return in.A + in.B }, `{"content":[{"type":"text","text":"3"}],"structuredContent":3}`},
		"nothing":           {nil, func() {}, `{"content":[{"type":"text","text":""}]}`},
		"error only":        {nil, func(context.Context) error { return nil }, `{"content":[{"type":"text","text":""}]}`},
		"failure":           {nil, func() error { return errors.New("no luck") }, `{"content":[{"type":"text","text":"no luck"}],"isError":true}`},
		"failure and value": {nil, func() (string, error) { return "x", errors.New("no luck") }, `{"content":[{"type":"text","text":"no luck"}],"isError":true}`},
		"bytes":             {object, func(raw []byte) string { return string(raw) }, `{"content":[{"type":"text","text":"{\"a\":1,\"b\":2}"}]}`},
		"any":               {object, func(_ context.Context, in any) (any, error) { return in, nil }, `{"content":[{"type":"text","text":"{\"a\":1,\"b\":2}"}],"structuredContent":{"a":1,"b":2}}`},
		"map":               {object, func(in map[string]int) map[string]int { return in }, `{"content":[{"type":"text","text":"{\"a\":1,\"b\":2}"}],"structuredContent":{"a":1,"b":2}}`},
		"named text":        {object, func(in word) word { return in }, `{"content":[{"type":"text","text":"{\"a\":1,\"b\":2}"}]}`},
		"handler": {object, toolpost.Handler(func(_ context.Context, c *toolpost.Call) (*toolpost.Result, error) {
			return toolpost.TextResult(c.Name), nil
		}), `{"content":[{"type":"text","text":"x"}]}`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			v := record{"x", "", test.parameters, test.function}
			if got := wire(t, callAdapted(t, &v, `{"a":1,"b":2}`)); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestAdaptResults(t *testing.T) {
	const blocks = `{"content":[{"type":"text","text":"a","annotations":{"priority":1}},{"type":"image","data":"AA==","mimeType":"image/png"},` +
		`{"type":"resource","resource":{"uri":"x:y","text":"z"}},{"type":"resource_link","uri":"x:y","name":"n","size":1}]}`
	done := `{"content":[{"type":"text","text":"done"},{"type":"x-new","n":1}],"isError":true,"_meta":{"k":1}}`
	tests := map[string]struct {
		value any
		want  string
	}{
		"text":              {"hello", `{"content":[{"type":"text","text":"hello"}]}`},
		"map":               {map[string]any{"a": 1}, `{"content":[{"type":"text","text":"{\"a\":1}"}],"structuredContent":{"a":1}}`},
		"MCP already":       {json.RawMessage(done), done},
		"MCP in a map":      {map[string]any{"content": []any{map[string]any{"type": "text", "text": "a"}}}, `{"content":[{"text":"a","type":"text"}]}`},
		"MCP empty":         {map[string]any{"content": []any{}}, `{"content":[]}`},
		"MCP with output":   {json.RawMessage(`{"content":[],"structuredContent":{"a":1},"resultType":"complete"}`), `{"content":[],"structuredContent":{"a":1},"resultType":"complete"}`},
		"MCP blocks":        {json.RawMessage(blocks), blocks},
		"content of others": {map[string]any{"content": []any{"a"}}, `{"content":[{"type":"text","text":"{\"content\":[\"a\"]}"}],"structuredContent":{"content":["a"]}}`},
		"content a text":    {map[string]any{"content": "a"}, `{"content":[{"type":"text","text":"{\"content\":\"a\"}"}],"structuredContent":{"content":"a"}}`},
		"nil":               {nil, `{"content":[{"type":"text","text":""}]}`},
		"nil pointer":       {(*sum)(nil), `{"content":[{"type":"text","text":""}]}`},
		"nil result":        {(*toolpost.Result)(nil), `{"content":[{"type":"text","text":""}]}`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			v := record{Name: "x", Function: func() any { return test.value }}
			if got := wire(t, callAdapted(t, v, ``)); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
			typed := toolpost.New("x", "", func(context.Context, struct{}) (any, error) { return test.value, nil }, nil)
			if got := wire(t, callAdapted(t, typed, ``)); got != test.want {
				t.Errorf("by New: got  %s\nwant %s", got, test.want)
			}
		})
	}
}

// TestAdaptDocuments: what looks like an MCP result, and is more, is data.
func TestAdaptDocuments(t *testing.T) {
	for _, document := range []string{
		`{"title":"t","content":[{"type":"paragraph","text":"p"}]}`,
		`{"title":"t","content":[{"type":"text","text":"p"}]}`,
		`{"title":"t","content":[]}`,
		`{"content":[{"type":"paragraph","text":"p"}]}`,
		`{"content":[{"type":"text","value":"p"}]}`,
		`{"content":[{"type":"text","text":"p","marks":["bold"]}]}`,
		`{"content":[{"type":"text","text":["p"]}]}`,
		`{"content":[{"type":"resource","resource":7}]}`,
		`{"content":[{"type":7}],"isError":true}`,
		`{"content":[{}],"isError":true}`,
		`{"content":[],"isError":"no"}`,
		`{"content":null,"isError":true}`,
		`{"content":{"type":"text"}}`,
		`{"isError":true,"note":"content"}`,
	} {
		v := record{Name: "x", Function: func() any { return json.RawMessage(document) }}
		r := callAdapted(t, v, ``)
		if text, _ := r.FirstText(); text != document || r.IsError() {
			t.Errorf("%s is sent as %s", document, wire(t, r))
		}
	}
}

func TestAdaptRefuses(t *testing.T) {
	f := func() {}
	handler := func(context.Context, *toolpost.Call) (*toolpost.Result, error) { return nil, nil }
	object := schema.MustParse(`{"type":"object"}`)
	unbound := bind.New("x", "", func(context.Context, *bind.Context[int], struct{}) (string, error) { return "", nil }, nil)
	for name, test := range map[string]struct {
		value any
		field string
		text  string
	}{
		"nil":                   {nil, "name", "empty"},
		"a number":              {7, "name", "empty"},
		"empty name":            {record{Function: f}, "name", "empty"},
		"no function":           {record{Name: "x"}, "function", "there is none"},
		"nil function":          {record{Name: "x", Function: (func())(nil)}, "function", "there is none"},
		"two arguments":         {record{Name: "x", Function: func(a, b int) {}}, "function", "Function has the type func(int, int)"},
		"three results":         {record{Name: "x", Function: func() (a, b, c error) { return }}, "function", "it may take"},
		"no schema":             {record{Name: "x", Function: func(json.RawMessage) {}}, "schema", "there is none"},
		"no schema, a map":      {record{Name: "x", Function: func(map[string]any) {}}, "schema", "there is none"},
		"schema a list":         {record{Name: "x", Parameters: []string{"a"}, Function: f}, "schema", "want a JSON object"},
		"schema a text":         {record{Name: "x", Parameters: `"object"`, Function: f}, "schema", "want a JSON object"},
		"schema of arrays":      {record{Name: "x", Parameters: `{"type":"array"}`, Function: f}, "schema", `its type is "array"`},
		"schema not encodable":  {record{Name: "x", Parameters: func() {}, Function: f}, "schema", "func()"},
		"schema broken":         {record{Name: "x", Parameters: `{"type":`, Function: f}, "schema", ""},
		"own tool, nil":         {(*toolpost.Tool)(nil), "name", "empty"},
		"own tool, no name":     {&toolpost.Tool{Handler: handler}, "name", "empty"},
		"own tool, no handler":  {&toolpost.Tool{Definition: toolpost.Definition{Name: "x", Input: object}}, "function", "there is none"},
		"own tool, no schema":   {&toolpost.Tool{Definition: toolpost.Definition{Name: "x"}, Handler: handler}, "schema", "there is none"},
		"own tool, list schema": {&toolpost.Tool{Definition: toolpost.Definition{Name: "x", Input: schema.MustParse(`{"type":"array"}`)}, Handler: handler}, "schema", `its type is "array"`},
		"without dependencies":  {unbound, "function", "Bind"},
		"failing name":          {failing{}, "name", "no name today"},
		"panicking":             {panicking{}, "value", "oh"},
	} {
		t.Run(name, func(t *testing.T) {
			tool, err := bind.Adapt(test.value)
			var invalid *toolpost.ToolValidationError
			if tool != nil || !errors.As(err, &invalid) {
				t.Fatalf("got %v, %v", tool, err)
			}
			if invalid.Field != test.field || !strings.Contains(err.Error(), test.text) {
				t.Errorf("got %q: %v", invalid.Field, err)
			}
		})
	}
}

type failing struct{}

func (failing) Name() (string, error) { return "", errors.New("no name today") }

type panicking struct{}

func (panicking) Name() string { panic("oh") }

func TestAdaptTakesAToolAsItIs(t *testing.T) {
	tool := toolpost.New("x", "", func(context.Context, struct{}) (string, error) { return "", nil }, nil)
	if got, err := bind.Adapt(tool); got != tool || err != nil {
		t.Errorf("got %v, %v", got, err)
	}
}

// TestHandlerThatIgnoresItsContext shows that the caller is free when its
// context ends, whatever the handler does.
func TestHandlerThatIgnoresItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		defer close(release)
		deaf, err := bind.Adapt(record{Name: "deaf", Function: func() { <-release }})
		if err != nil {
			t.Fatal(err)
		}
		patient := toolpost.New("patient", "", func(context.Context, struct{}) (string, error) {
			<-release
			return "", nil
		}, &toolpost.Options{Policy: toolpost.Policy{Timeout: time.Hour}})
		set, err := toolpost.NewSet(t.Context(), toolpost.Tools{deaf, patient})
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"deaf", "patient"} {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			_, err := set.Call(ctx, &toolpost.Call{Name: name})
			cancel()
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: got %v", name, err)
			}
		}
	})
}

func TestAdaptedPanic(t *testing.T) {
	for name, f := range map[string]any{
		"without context": func() { panic("secret") }, "with context": func(context.Context) { panic("secret") },
	} {
		ctx := dep.Logger.With(t.Context(), slog.New(slog.DiscardHandler))
		tool, err := bind.Adapt(record{Name: "x", Function: f})
		if err != nil {
			t.Fatal(err)
		}
		set, err := toolpost.NewSet(ctx, toolpost.Tools{tool})
		if err != nil {
			t.Fatal(err)
		}
		r, err := set.Call(ctx, &toolpost.Call{Name: "x"})
		if err != nil || !r.IsError() {
			t.Fatalf("%s: got %v, %v", name, r, err)
		}
		if text, _ := r.FirstText(); !strings.Contains(text, "internal error in x") || strings.Contains(text, "secret") {
			t.Errorf("%s: got %q", name, text)
		}
	}
}

func TestReturnErrors(t *testing.T) {
	broken := errors.New("disk full")
	give := func(err error) *toolpost.Tool {
		return toolpost.New("x", "", func(context.Context, struct{}) (string, error) { return "", err }, nil)
	}
	log := new(strings.Builder)
	ctx := dep.Logger.With(t.Context(), slog.New(slog.NewTextHandler(log, nil)))
	call := func(tools toolpost.Toolset) (*toolpost.Result, error) {
		set, err := toolpost.NewSet(ctx, tools)
		if err != nil {
			t.Fatal(err)
		}
		return set.Call(ctx, &toolpost.Call{Name: "x"})
	}
	if r, err := call(toolpost.Tools{give(broken)}); err != nil || !r.IsError() || log.Len() > 0 {
		t.Errorf("as it is: %v, %v, log %q", r, err, log)
	}
	var protocol *toolpost.ProtocolError
	r, err := call(toolpost.Map(toolpost.Tools{give(broken)}, (*toolpost.Tool).ReturnErrors))
	if r != nil || !errors.As(err, &protocol) || protocol.Message != "disk full" || protocol.Code != -32603 {
		t.Errorf("returned: %v, %v", r, err)
	}
	if !strings.Contains(log.String(), "disk full") {
		t.Errorf("log: %q", log)
	}
	r, err = call(toolpost.Map(toolpost.Tools{give(toolpost.Retry.Errorf("use a"))}, (*toolpost.Tool).ReturnErrors))
	if err != nil || r.Outcome() != toolpost.Retry {
		t.Errorf("an outcome: %v, %v", r, err)
	}
}
