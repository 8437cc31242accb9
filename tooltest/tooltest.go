// Package tooltest helps to test tools and what uses them: golden definitions, calls
// in one line, a toolset that records calls, a scripted model, and recorded HTTP
// traffic without its secrets.
package tooltest

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/toolpost/toolpost"
)

// updateVariable is the environment variable that makes Golden write the files.
const updateVariable = "TOOLPOST_UPDATE"

// Golden compares the definition of every tool of ts, as clients see it, with
// the file testdata/tools/NAME.json. It also reports files that belong to no
// tool. If the environment variable TOOLPOST_UPDATE is set, it writes the files instead.
func Golden(t testing.TB, ts toolpost.Toolset) {
	t.Helper()
	tools, err := ts.Tools(t.Context())
	if err != nil {
		t.Fatalf("list tools: %v", err)
	}
	known := map[string]bool{}
	for _, tool := range tools {
		path := filepath.Join("testdata", "tools", tool.Name+".json")
		known[path] = true
		golden(t, path, definition(t, tool))
	}
	files, err := filepath.Glob(filepath.Join("testdata", "tools", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		if !known[path] {
			t.Errorf("%s belongs to no tool; delete it", path)
		}
	}
}

func definition(t testing.TB, tool *toolpost.Tool) []byte {
	t.Helper()
	raw, err := tool.MarshalJSON()
	if err != nil {
		t.Fatalf("encode definition: %v", err)
	}
	var b bytes.Buffer
	if err := json.Indent(&b, raw, "", "  "); err != nil {
		t.Fatalf("definition of %s: %v", tool.Name, err)
	}
	b.WriteByte('\n')
	return b.Bytes()
}

func golden(t testing.TB, path string, got []byte) {
	t.Helper()
	if os.Getenv(updateVariable) != "" {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Errorf("%v: set %s=1 and run again to write it", err, updateVariable)
		return
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs: set %s=1 and run again if the change is intended\ngot:\n%swant:\n%s", path, updateVariable, got, want)
	}
}

// Call runs one tool of ts as a client does, with its arguments validated, and
// returns the text that a model would read. If the call cannot run, Call ends
// the test; if the tool itself fails, isError is true. Ctx may carry
// dependencies set by Dep.With; otherwise pass t.Context().
func Call(ctx context.Context, t testing.TB, ts toolpost.Toolset, name, args string) (text string, isError bool) {
	t.Helper()
	set, err := toolpost.NewSet(ctx, ts)
	if err != nil {
		t.Fatal(err)
	}
	r, err := set.Call(ctx, &toolpost.Call{Name: name, Arguments: json.RawMessage(args)})
	if err != nil {
		t.Fatalf("call %s: %v", name, err)
	}
	for _, p := range r.Parts() {
		text += p.Text
	}
	return text, r.IsError()
}
