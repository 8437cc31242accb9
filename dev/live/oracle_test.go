//go:build unix

package live

import (
	"bytes"
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/dev/accept"
	"github.com/toolpost/toolpost/schema"
	"github.com/toolpost/toolpost/schema/dialect"
)

// oracle gives lines to a script of testdata, and returns those that it writes.
func oracle(t *testing.T, lines [][]byte, file string, libraries ...string) [][]byte {
	t.Helper()
	file, err := filepath.Abs(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*patience)
	defer cancel()
	var stderr bytes.Buffer
	cmd := command(ctx, t, nil, node(t), append([]string{file}, libraries...)...)
	cmd.Stdin, cmd.Stderr = bytes.NewReader(append(bytes.Join(lines, []byte("\n")), '\n')), &stderr
	stdout, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", file, err, tail(stderr.String(), 40))
	}
	return bytes.Split(bytes.TrimSpace(stdout), []byte("\n"))
}

// takes returns a tool that takes arguments of a schema.
func takes(t *testing.T, name string, raw json.RawMessage) *toolpost.Tool {
	t.Helper()
	input, err := schema.Parse(raw)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return &toolpost.Tool{Definition: toolpost.Definition{Name: name, Input: input}}
}

// corpus returns a tool for each schema of package accept.
func corpus(t *testing.T) []*toolpost.Tool {
	var all []*toolpost.Tool
	for _, r := range accept.InputSchemas() {
		if _, err := schema.Parse(r.Schema); err != nil && strings.HasPrefix(r.Name, "hostile_") {
			continue
		}
		all = append(all, takes(t, r.Name, r.Schema))
	}
	return all
}

// adapted is the whole corpus as one reader gets it, one line for each schema.
func adapted(t *testing.T, id string, tools []*toolpost.Tool) (kept []*dialect.Tool, lines [][]byte) {
	t.Helper()
	d, err := dialect.Find(id)
	if err != nil {
		t.Fatal(err)
	}
	a := d.Adapt(tools, nil)
	for _, tool := range a.Tools {
		if tool.Input == nil {
			continue
		}
		var line bytes.Buffer
		if err := json.Compact(&line, tool.Input.Raw()); err != nil {
			t.Fatal(err)
		}
		kept, lines = append(kept, tool), append(lines, line.Bytes())
	}
	for _, w := range a.Withheld {
		t.Logf("withheld %s: %s: %s", w.Name, w.Rule, w.Why)
	}
	if len(a.Withheld) > len(tools)/20 {
		t.Errorf("%d of %d are withheld", len(a.Withheld), len(tools))
	}
	return kept, lines
}

// TestOpenAIStrict says that the transformer in OpenAI's own library, which
// refuses what strict mode does not take, finds nothing to change in what the
// dialect writes.
func TestOpenAIStrict(t *testing.T) {
	t.Parallel()
	peer(t, "openai", "", ".")
	tools, lines := adapted(t, "openai-strict", corpus(t))
	lines = append(lines,
		[]byte(`{"type":"object","properties":{"a":{"type":"string"}}}`),
		[]byte(`{"type":"object","properties":{"a":{"type":"array","uniqueItems":true}},"required":["a"]}`))
	for _, version := range []string{"6", "7"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			out := oracle(t, lines, "strict.mjs", peer(t, "openai", version, "."))
			if len(out) != len(lines) {
				t.Fatalf("%d answers to %d schemas", len(out), len(lines))
			}
			for i, line := range lines {
				var answer struct {
					Schema json.RawMessage
					Error  string
				}
				if err := json.Unmarshal(out[i], &answer); err != nil {
					t.Fatal(err)
				}
				switch {
				case i >= len(tools) && answer.Error == "":
					t.Errorf("not strict, and not refused: %s", line)
				case i >= len(tools):
				case answer.Error != "":
					t.Errorf("%s: %s\n\tbefore %.600s\n\tafter  %.600s", tools[i].Original.Name, answer.Error, tools[i].Original.Input.Raw(), line)
				case !same(t, answer.Schema, line):
					t.Errorf("%s: changed\n\tbefore %.600s\n\tafter  %.600s\n\ttheirs %.600s", tools[i].Original.Name, tools[i].Original.Input.Raw(), line, answer.Schema)
				}
			}
			t.Logf("%d schemas", len(tools))
		})
	}
}

// same compares schemas or values as JavaScript has them, where numbers are
// float64. What is required is a set, and a default of null says nothing.
func same(t *testing.T, a, b json.RawMessage) bool {
	t.Helper()
	var values [2]any
	for i, raw := range []json.RawMessage{a, b} {
		if err := json.Unmarshal(raw, &values[i]); err != nil {
			t.Fatalf("%v in %.200s", err, raw)
		}
		normalise(values[i])
	}
	return marshal(values[0]) == marshal(values[1])
}

func normalise(v any) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			normalise(item)
		}
	case object:
		for _, member := range v {
			normalise(member)
		}
		if d, ok := v["default"]; ok && d == nil {
			delete(v, "default")
		}
		if required, ok := v["required"].([]any); ok {
			slices.SortFunc(required, func(a, b any) int { return strings.Compare(marshal(a), marshal(b)) })
			if len(required) == 0 {
				delete(v, "required")
			}
		}
	}
}
