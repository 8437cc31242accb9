package extension_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/toolpost/toolpost/internal/extension"
	"github.com/toolpost/toolpost/internal/wire"
)

func TestMethod(t *testing.T) {
	for _, name := range []string{"skills/list", "tasks/get", "resources/directory/read", "com.example/x:y", "x", "Acme/doIt", "toolsets/list", "pingpong"} {
		if !extension.Method(name) {
			t.Errorf("%q is refused", name)
		}
	}
	for _, name := range []string{
		"", "tools", "tools/call", "Tools/Call", "tools.call", "tools:call", "/tools/call", "x//y", "x/", "./tools/call", "x/../tools/call", "ping", "initialize",
		"server/discover", "rpc.discover", ".tools/call", "io.modelcontextprotocol/tools/call", "notifications/x", "resources/read", "RESOURCES/READ", "resources/templates/list", "resources", "resources.read", "Resources:Read", "resources/read.", "resources..templates/list", "resources.", "x y", "x\n", "x\u200b", "é", strings.Repeat("x", 129),
	} {
		if extension.Method(name) {
			t.Errorf("%q passes", name)
		}
	}
}

func TestNotification(t *testing.T) {
	for name, want := range map[string]bool{
		"notifications/tasks/status": true, "notifications/x": true, "x/changed": true,
		"notifications/cancelled": false, "notifications/Progress": false, "notifications/tools/list_changed": false, "notifications/resources/updated": false, "notifications/roots/list_changed": false,
	} {
		if extension.Notification(name) != want {
			t.Errorf("%q: want %v", name, want)
		}
	}
}

func TestDeclared(t *testing.T) {
	many := make([]string, 2000)
	for i := range many {
		many[i] = fmt.Sprintf(`"x%d":{}`, i)
	}
	for raw, want := range map[string]string{
		`{"tools":{},"prompts":{}}`:                                                              "",
		`{"x": { "n":1.0} , "extensions":{"a/b":{ }}}`:                                           `{"x": { "n":1.0} , "extensions":{"a/b":{ }}}`,
		`{"tools":{},"x": 1.0,"experimental":{},"extensions":7}`:                                 `{"x": 1.0}`,
		`{"extensions":{"a\u001b[31m":{},"b":{},"":{},"c d":{},"\u202ee":{}}}`:                   `{"extensions":{"b":{}}}`,
		`{"Tools":7,"RESOURCES":{},"Extensions":{"x":{}},"tAsks":{"list":{}},"x":{}}`:            `{"x":{}}`,
		`{"extensions":{"a":true,"b":{"n":[1]}},"experimental":{"a":1}}`:                         `{"extensions":{"b":{"n":[1]}}}`,
		`{"tasks":{"list":true,"List":1,"requests":{"tools":{"call":{"x":1}},"y":[]}},"a":null}`: `{"tasks":{"requests":{"tools":{"call":{}}}},"a":null}`,
		`{"tasks":true}`:      "",
		`{"x":{},"x":{}}`:     "",
		"{\"x\":\"\xff\"}":    "",
		`{"x":{"a":1,"a":2}}`: "",
		`[1]`:                 "",
		``:                    "",
		`{"x":`:               "",
		`{"x":` + strings.Repeat("[", 1000) + strings.Repeat("]", 1000) + `}`: "",
		`{"x":"` + strings.Repeat("y", 20_000) + `"}`:                         "",
		`{` + strings.Join(many, ",") + `}`:                                   "",
	} {
		if got := extension.Declared(json.RawMessage(raw)); string(got) != want {
			t.Errorf("%.100s: got %s, want %s", raw, got, want)
		}
	}
}

func TestOf(t *testing.T) {
	declared := json.RawMessage(`{"tasks":{},"experimental":{"acme.odd":{}},"extensions":{"io.modelcontextprotocol/skills":{},"com.example/Both":{}}}`)
	for method, want := range map[string]bool{
		"tasks/get": true, "TASKS/get": true, "skills/list": true, "resources/directory/read": true, "odd/x": true, "both/x": true, "com.example/Both/x": true, "notifications/tasks/status": true,
		"ui/x": false, "task/get": false, "io.modelcontextprotocol/x": false, "example/x": false,
	} {
		if extension.Of(method, declared) != want {
			t.Errorf("%s: want %v", method, want)
		}
	}
}

// What is declared can be merged, is valid JSON, and declares nothing of MCP's own.
func FuzzDeclared(f *testing.F) {
	f.Add([]byte(`{"":0 }}`), []byte(`{}`))
	f.Add([]byte(`{"x": { "n":1.0} , "extensions":{"a/b":{ }},"tools":{}}`), []byte(`{"x":{"m":[]},"tasks":{"list":{}}}`))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		one, other := extension.Declared(a), extension.Declared(b)
		both := extension.Merge(one, other)
		if both == nil {
			return
		}
		if !json.Valid(both) || wire.Get(both, "tools") != nil {
			t.Errorf("got %s", both)
		}
		if string(extension.Merge(both, other)) != string(both) {
			t.Errorf("%s with %s becomes another", both, other)
		}
		for name := range extension.Names(both) {
			if strings.ContainsAny(name, "\n\x1b ") {
				t.Errorf("name %q", name)
			}
		}
		extension.Keep(both, func(string) bool { return false })
	})
}
