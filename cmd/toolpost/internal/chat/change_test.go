package chat

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/agent"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/terminal"
)

// TestQuestionShowsAll: what decides what a call does is in the question.
func TestQuestionShowsAll(t *testing.T) {
	files := map[string]string{"a.txt": "old line\n"}
	c := &Chat{opts: Options{Ours: map[string]bool{"bash": true, "write": true, "edit": true}, ReadFile: func(path string) ([]byte, error) {
		if path == "long" {
			return nil, errors.New("it has 99 bytes")
		}
		if text, ok := files[path]; ok {
			return []byte(text), nil
		}
		return nil, fs.ErrNotExist
	}}}
	for _, test := range []struct{ tool, arguments, want string }{
		{"edit", `{"path":"a.txt","old_string":"x","new_string":"y","replace_all":true,"match_mode":"block_anchor","expected_replacements":3}`,
			`a.txt { "expected_replacements": 3, "match_mode": "block_anchor", "replace_all": true } - x + y`},
		{"write", `{"path":"a.txt","content":"new line\n"}`, "a.txt - old line + new line"},
		{"write", `{"path":"b.txt","content":"x","future":1}`, `b.txt { "future": 1 } a new file + x`},
		{"write", `{"path":"long","content":"x"}`, "long what it replaces is not shown: it has 99 bytes + x"},
		{"bash", `{"command":"rm -r x","timeout_ms":1}`, `rm -r x { "timeout_ms": 1 }`},
	} {
		var screen bytes.Buffer
		c.view = newView(&screen, &screen)
		lines := c.describeChange(&agent.Request{Name: test.tool, Arguments: []byte(test.arguments)})
		if got := strings.Join(strings.Fields(strings.Join(lines, " ")), " "); got != test.want {
			t.Errorf("%s %s:\ngot  %s\nwant %s", test.tool, test.arguments, got, test.want)
		}
	}
}

// TestEditedCallIsShown: after an edit, the question is about the edited call.
func TestEditedCallIsShown(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs a shell script as the editor")
	}
	editor := filepath.Join(t.TempDir(), "editor")
	if err := os.WriteFile(editor, []byte("#!/bin/sh\necho '{\"a\":\"edited\"}' > \"$1\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("VISUAL", editor)
	var screen bytes.Buffer
	c := New(&Options{Session: agent.NewSession(), In: terminal.NewLines(strings.NewReader("e\nv\ny\n"), &screen), Out: &screen, Err: &screen})
	d, err := c.askUser(t.Context(), &agent.Request{Name: "t", Tool: &toolpost.Tool{}, Arguments: []byte(`{"a":"before"}`)})
	if err != nil || !d.Allow || string(d.Arguments) != `{"a":"edited"}` {
		t.Errorf("%+v, %v", d, err)
	}
	if before, after := strings.Count(screen.String(), "before"), strings.Count(screen.String(), "edited"); before != 1 || after != 2 {
		t.Errorf("the screen has %q", screen.String())
	}
}
