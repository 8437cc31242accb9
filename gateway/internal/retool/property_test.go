package retool_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"github.com/toolpost/toolpost/config"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/gateway/internal/retool"
	"github.com/toolpost/toolpost/schema"
)

// echo returns a tool that answers with its arguments, and validates nothing, as
// the tools of servers do.
func echo(name, input string) *toolpost.Tool {
	return &toolpost.Tool{
		Definition: toolpost.Definition{Name: name, Input: schema.MustParse(input)},
		Handler: func(_ context.Context, call *toolpost.Call) (*toolpost.Result, error) {
			return toolpost.TextResult(call.Name + " " + string(call.Arguments)), nil
		},
		Policy: toolpost.Policy{SkipValidation: true},
	}
}

// received returns what the server gets of a call, or the error that the client
// gets.
func received(t *testing.T, tool *toolpost.Tool, arguments string) string {
	t.Helper()
	set, err := toolpost.NewSet(t.Context(), toolpost.Tools{tool})
	if err != nil {
		t.Fatal(err)
	}
	r, err := set.Call(t.Context(), &toolpost.Call{Name: tool.Name, Arguments: json.RawMessage(arguments)})
	if err != nil {
		t.Fatal(err)
	}
	text, _ := r.FirstText()
	return text
}

// A block of random changes: the server gets exactly the arguments that the block
// defines, under its own names, and the client's schema accepts what the client
// sends.
func TestCallsReachTheServerAsDefined(t *testing.T) {
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 1))
		const n = 6
		var properties, required []string
		var changes []config.ArgumentChange
		var sent, want, last []string
		names := r.Perm(n) // the client's names are the own ones of others
		renamed := r.IntN(2) == 0
		for i := range n {
			own, client := fmt.Sprintf("a%d", i), fmt.Sprintf("a%d", i)
			properties = append(properties, fmt.Sprintf(`%q:{"type":"integer"}`, own))
			must := r.IntN(2) == 0
			if must {
				required = append(required, fmt.Sprintf("%q", own))
			}
			c := config.ArgumentChange{Argument: own}
			if renamed {
				client = fmt.Sprintf("a%d", names[i])
				c.Name = client
			}
			filled := r.IntN(3) == 0
			if filled {
				c.Default = json.RawMessage(fmt.Sprint(100 + i))
			}
			c.Hide = r.IntN(3) == 0 && (filled || !must)
			changes = append(changes, c)
			given := !c.Hide && (must && !filled || r.IntN(2) == 0)
			switch {
			case given:
				sent = append(sent, fmt.Sprintf("%q:%d", client, i))
				want = append(want, fmt.Sprintf("%q:%d", own, i))
			case filled:
				last = append(last, fmt.Sprintf("%q:%d", own, 100+i))
			}
		}
		tool := echo("t", fmt.Sprintf(`{"type":"object","properties":{%s},"required":[%s],"additionalProperties":false}`, strings.Join(properties, ","), strings.Join(required, ",")))
		tools, findings := retool.New(config.ToolChanges{Tools: []config.ToolChange{{Tool: "t", Name: "u", Arguments: changes}}}).Apply([]*toolpost.Tool{tool}, true)
		if len(findings) > 0 {
			t.Fatalf("seed %d: %v", seed, findings)
		}
		arguments := "{" + strings.Join(sent, ",") + "}"
		if err := tools[0].Input.Validate([]byte(arguments)); err != nil {
			t.Errorf("seed %d: the client's schema %s refuses %s: %v", seed, tools[0].Input.Raw(), arguments, err)
		}
		got := received(t, tools[0], arguments)
		if expected := "t {" + strings.Join(slices.Concat(want, last), ",") + "}"; got != expected {
			t.Errorf("seed %d: the server gets %s, want %s", seed, got, expected)
		}
		if err := tool.Input.Validate([]byte(strings.TrimPrefix(got, "t "))); err != nil {
			t.Errorf("seed %d: the server refuses %s: %v", seed, got, err)
		}
	}
}

// Whatever the schema and the arguments are, nothing panics, the schema stays
// JSON, and a hidden argument has its value.
func FuzzChange(f *testing.F) {
	f.Add(`{"type":"object","properties":{"q":{},"repo":{"$ref":"#/$defs/r"}},"required":["q","repo"],"$defs":{"r":{"type":"string"}}}`, `{"query":"x"}`)
	f.Add(`{"$ref":"#/$defs/a","$defs":{"a":{"properties":{"q":true},"allOf":[{"$ref":"#/$defs/a"}]}}}`, `{"q":1,"Repo":2}`)
	f.Add(`{"anyOf":[{"required":["repo"]},{"$ref":"#/properties/q"}],"properties":{"q":{"properties":{"repo":{}}},"repo":{}}}`, `[]`)
	f.Fuzz(func(t *testing.T, input, arguments string) {
		s, err := schema.Parse([]byte(input))
		if err != nil || len(input) > 1<<12 {
			return
		}
		tool := echo("t", `{}`)
		tool.Input = s
		block := config.ToolChanges{Tools: []config.ToolChange{{Tool: "t", Arguments: []config.ArgumentChange{
			{Argument: "q", Name: "query"}, {Argument: "repo", Hide: true, Default: json.RawMessage(`"fixed"`)},
		}}}}
		tools, _ := retool.New(block).Apply([]*toolpost.Tool{tool}, true)
		if !json.Valid(tools[0].Input.Raw()) {
			t.Fatalf("%s became %s", input, tools[0].Input.Raw())
		}
		hidden := !slices.Contains(declaredNames(tools[0]), "repo") && slices.Contains(declaredNames(tool), "repo")
		got := []byte(received(t, tools[0], arguments))
		if object := bytes.TrimPrefix(got, []byte("t ")); hidden && bytes.HasPrefix(object, []byte("{")) && json.Valid([]byte(arguments)) {
			var values struct{ Repo string }
			if json.Unmarshal(object, &values) == nil && values.Repo != "fixed" {
				t.Errorf("%s: the server gets %s", arguments, object)
			}
		}
	})
}

// declaredNames returns the properties of the root of a schema.
func declaredNames(tool *toolpost.Tool) (names []string) {
	var root struct{ Properties map[string]json.RawMessage }
	_ = json.Unmarshal(tool.Input.Raw(), &root) // a boolean has none
	for name := range root.Properties {
		names = append(names, name)
	}
	return names
}
