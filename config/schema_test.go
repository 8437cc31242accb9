package config

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/tailscale/hujson"
	"golang.org/x/tools/txtar"
)

// schemaNode is what the tests read of the schema.
type schemaNode struct {
	Properties map[string]json.RawMessage
	Defs       map[string]*schemaNode `json:"$defs"`
}

// Every key that is read has a schema, and every key of the schema is read. A new
// key is added to toolpost.schema.json, to docs/configuration.md, and to the table
// that reads it.
func TestSchemaHasAllKeys(t *testing.T) {
	var root schemaNode
	if err := json.Unmarshal([]byte(JSONSchema()), &root); err != nil {
		t.Fatal(err)
	}
	compareKeys(t, "the file", slices.Sorted(maps.Keys(fileKeys)), root.Properties)
	server := slices.AppendSeq(knownKeys(), maps.Keys(ignoredKeys))
	slices.Sort(server)
	compareKeys(t, "a server", server, root.Defs["server"].Properties)
	compareKeys(t, "a profile", slices.Sorted(maps.Keys(profileKeys)), root.Defs["profile"].Properties)
}

func compareKeys(t *testing.T, of string, read []string, described map[string]json.RawMessage) {
	t.Helper()
	for _, name := range read {
		if described[name] == nil {
			t.Errorf("toolpost.schema.json does not describe the key %q of %s; add it, with a description and a type", name, of)
		}
	}
	for name := range described {
		if !slices.Contains(read, name) {
			t.Errorf("toolpost.schema.json describes the key %q of %s, which is not read; remove it, or add it to the table of keys", name, of)
		}
	}
}

func compiledSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	parsed, err := jsonschema.UnmarshalJSON(strings.NewReader(JSONSchema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("toolpost.schema.json", parsed); err != nil {
		t.Fatal(err)
	}
	compiled, err := c.Compile("toolpost.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return compiled
}

// instance reads JSON with comments; null is the same as absent.
func instance(t *testing.T, text string) any {
	t.Helper()
	plain, err := hujson.Standardize([]byte(text))
	if err != nil {
		t.Fatalf("%v:\n%s", err, text)
	}
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(string(plain)))
	if err != nil {
		t.Fatal(err)
	}
	return withoutNulls(v)
}

func withoutNulls(v any) any {
	if o, ok := v.(map[string]any); ok {
		maps.DeleteFunc(o, func(_ string, member any) bool { return member == nil })
		for name := range o {
			o[name] = withoutNulls(o[name])
		}
	}
	return v
}

// problemsOf returns the mistakes that the reader finds, with those of servers.
func problemsOf(text string) (all []Problem) {
	cfg, err := Parse("toolpost.json", []byte(text), func(string) (string, bool) { return "1", true })
	if invalid, ok := errors.AsType[*Error](err); ok {
		return invalid.Problems
	}
	for i := range cfg.Servers {
		if invalid, ok := errors.AsType[*Error](cfg.Servers[i].Err); ok {
			all = append(all, invalid.Problems...)
		}
	}
	return all
}

var fenced = regexp.MustCompile("(?s)```jsonc?\n(.*?)```")

// The schema accepts every file that is read without a mistake: those of the
// tests and those of the documentation.
func TestSchemaAcceptsFiles(t *testing.T) {
	schema, accepted := compiledSchema(t), 0
	check := func(name, text string) {
		if len(problemsOf(text)) > 0 {
			return
		}
		accepted++
		if err := schema.Validate(instance(t, text)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	paths, _ := filepath.Glob("testdata/config/*.txtar")
	for _, path := range paths {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range archive.Files {
			if f.Name == "toolpost.json" {
				check(path, string(f.Data))
			}
		}
	}
	for _, path := range []string{"../docs/configuration.md", "../README.md"} {
		doc, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range fenced.FindAllStringSubmatch(string(doc), -1) {
			check(path, m[1])
		}
	}
	if accepted < 12 {
		t.Errorf("only %d files were compared", accepted)
	}
}

// samples are values of every kind, and those that several keys want.
var samples = []string{
	`"text"`, `"30s"`, `"http://127.0.0.1:1"`, `5`, `5000`, `true`, `false`, `[]`, `["text"]`, `[5]`, `{}`,
	`{"a": "text"}`, `{"a": 5}`, `{"a": {}}`, `{"allow": ["a"]}`, `{"deny": "a"}`, `{"lines": 20}`, `[{"id": "a"}]`, `{"*": 2000}`, `{"*": false}`,
	`"always"`, `"per-session"`, `"allow"`, `"withhold"`, `"http"`,
}

// The schema and the reader agree on the kind of value that each key wants.
func TestSchemaAgreesOnKinds(t *testing.T) {
	schema := compiledSchema(t)
	try := func(key, sample, text string) {
		t.Helper()
		problems, invalid := problemsOf(text), schema.Validate(instance(t, text))
		wrongKind := slices.ContainsFunc(problems, func(p Problem) bool {
			return strings.Contains(p.Message, "; want ") && strings.Contains(p.Message, key) && regexp.MustCompile(` is (a|an) (string|number|boolean|array|object)`).MatchString(p.Message)
		})
		switch {
		case len(problems) == 0 && invalid != nil:
			t.Errorf("%s: %s is read, but the schema rejects it: %v", key, sample, invalid)
		case wrongKind && invalid == nil:
			t.Errorf("%s: the schema accepts %s, but the reader says: %s", key, sample, problems[0].Message)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(fileKeys)) {
		if name == "$schema" {
			continue // it is for editors; its value is not read
		}
		for _, sample := range samples {
			text := `{"mcpServers": {}, "` + name + `": ` + sample + `}`
			if name == "mcpServers" {
				text = `{"mcpServers": ` + sample + `}`
			}
			try(name, sample, text)
		}
	}
	for _, name := range knownKeys() {
		rest := `"command": "x"`
		if slices.Contains([]string{"command", "url", "serverUrl", "httpUrl"}, name) {
			rest = `"disabled": true`
		}
		for _, sample := range samples {
			try(name, sample, `{"mcpServers": {"a": {`+rest+`, "`+name+`": `+sample+`}}}`)
		}
	}
}
