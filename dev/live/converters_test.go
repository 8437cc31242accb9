//go:build unix

package live

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestConverters gives what a dialect writes to the converter of the provider's own
// Python SDK. A converter that refuses or changes it disagrees with the dialect about
// what the API takes.
func TestConverters(t *testing.T) {
	t.Parallel()
	python := pythonOf(t, "google-genai")
	for _, c := range []struct{ dialect, converter string }{
		{"openai-strict", "openai"},
		{"anthropic-strict", "anthropic"},
		{"gemini", "gemini"},
		{"gemini-schema", "gemini-schema"},
	} {
		t.Run(c.dialect, func(t *testing.T) {
			t.Parallel()
			tools, lines := adapted(t, c.dialect, corpus(t))
			answers := convertWith(t, python, c.converter, lines)
			if len(answers) != len(lines) {
				t.Fatalf("%d answers to %d schemas", len(answers), len(lines))
			}
			unreadable := 0
			for i, line := range lines {
				var answer struct {
					Schema json.RawMessage
					Error  string
				}
				if err := json.Unmarshal(answers[i], &answer); err != nil {
					t.Fatal(err)
				}
				name := tools[i].Original.Name
				switch {
				case answer.Error != "" && c.converter == "anthropic" && hasTypeList(t, line):
					unreadable++ // the API takes a list of types, and the converter does not
				case answer.Error != "":
					t.Errorf("%s: %s\n\t%.600s", name, answer.Error, line)
				default:
					if where := disagreement(t, c.converter, line, answer.Schema); where != "" {
						t.Errorf("%s: changed at %s\n\tours   %.600s\n\ttheirs %.600s", name, where, line, answer.Schema)
					}
				}
			}
			t.Logf("%d schemas, %d with lists of types that the converter cannot read", len(lines), unreadable)
		})
	}
}

// convertWith gives schemas, one a line, to a converter of testdata/converters.py.
func convertWith(t *testing.T, python, converter string, lines [][]byte) [][]byte {
	t.Helper()
	file, err := filepath.Abs(filepath.Join("testdata", "converters.py"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*patience)
	defer cancel()
	var stderr bytes.Buffer
	cmd := command(ctx, t, nil, python, file, converter)
	cmd.Stdin, cmd.Stderr = bytes.NewReader(append(bytes.Join(lines, []byte("\n")), '\n')), &stderr
	stdout, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, tail(stderr.String(), 40))
	}
	return bytes.Split(bytes.TrimSpace(stdout), []byte("\n"))
}

// moved are the keywords that Anthropic's converter states in descriptions though
// the API takes them in strict tools.
var moved = []string{"default", "pattern"}

// disagreement returns the pointer of the first change that a converter made, and
// "" if there is none. Anthropic's may move keywords into the description, and adds
// empty tables of properties.
func disagreement(t *testing.T, converter string, ours, theirs json.RawMessage) string {
	t.Helper()
	if converter != "anthropic" {
		if same(t, ours, theirs) {
			return ""
		}
		return "any place"
	}
	var values [2]any
	for i, raw := range []json.RawMessage{ours, theirs} {
		if err := json.Unmarshal(raw, &values[i]); err != nil {
			t.Fatal(err)
		}
		normalise(values[i])
	}
	return changed(values[0], values[1], "")
}

func changed(ours, theirs any, at string) string {
	switch a := ours.(type) {
	case object:
		b, ok := theirs.(object)
		if !ok {
			return at + "/"
		}
		if at == "" || !strings.HasSuffix(at, "/properties") && !strings.HasSuffix(at, "/$defs") {
			a = withoutMoved(a, b)
		}
		for _, key := range slices.Sorted(maps.Keys(b)) {
			empty, isTable := b[key].(object)
			if _, ok := a[key]; !ok && key != "description" && (key != "properties" || !isTable || len(empty) > 0) {
				return at + "/" + key
			}
		}
		for _, key := range slices.Sorted(maps.Keys(a)) {
			if _, ok := b[key]; !ok {
				return at + "/" + key
			}
			if key == "description" {
				continue
			}
			if where := changed(a[key], b[key], at+"/"+key); where != "" {
				return where
			}
		}
	case []any:
		b, ok := theirs.([]any)
		if !ok || len(a) != len(b) {
			return at
		}
		for i := range a {
			if where := changed(a[i], b[i], at+"/-"); where != "" {
				return where
			}
		}
	default:
		if marshal(ours) != marshal(theirs) {
			return at
		}
	}
	return ""
}

// withoutMoved returns a schema without the keywords that the converter moved into
// the description, the type that it removes beside enum, and the description that
// it removes beside $ref.
func withoutMoved(ours, theirs object) object {
	kept := maps.Clone(ours)
	for _, key := range moved {
		if _, ok := theirs[key]; !ok {
			delete(kept, key)
		}
	}
	if _, ok := theirs["type"]; !ok && kept["enum"] != nil {
		delete(kept, "type")
	}
	if _, ok := theirs["description"]; !ok && kept["$ref"] != nil {
		delete(kept, "description")
	}
	return kept
}

// hasTypeList reports whether a schema has a list of types anywhere.
func hasTypeList(t *testing.T, line []byte) bool {
	t.Helper()
	var v any
	if err := json.Unmarshal(line, &v); err != nil {
		t.Fatal(err)
	}
	var visit func(any) bool
	visit = func(v any) bool {
		switch v := v.(type) {
		case []any:
			return slices.ContainsFunc(v, visit)
		case object:
			if _, list := v["type"].([]any); list {
				return true
			}
			return slices.ContainsFunc(slices.Collect(maps.Values(v)), visit)
		}
		return false
	}
	return visit(v)
}
