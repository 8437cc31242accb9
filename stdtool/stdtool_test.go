package stdtool_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/schema/dialect"
	"github.com/toolpost/toolpost/stdtool"
)

// update says that the expected output in testdata is rewritten.
var update = os.Getenv("TOOLPOST_UPDATE") != ""

// folder opens dir and returns the read-only tools over it.
func folder(t testing.TB, dir string) *toolpost.Set {
	t.Helper()
	return open(t, dir, func(w *stdtool.Workspace) toolpost.Toolset { return w.ReadOnly() })
}

// workspace opens dir and returns all tools over it.
func workspace(t testing.TB, dir string) *toolpost.Set {
	t.Helper()
	return open(t, dir, func(w *stdtool.Workspace) toolpost.Toolset { return w })
}

func open(t testing.TB, dir string, tools func(*stdtool.Workspace) toolpost.Toolset) *toolpost.Set {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	set, err := toolpost.NewSet(t.Context(), tools(stdtool.NewWorkspace(root)))
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// call returns the text of a call, or its error's text and outcome.
func call(t testing.TB, set *toolpost.Set, name, arguments string) string {
	t.Helper()
	r, err := set.Call(t.Context(), &toolpost.Call{Name: name, Arguments: json.RawMessage(arguments)})
	if err != nil {
		t.Fatalf("%s %s: %v", name, arguments, err)
	}
	text, _ := r.FirstText()
	if r.IsError() {
		return fmt.Sprintf("error (%s): %s", outcomes[r.Outcome()], text)
	}
	return text
}

var outcomes = map[toolpost.Outcome]string{toolpost.Failed: "failed", toolpost.Retry: "retry", toolpost.Denied: "denied"}

func write(t testing.TB, dir, name string, data []byte) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestCalls runs the archives in testdata: files below tree/ are the folder,
// and a file named "call TOOL ARGUMENTS" holds what the call returns.
func TestCalls(t *testing.T) {
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatal("no archives", err)
	}
	for _, path := range archives {
		t.Run(filepath.Base(path), func(t *testing.T) {
			archive, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			for _, f := range archive.Files {
				if name, ok := strings.CutPrefix(f.Name, "tree/"); ok {
					write(t, dir, name, f.Data)
				}
			}
			set := workspace(t, dir)
			for i, f := range archive.Files {
				line, ok := strings.CutPrefix(f.Name, "call ")
				if !ok {
					continue
				}
				name, arguments, _ := strings.Cut(line, " ")
				got := strings.TrimSuffix(call(t, set, name, arguments), "\n") + "\n"
				if update {
					archive.Files[i].Data = []byte(got)
				} else if d := cmp.Diff(string(f.Data), got); d != "" {
					t.Errorf("%s %s (-want +got):\n%s", name, arguments, d)
				}
			}
			if update {
				if err := os.WriteFile(path, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

func TestDefinitions(t *testing.T) {
	tools, _ := workspace(t, t.TempDir()).Tools(t.Context())
	for _, tool := range tools {
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
			continue
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(string(want), got.String()); d != "" {
			t.Errorf("%s (-want +got):\n%s", tool.Name, d)
		}
	}
}

// TestListFile checks what is told of one file.
func TestListFile(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "f.txt", []byte("text"))
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	if err := os.Chtimes(filepath.Join(dir, "f.txt"), at, at); err != nil {
		t.Fatal(err)
	}
	if got, want := call(t, folder(t, dir), "list", `{"path":"f.txt"}`), "f.txt  4, mode -rw-r--r--, changed 2026-01-02T03:04:05Z\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestAcceptable checks what some client or model is known to refuse or cut.
func TestAcceptable(t *testing.T) {
	set := workspace(t, t.TempDir())
	tools, _ := set.Tools(t.Context())
	for _, tool := range tools {
		schema := string(tool.Input.Raw())
		for _, bad := range []string{`"type":[`, "null", "anyOf", "oneOf", "allOf", "$ref", "$schema", `"items":true`} {
			if strings.Contains(strings.ReplaceAll(schema, " ", ""), bad) {
				t.Errorf("%s: the input schema has %s", tool.Name, bad)
			}
		}
		if n := strings.Count(tool.Description, "\n") + 1; n > 4 || len(tool.Description) > 300 {
			t.Errorf("%s: the description has %d lines, %d bytes", tool.Name, n, len(tool.Description))
		}
		if strings.ContainsAny(tool.Description, "()_") {
			t.Errorf("%s: the description has ( ) or _", tool.Name)
		}
		readOnly := folder(t, t.TempDir()).Lookup(tool.Name) != nil
		if a := tool.Annotations; a.ReadOnly == nil || *a.ReadOnly != readOnly || *a.Destructive == readOnly {
			t.Errorf("%s is marked %+v", tool.Name, a)
		}
	}
	if f := set.Findings(); len(f) > 0 {
		t.Error(f)
	}
}

// TestTokens compares what our definitions cost a model with those of the
// reference server for file systems.
func TestTokens(t *testing.T) {
	data, err := os.ReadFile("../dev/accept/testdata/tools.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	ours, theirs := 0, 0
	for line := range bytes.Lines(data) {
		var l struct {
			Server string
			Tool   json.RawMessage
		}
		if err := json.Unmarshal(line, &l); err != nil {
			t.Fatal(err)
		}
		if l.Server == "filesystem" {
			theirs += (len(l.Tool) + 3) / 4 // as dialect.Tokens counts
		}
	}
	tools, _ := workspace(t, t.TempDir()).Tools(t.Context())
	for _, tool := range tools {
		ours += dialect.Tokens(tool)
	}
	if theirs == 0 || ours*2 > theirs {
		t.Errorf("our definitions are %d tokens, those of the reference server %d", ours, theirs)
	}
	t.Logf("our definitions are %d tokens, those of the reference server %d", ours, theirs)
}

func TestReadImage(t *testing.T) {
	dir := t.TempDir()
	var small bytes.Buffer
	if err := png.Encode(&small, image.NewGray(image.Rect(0, 0, 2, 2))); err != nil {
		t.Fatal(err)
	}
	write(t, dir, "small.png", small.Bytes())
	write(t, dir, "large.png", append(small.Bytes(), make([]byte, 4<<20)...))
	set := folder(t, dir)
	r, err := set.Call(t.Context(), &toolpost.Call{Name: "read", Arguments: json.RawMessage(`{"path":"small.png"}`)})
	if err != nil {
		t.Fatal(err)
	}
	want := toolpost.Part{Type: "image", MIMEType: "image/png", Data: small.Bytes()}
	if d := cmp.Diff([]toolpost.Part{want}, r.Parts()); d != "" {
		t.Error(d)
	}
	if got := call(t, set, "read", `{"path":"large.png"}`); !strings.Contains(got, "too large to show") {
		t.Error(got)
	}
}

var hashes = regexp.MustCompile(`(content_sha256 )[0-9a-f]{16}`)

func TestLargeOutput(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "lines.txt", []byte(strings.Repeat("x\n", 2500)))
	write(t, dir, "wide.txt", []byte(strings.Repeat(strings.Repeat("y", 1000)+"\n", 200)))
	write(t, dir, "long.txt", []byte("short\n"+strings.Repeat("é", 3<<20)+"\nend of file"))
	write(t, dir, "bytes.txt", []byte("a\xffb\n"))
	set := folder(t, dir)
	tests := []struct{ name, tool, arguments, want string }{
		{"lines", "read", `{"path":"lines.txt"}`, "\n 2000  x\n\n[lines 1 to 2000; more follow, read on with offset 2000]\n[content_sha256 HASH]\n"},
		{"lines on", "read", `{"path":"lines.txt","offset":2000}`, "\n 2500  x\n[content_sha256 HASH]\n"},
		{"bytes", "read", `{"path":"wide.txt"}`, "[lines 1 to 47; more follow, read on with offset 47]\n[content_sha256 HASH]\n"},
		{"long line", "read", `{"path":"long.txt"}`, "… [line cut, it has 6291457 bytes; search it with grep]\n    3  end of file\n[content_sha256 HASH]\n"},
		{"invalid UTF-8", "read", `{"path":"bytes.txt"}`, "a\uFFFDb\n\n[not UTF-8: \uFFFD stands for other bytes; give encoding, which may be windows-1251, windows-1252, latin-1]\n[content_sha256 HASH]\n"},
		{"grep cuts bytes", "grep", `{"pattern":"y","max_matches":1000}`, "\n[there are more matches: narrow the pattern, path or glob]\n"},
		{"grep after a long line", "grep", `{"pattern":"end of","path":"long.txt"}`, "long.txt:3: end of file\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := hashes.ReplaceAllString(call(t, set, tt.tool, tt.arguments), "${1}HASH")
			if !strings.HasSuffix(got, tt.want) {
				t.Errorf("got …%q, want …%q", got[max(0, len(got)-200):], tt.want)
			}
			if len(got) > 50_000 {
				t.Errorf("%d bytes", len(got))
			}
		})
	}
}
