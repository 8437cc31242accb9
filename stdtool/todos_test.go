package stdtool_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/stdtool"
	"github.com/toolpost/toolpost/store"
)

func tools(t testing.TB, ts toolpost.Toolset) *toolpost.Set {
	t.Helper()
	set, err := toolpost.NewSet(t.Context(), ts)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func TestTodos(t *testing.T) {
	set := tools(t, stdtool.Todos(nil))
	for _, step := range []struct{ tool, arguments, want string }{
		{"read_todos", `{}`, "[no todos]"},
		{"write_todos", `{"todos":[{"content":"Read","status":"in_progress"},{"content":"Write\n  it","status":"pending"},{"content":"Test","status":"pending"}]}`,
			"1 [in_progress] Read\n2 [pending] Write it\n3 [pending] Test\n\n[3 of 3 todos are open]\n"},
		{"read_todos", `{}`, "1 [in_progress] Read\n2 [pending] Write it\n3 [pending] Test\n\n[3 of 3 todos are open]\n"},
		// Ids stay with the id or the content; those that were given are not given again.
		{"write_todos", `{"todos":[{"content":"New","status":"pending"},{"id":"1","content":"Read all","status":"completed"},{"content":"Test","status":"cancelled"}]}`,
			"4 [pending] New\n1 [completed] Read all\n3 [cancelled] Test\n\n[1 of 3 todos are open]\n"},
		{"write_todos", `{"todos":[{"content":"Same","status":"pending"},{"content":"Same","status":"pending"},{"id":"3","content":"Test","status":"in_progress"}]}`,
			"5 [pending] Same\n6 [pending] Same\n3 [in_progress] Test\n\n[3 of 3 todos are open]\n"},
		{"write_todos", `{"todos":[{"content":"Same","status":"pending"},{"id":"own","content":"x","status":"pending"},{"content":"Same","status":"pending"},{"id":"9","content":"y","status":"pending"},{"content":"z","status":"pending"}]}`,
			"5 [pending] Same\nown [pending] x\n6 [pending] Same\n9 [pending] y\n10 [pending] z\n\n[5 of 5 todos are open]\n"},
		{"write_todos", `{"todos":[{"content":"a","status":"in_progress"},{"content":"b","status":"in_progress"}]}`,
			`error (retry): 2 todos are in_progress, but only one may be: choose one, and set the others to pending or completed: "a", "b"`},
		{"write_todos", `{"todos":[{"id":"1","content":"a","status":"pending"},{"id":"1","content":"b","status":"pending"}]}`,
			`error (retry): two todos have the id "1": leave out the id of new ones`},
		{"write_todos", `{"todos":[{"content":" ","status":"pending"}]}`, "error (retry): todo number 1 has no content: write what is to be done"},
		{"read_todos", `{}`, "5 [pending] Same\nown [pending] x\n6 [pending] Same\n9 [pending] y\n10 [pending] z\n\n[5 of 5 todos are open]\n"},
		{"write_todos", `{"todos":[]}`, "[no todos]"},
	} {
		if got := call(t, set, step.tool, step.arguments); got != step.want {
			t.Errorf("%s %s:\n%s", step.tool, step.arguments, cmp.Diff(step.want, got))
		}
	}
	if got := call(t, set, "write_todos", `{"todos":[{"content":"a","status":"doing"}]}`); !strings.HasPrefix(got, "error (retry)") || !strings.Contains(got, "in_progress") {
		t.Error(got)
	}
}

// Sessions have lists of their own, which a store keeps; calls that have no
// session share one, which does not outlast the tools.
func TestTodosSessions(t *testing.T) {
	kept, err := store.Dir(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	ask := func(set *toolpost.Set, session, tool, arguments string) string {
		t.Helper()
		r, err := set.Call(t.Context(), &toolpost.Call{Name: tool, Session: session, Arguments: json.RawMessage(arguments)})
		if err != nil {
			t.Fatal(err)
		}
		text, _ := r.FirstText()
		return text
	}
	set := tools(t, stdtool.Todos(kept))
	var all sync.WaitGroup
	for _, session := range []string{"a", "b", "", "../x"} {
		all.Go(func() {
			for _, status := range []string{"pending", "in_progress", "completed"} {
				ask(set, session, "write_todos", `{"todos":[{"content":"of `+session+`","status":"`+status+`"}]}`)
			}
		})
	}
	all.Wait()
	blobs := 0
	for _, err := range kept.List(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		blobs++
	}
	if blobs != 4 {
		t.Errorf("%d blobs", blobs)
	}
	later := tools(t, stdtool.Todos(kept))
	for session, want := range map[string]string{"a": "1 [completed] of a\n", "b": "1 [completed] of b\n", "../x": "1 [completed] of ../x\n", "": "[no todos]", "c": "[no todos]"} {
		if got := ask(later, session, "read_todos", `{}`); !strings.HasPrefix(got, want) {
			t.Errorf("%q: %s", session, got)
		}
	}
	if got := ask(set, "", "read_todos", `{}`); !strings.HasPrefix(got, "1 [completed] of \n") && !strings.HasPrefix(got, "1 [completed] of\n") {
		t.Error(got)
	}
}

func TestDone(t *testing.T) {
	set := tools(t, toolpost.Tools{stdtool.Done()})
	r, err := set.Call(t.Context(), &toolpost.Call{Name: "done", Arguments: json.RawMessage(`{"message":"100% \"done\""}`)})
	if err != nil {
		t.Fatal(err)
	}
	if text, _ := r.FirstText(); text != `100% "done"` || r.Outcome() != toolpost.Done || r.IsError() {
		t.Errorf("%q, %v, %v", text, r.Outcome(), r.IsError())
	}
}

// TestOtherDefinitions is TestDefinitions for the tools that are not of files.
func TestOtherDefinitions(t *testing.T) {
	shell := stdtool.NewShell(t.TempDir(), nil)
	defer shell.Close()
	set := tools(t, toolpost.Join(shell, stdtool.Todos(nil), toolpost.Tools{stdtool.Fetch(nil), stdtool.Done()}))
	all, _ := set.Tools(t.Context())
	for _, tool := range all {
		raw, err := tool.Definition.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		var got bytes.Buffer
		if err := json.Indent(&got, raw, "", "  "); err != nil {
			t.Fatal(err)
		}
		got.WriteByte('\n')
		path := filepath.Join("testdata", tool.Name+".json")
		if update {
			if err := os.WriteFile(path, got.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if d := cmp.Diff(string(want), got.String()); d != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", tool.Name, err, d)
		}
		schema := strings.ReplaceAll(string(tool.Input.Raw()), " ", "")
		for _, bad := range []string{`"type":[`, "null", "anyOf", "oneOf", "allOf", "$ref", "$schema", `"items":true`} {
			if strings.Contains(schema, bad) {
				t.Errorf("%s: the input schema has %s", tool.Name, bad)
			}
		}
		if n := strings.Count(tool.Description, "\n") + 1; n > 4 || len(tool.Description) > 350 || strings.ContainsAny(tool.Description, "()") {
			t.Errorf("%s: the description has %d lines, %d bytes: %s", tool.Name, n, len(tool.Description), tool.Description)
		}
		a := tool.Annotations
		if tool.Title == "" || a.ReadOnly == nil || a.Destructive == nil || a.Idempotent == nil || a.OpenWorld == nil || *a.ReadOnly && *a.Destructive {
			t.Errorf("%s: annotations %+v", tool.Name, a)
		}
	}
	if f := set.Findings(); len(f) > 0 {
		t.Error(f)
	}
}
