package stdtool_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/schema/dialect"
	"github.com/toolpost/toolpost/stdtool"
)

// TestForgive calls tools as models know them from elsewhere.
func TestForgive(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "f.txt", []byte("one\ntwo\nthree\n"))
	set := workspace(t, dir)
	for _, tt := range [][3]string{
		{"read", `{"file_path":"f.txt","offset":"1","limit":"1"}`, "    2  two"},
		{"grep", `{"pattern":"T","-i":true,"output_mode":"files_with_matches","include":"*.txt","head_limit":"5"}`, "f.txt\n"},
		{"grep", `{"pattern":"t","-C":"1","case_insensitive":"false"}`, "f.txt-1- one"},
		{"glob", `{"pattern":"*","head_limit":1}`, "f.txt"},
		{"edit", `{"file_path":"f.txt","old_str":"one","new_str":"1","dry_run":"true"}`, "dry run"},
		{"edit", `{"file_path":"f.txt","old_string":"one","new_string":"true"}`, "+true"},
		{"write", `{"file_path":"g.txt","file_text":"12"}`, "wrote 2 bytes"},
		{"move", `{"source":"g.txt","destination":"h.txt"}`, "moved to h.txt"},
		{"read", `{"filePath":"f.txt","offset":1}`, "    2  two"},
		{"read", `{"file_path":"f.txt","filename":"f.txt"}`, "    2  two"},
		{"edit", `{"filePath":"f.txt","oldString":"two","newString":"1","dryRun":true}`, "dry run"},
		{"multi_edit", `{"filePath":"f.txt","dry_run":true,"edits":[{"oldString":"two","new_str":"1","replaceAll":"true"}]}`, "dry run"},
		{"multi_edit", `{"path":"f.txt","dry_run":true,"edits":"[{\"old_string\":\"two\",\"new_string\":\"1\"}]"}`, "dry run"},
		{"grep", `{"pattern":"two","-n":true,"-A":1,"-B":1}`, "f.txt-3- three"},
		{"grep", `{"pattern":"two","outputMode":"files_with_matches"}`, "f.txt\n"},
	} {
		if text := call(t, set, tt[0], tt[1]); !strings.Contains(text, tt[2]) {
			t.Errorf("%s %s: %s", tt[0], tt[1], text)
		}
	}
	for _, tt := range [][2]string{
		{"read", `{"path":"f.txt","file_path":"h.txt"}`},
		{"read", `{"path":"f.txt","offset":"1.5"}`},
		{"read", `{"path":"f.txt","limit":"0"}`},
		{"read", `{"path":7}`},
		{"grep", `{"pattern":"x","context":"9223372036854775808"}`},
		{"read", `{"path":"f.txt","nothing":1}`},
		{"read", `{"filename":"f.txt","file_path":"h.txt"}`},
		{"grep", `{"pattern":"two","-A":1,"-B":2}`},
		{"grep", `{"pattern":"two","multiline":true}`},
		{"read", `{"path":"f.txt","description":"the file"}`},
		{"multi_edit", `{"path":"f.txt","edits":"one"}`},
	} {
		if text := call(t, set, tt[0], tt[1]); !strings.HasPrefix(text, "error") {
			t.Errorf("%s %s: %s", tt[0], tt[1], text)
		}
	}
}

// TestEditLatin1 checks what is said of text that stands for other bytes.
func TestEditLatin1(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "f.txt", []byte("caf\xe9\n"))
	set := workspace(t, dir)
	if text := call(t, set, "edit", `{"path":"f.txt","old_string":"caf\ufffd","new_string":"x"}`); !strings.Contains(text, "The file is not UTF-8") {
		t.Error(text)
	}
	if text := call(t, set, "edit", `{"path":"f.txt","old_string":"caf","new_string":"tea"}`); content(t, dir, "f.txt") != "tea\xe9\n" {
		t.Error(text)
	}
}

// TestForgiveOthers calls the tools that are not about files as other clients do.
func TestForgiveOthers(t *testing.T) {
	shell := stdtool.NewShell(t.TempDir(), nil)
	t.Cleanup(func() { _ = shell.Close() })
	set, err := toolpost.NewSet(t.Context(), toolpost.Join(shell, stdtool.Todos(nil)))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range [][3]string{
		{"bash", `{"command":"echo a","description":"Print a","timeout":120}`, "a\n"},
		{"bash", `{"command":"echo a","timeout":60000}`, "a\n"},
		{"bash", `{"command":"echo a","timeout_seconds":"5"}`, "a\n"},
		{"write_todos", `{"todos":[{"content":"a","status":"done","activeForm":"Doing a","priority":"high"}]}`, "a"},
		{"write_todos", `{"todos":"[{\"content\":\"b\",\"status\":\"in-progress\"}]"}`, "b"},
	} {
		if text := call(t, set, tt[0], tt[1]); strings.HasPrefix(text, "error") || !strings.Contains(text, tt[2]) {
			t.Errorf("%s %s: %s", tt[0], tt[1], text)
		}
	}
	for _, tt := range [][2]string{
		{`{"command":"a","timeout":120}`, `120000`}, {`{"command":"a","timeout":2.5}`, `2500`}, {`{"command":"a","timeout":5000}`, `5000`},
		{`{"command":"a","timeout_ms":120}`, `120`}, {`{"command":"a","timeoutMs":120}`, `120`}, {`{"command":"a","timeout_seconds":600}`, `600000`},
		{`{"command":"a","timeoutSeconds":30}`, `30000`}, {`{"command":"a","timeoutSeconds":"30"}`, `30000`}, {`{"command":"a","TimeoutSeconds":30}`, `30000`},
		{`{"command":"a","Timeout":30}`, `30000`}, {`{"command":"a","timeout_seconds":3000}`, `3000000`},
	} {
		tools, err := shell.Tools(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if got := string(tools[0].Policy.Prepare(json.RawMessage(tt[0]))); !strings.Contains(got, `"timeout_ms":`+tt[1]+"}") {
			t.Errorf("%s is taken as %s", tt[0], got)
		}
	}
}

// TestForgiveAdapted calls tools as run and chat do: by the definitions that a provider
// gets.
func TestForgiveAdapted(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "f.txt", []byte("one\n"))
	tools, err := workspace(t, dir).Tools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"anthropic", "openai", "openai-strict", "gemini", "mcp"} {
		d, err := dialect.Find(id)
		if err != nil {
			t.Fatal(err)
		}
		called := 0
		for _, tool := range d.Adapt(tools, nil).Tools {
			arguments := map[string]string{
				"read":       `{"filePath":"f.txt","limit":"1"}`,
				"grep":       `{"pattern":"T","-i":true,"-n":true,"output_mode":"files_with_matches"}`,
				"multi_edit": `{"file_path":"f.txt","edits":[{"oldString":"one","new_str":"1"}]}`,
			}[tool.Name]
			if arguments == "" {
				continue
			}
			called++
			decoded, err := tool.Decode(json.RawMessage(arguments))
			if err != nil || strings.ContainsAny(string(decoded), "PS-") {
				t.Errorf("%s: %s %s is %s, %v", id, tool.Name, arguments, decoded, err)
			}
		}
		if called != 3 {
			t.Errorf("%s: %d tools were called", id, called)
		}
	}
}
