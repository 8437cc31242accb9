package folder

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolpost/toolpost"
	outputs "github.com/toolpost/toolpost/output"
	"github.com/toolpost/toolpost/store"
)

// TestFolderKeepsOutputs has a command write more than a view shows: all of it
// can be read and searched, in the session that it was run in.
func TestFolderKeepsOutputs(t *testing.T) {
	f, err := Open(t.Context(), outputs.New(store.Memory(nil), nil), &Options{Tools: []string{Bash}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
	call := func(session, tool string, arguments any) *toolpost.Result {
		t.Helper()
		raw, err := json.Marshal(arguments)
		if err != nil {
			t.Fatal(err)
		}
		r, err := f.Live.Call(t.Context(), &toolpost.Call{Name: tool, Session: session, Arguments: raw})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	r := call("mine", "bash", map[string]string{"command": "seq 100000; exit 3"})
	view, _ := r.FirstText()
	if !strings.HasSuffix(view, "\n100000\n[exit code 3]\n") || len(view) > 50_000 || r.OutputRef() == "" {
		t.Fatalf("the view has %d bytes: …%q, reference %q", len(view), view[max(0, len(view)-100):], r.OutputRef())
	}
	page, _ := call("mine", "tool_output_cache", map[string]any{"ref_id": r.OutputRef(), "offset": 54_320, "limit": 1}).FirstText()
	if !strings.HasPrefix(page, "54321  54321\n") {
		t.Errorf("the page is %q", page)
	}
	found, _ := call("mine", "tool_output_cache_grep", map[string]any{"ref_id": r.OutputRef(), "pattern": "^9876.$", "regex": true, "max_matches": 1}).FirstText()
	if !strings.HasPrefix(found, "98760: 98760\n") {
		t.Errorf("found is %q", found)
	}
	if r := call("other", "tool_output_cache", map[string]any{"ref_id": r.OutputRef()}); !r.IsError() {
		t.Error("another session reads it")
	}
}
