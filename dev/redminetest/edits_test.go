package redminetest

import (
	"fmt"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/toolpost/toolpost"
)

// A between is a transport that does something before it sends a change, once.
type between struct {
	http.RoundTripper
	do func()
}

func (b *between) RoundTrip(r *http.Request) (*http.Response, error) {
	if do := b.do; do != nil && r.Method == http.MethodPut {
		b.do = nil
		do()
	}
	return b.RoundTripper.RoundTrip(r)
}

// TestEdits has two programs edit one description at the same moment: the other
// writes after this one has read and before it writes.
func TestEdits(t *testing.T) {
	r := tape(t, filepath.Join("testdata", "edits.jsonl"))
	meanwhile := &between{RoundTripper: r.As("alice")}
	set := func(as string, transport http.RoundTripper) *toolpost.Set {
		o := options(r, as)
		o.Transport = transport
		return opened(t, o)
	}
	alice, bob := set("alice", meanwhile), set("bob", r.As("bob"))
	call := func(by *toolpost.Set, tool, arguments string, args ...any) (string, bool) {
		t.Helper()
		text, _, failed := ask(t, by, tool, fmt.Sprintf(arguments, args...))
		return text, failed
	}
	made, _ := call(alice, "create_issue", `{"project_id":"alpha","subject":"edited by two","description":"one\ntwo\nthree","assigned_to_id":"bob"}`)
	n := regexp.MustCompile(`issue (\d+)`).FindStringSubmatch(made)
	if n == nil {
		t.Fatal(made)
	}
	const edit = `{"id":%q,"old_text":%q,"new_text":%q}`
	bobs := func(old, by string) func() {
		return func() {
			if text, failed := call(bob, "edit_issue_description", edit, n[1], old, by); failed {
				t.Error(text)
			}
		}
	}

	meanwhile.do = bobs("three", "drei")
	if text, failed := call(alice, "edit_issue_description", edit, n[1], "two", "zwei"); failed || !strings.Contains(text, "one\nzwei\ndrei") {
		t.Errorf("one of two edits is lost: %s", text)
	}
	meanwhile.do = bobs("one", "uno")
	if text, failed := call(alice, "edit_issue_description", edit, n[1], "one", "eins"); !failed || !strings.Contains(text, "no longer there") {
		t.Errorf("an edit of what is gone: %s", text)
	}
	if text, _ := call(alice, "get_issue", `{"id":%q,"include":"none"}`, n[1]); !strings.Contains(text, "uno\nzwei\ndrei") {
		t.Errorf("the other edit is lost: %s", text)
	}
	meanwhile.do = bobs("zwei", "dos")
	if text, failed := call(alice, "update_issue", `{"id":%q,"description":"all new"}`, n[1]); failed || !strings.Contains(text, "Another user changed the description at the same moment") {
		t.Errorf("a text that was replaced unseen: %s", text)
	}
	if text, failed := call(alice, "delete_issue", `{"id":%q,"confirm":true}`, n[1]); failed {
		t.Error(text)
	}
}
