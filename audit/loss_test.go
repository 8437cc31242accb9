package audit_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/audit"
	"github.com/toolpost/toolpost/internal/access/trail"
	"github.com/toolpost/toolpost/observe"
)

// A record is never lost because of its size: first characters of HTML are not
// escaped, then what is too long is replaced.
func TestLongRecords(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir, &audit.Options{Level: audit.LevelFull})
	to := &observe.Target{Server: "files", Method: "tools/call", Name: "read", Definition: &toolpost.Definition{Name: "read"}}
	text := strings.Repeat("<>&", 80_000)
	arguments, err := json.Marshal([]json.RawMessage{json.RawMessage(`"` + text + `"`)})
	if err != nil {
		t.Fatal(err)
	}
	serve(l, &observe.Request{Method: "tools/call", Name: "files__read", Arguments: json.RawMessage(`{"a":"` + text + `"}`)}, to, answer(text))
	r := record("long")
	r.Args, r.Result = arguments, json.RawMessage(`"`+strings.Repeat("x", 1<<20)+`"`)
	if err := l.Append(r, false); err != nil {
		t.Error(err)
	}
	found, _, err := trail.Calls(dir, &trail.Filter{})
	if err != nil || len(found) != 2 || l.Dropped() != 0 {
		t.Fatal(len(found), l.Dropped(), err)
	}
	if got := string(found[0].Args); got != `{"a":"`+text+`"}` {
		t.Errorf("%d bytes of arguments: %.100s", len(got), got)
	}
	if got := string(found[1].Result); !strings.Contains(got, "too long to be recorded") {
		t.Errorf("the result is %.100s", got)
	}
	sound(t, dir)
}

// The digest of arguments does not depend on a value that is redacted.
func TestDigestOfRedactedArguments(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir, &audit.Options{Redact: []string{"pin"}})
	to := &observe.Target{Server: "a", Method: "tools/call", Name: "a"}
	for _, args := range []string{`{"pin":"1234"}`, `{"pin":"9999"}`, `{"n":"1234"}`} {
		serve(l, &observe.Request{Method: "tools/call", Name: "a", Arguments: json.RawMessage(args)}, to, answer(""))
	}
	found, _, err := trail.Calls(dir, &trail.Filter{})
	if err != nil || len(found) != 3 || found[0].ArgsSHA256 == "" || found[0].ArgsSHA256 != found[1].ArgsSHA256 || found[0].ArgsSHA256 == found[2].ArgsSHA256 {
		t.Errorf("%v %v", found, err)
	}
	if found[0].Args != nil {
		t.Errorf("arguments %s", found[0].Args)
	}
}

// A file that is removed between others is found; the oldest may be removed by age.
func TestRemovedFile(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir, &audit.Options{SegmentSize: 500})
	write(t, l, "a", "b", "c", "d", "e", "f", "g", "h")
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	all := files(t, dir)
	if len(all) < 4 {
		t.Fatalf("%d files", len(all))
	}
	if err := os.Remove(all[0]); err != nil {
		t.Fatal(err)
	}
	if v := sound(t, dir); len(v.Notes) != 1 {
		t.Errorf("%+v", v)
	}
	if err := os.Remove(all[2]); err != nil {
		t.Fatal(err)
	}
	v, err := trail.Verify(dir)
	if err != nil || len(v.Problems) != 1 || !strings.HasSuffix(all[3], v.Problems[0].File) || !strings.Contains(v.Problems[0].Message, "removed") {
		t.Errorf("%+v %v", v, err)
	}
}
