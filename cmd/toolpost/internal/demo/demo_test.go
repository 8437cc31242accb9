package demo_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/agent"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/demo"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/stdtool"
)

// run does the task of the demo in a folder with these files.
func run(t *testing.T, files map[string]string) (answer, report string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	tools := toolpost.Join(stdtool.NewWorkspace(root), stdtool.Todos(nil))
	result, err := agent.New(demo.New(), tools, nil).Do(t.Context(), agent.NewSession(), model.Part{Type: model.TypeText, Text: "go"})
	if err != nil {
		t.Fatal(err)
	}
	if result.Usage.Unpriced != result.Turns || result.Usage.Tokens.Input == 0 {
		t.Errorf("it used %+v", result.Usage)
	}
	data, err := os.ReadFile(filepath.Join(dir, demo.Report))
	if err != nil {
		t.Fatal(err)
	}
	return result.Text, string(data)
}

func TestDemo(t *testing.T) {
	files := map[string]string{"README.md": "# The **best** | project\n", "a/b.go": "// TODO\n// FIXME\n", "a/c.go": "", ".hidden": "", "x": ""}
	answer, report := run(t, files)
	for _, want := range []string{"It seems to be about **The **best** | project**", "TODO or FIXME: 2 lines in 1 file.", "| `.go` | 2 |"} {
		if !strings.Contains(answer, want) || !strings.Contains(report, want) {
			t.Errorf("no %q in the answer %q or the report %q", want, answer, report)
		}
	}
	if again, _ := run(t, files); again != answer {
		t.Errorf("the second answer is another one: %q", again)
	}
}

func TestDemoInEmptyFolder(t *testing.T) {
	answer, report := run(t, nil)
	if !strings.Contains(answer, "The folder is empty.") || !strings.Contains(report, "The folder is empty.") {
		t.Errorf("%q, %q", answer, report)
	}
}
