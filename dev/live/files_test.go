//go:build unix

package live

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/toolpost/toolpost/claude"
)

// A fileTask is what a tool of the reference server for file systems does, done
// with ours.
type fileTask struct {
	theirs string
	calls  []use    // ours, at once; they have no ids yet
	want   []string // in the result of each
}

func fileTasks(picture string) []fileTask {
	read := func(path string) use { return use{name: "read", input: object{"path": path}} }
	list := func(input object) use { return use{name: "list", input: input} }
	return []fileTask{
		{"list_allowed_directories", []use{list(object{})}, []string{"a.txt  12\nb.txt  4\npicture.png  "}},
		{"list_directory", []use{list(object{"path": "sub"})}, []string{"sub/c.go  10\nsub/deep/"}},
		{"list_directory_with_sizes", []use{list(object{"path": "sub/deep"})}, []string{"sub/deep/d.go  5\n"}},
		{"directory_tree", []use{list(object{"depth": 20})}, []string{"sub/\nsub/c.go  10\nsub/deep/\nsub/deep/d.go  5\n"}},
		{"get_file_info", []use{list(object{"path": "a.txt"})}, []string{"a.txt  12, mode -rw"}},
		{"search_files", []use{{name: "glob", input: object{"pattern": "**/*.go"}}}, []string{"sub/c.go\nsub/deep/d.go\n"}},
		{"read_file", []use{read("a.txt")}, []string{"    1  one\n    2  two\n    3  last\n"}},
		{"read_text_file", []use{
			{name: "read", input: object{"path": "a.txt", "limit": 1}},
			{name: "read", input: object{"path": "a.txt", "offset": 2}},
		}, []string{"    1  one\n\n[lines 1 to 1; more follow", "    3  last\n"}},
		{"read_multiple_files", []use{read("a.txt"), read("b.txt")}, []string{"    1  one\n", "    1  bee"}},
		{"read_media_file", []use{read("picture.png")}, []string{picture}},
		{"write_file", []use{{name: "write", input: object{"path": "new.txt", "content": "new\ntext\n"}}}, []string{"new.txt: created, wrote 9 bytes"}},
		{"edit_file", []use{{name: "multi_edit", input: object{"path": "new.txt", "edits": []object{
			{"old_string": "new\n", "new_string": "changed\n"}, {"old_string": "text", "new_string": "words"},
		}}}}, []string{"+changed\n+words\n"}},
		{"create_directory", []use{{name: "write", input: object{"path": "empty/inner/", "content": ""}}}, []string{"empty/inner/: created"}},
		{"move_file", []use{{name: "move", input: object{"from": "new.txt", "to": "sub/moved.txt"}}}, []string{"new.txt: moved to sub/moved.txt"}},
	}
}

// TestFileTasks has the model do all that the tools of the reference server for
// file systems do, through the CLI, with our tools, and compares what the
// definitions of both cost it.
func TestFileTasks(t *testing.T) {
	s := newStage(t, claude.bin(t))
	picture := fill(t, s.opts.Dir)
	s.opts.MCPServers = map[string]*sdk.MCPServer{
		"ours":   {Command: build(t, "cmd/toolpost"), Args: []string{"serve", "--tools", "workspace-write", "--stdio"}, AlwaysLoad: true},
		"theirs": {Command: node(t), Args: []string{server(t, "filesystem"), s.opts.Dir}, AlwaysLoad: true},
	}
	s.opts.AllowedTools = []string{"mcp__ours"}
	tasks := fileTasks(picture)
	id := func(task, call int) string { return fmt.Sprintf("toolu_%d_%d", task, call) }
	for i, task := range tasks {
		var calls []use
		for j, c := range task.calls {
			calls = append(calls, use{id(i, j), "mcp__ours__" + c.name, c.input})
		}
		s.says(uses(calls...))
	}
	s.says(text("All done."))
	s.must("Do it.", "All done.")
	for i, task := range tasks {
		for j, want := range task.want {
			text := marshal(want)
			if got := s.api.result(id(i, j)); !strings.Contains(got, text[1:len(text)-1]) {
				t.Errorf("%s: %s %s gives %.400s, want %s", task.theirs, task.calls[j].name, marshal(task.calls[j].input), got, text)
			}
		}
	}
	if got, err := os.ReadFile(filepath.Join(s.opts.Dir, "sub/moved.txt")); err != nil || string(got) != "changed\nwords\n" {
		t.Errorf("the file that was written, edited and moved is %q, error %v", got, err)
	}
	s.cheaper(tasks)
}

// fill makes files in dir, and returns the picture among them in base64.
func fill(t *testing.T, dir string) string {
	t.Helper()
	folder(t, dir, "sub", "deep")
	write(t, filepath.Join(dir, "a.txt"), "one\ntwo\nlast")
	write(t, filepath.Join(dir, "b.txt"), "bee\n")
	write(t, filepath.Join(dir, "sub/c.go"), "package c\n")
	write(t, filepath.Join(dir, "sub/deep/d.go"), "// d\n")
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 8, 8))); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "picture.png"), picture.String())
	return base64.StdEncoding.EncodeToString(picture.Bytes())
}

// cheaper checks that every tool of the reference server has its task, and that
// our definitions, as they reach the model, are the smaller ones.
func (s *stage) cheaper(tasks []fileTask) {
	s.Helper()
	tools, err := anthropic{}.tools([]byte(s.api.requests()[0].body))
	if err != nil {
		s.Fatal(err)
	}
	done := map[string]bool{}
	for _, task := range tasks {
		done[task.theirs] = true
	}
	counts, sizes := map[string]int{}, map[string]int{}
	for _, tool := range tools {
		_, name, _ := strings.Cut(tool.name, "mcp__")
		server, name, _ := strings.Cut(name, "__")
		counts[server]++
		sizes[server] += (len(tool.raw) + 3) / 4 // as dialect.Tokens counts
		if server == "theirs" && !done[name] {
			s.Errorf("no task does what %s does", name)
		}
	}
	s.Logf("tokens of the definitions: ours %d (%d tools), the reference server's %d (%d tools)",
		sizes["ours"], counts["ours"], sizes["theirs"], counts["theirs"])
	if counts["theirs"] != len(tasks) || counts["ours"] == 0 || sizes["ours"] >= sizes["theirs"] {
		s.Errorf("%d tasks", len(tasks))
	}
}
