package records

import (
	"bytes"
	"testing"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/cli"
	"github.com/toolpost/toolpost/internal/grep"
	"github.com/toolpost/toolpost/store"
)

// An output that is removed while a command reads others is reported, and does not end it.
func TestOutputsThatGoMeanwhile(t *testing.T) {
	s := store.Memory(nil)
	var all keptOutputs
	for _, ref := range []string{"first", "second", "third"} {
		w, err := s.Create(t.Context(), ref)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte("text of " + ref + "\n")); err != nil {
			t.Fatal(err)
		}
		info, err := w.Commit()
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, kept{info, "", ref})
	}
	if err := s.Remove(t.Context(), "second"); err != nil {
		t.Fatal(err)
	}
	pattern, err := grep.Compile("text", nil)
	if err != nil {
		t.Fatal(err)
	}
	const gone = "second is gone: it has expired, or was removed meanwhile"
	var out, told bytes.Buffer
	err = (&search{out: &out, stderr: &told}).run(t.Context(), s, all, pattern)
	if want := "first:1: text of first\nthird:1: text of third\n"; err != nil || out.String() != want || told.String() != gone+"\n" {
		t.Errorf("grep: %v, %q, %q", err, &out, &told)
	}
	if err := showOutput(t.Context(), &out, s, all[1], 0, 0); err == nil || err.Error() != gone {
		t.Errorf("show: %v", err)
	}
	told.Reset()
	if err := removeOutputs(t.Context(), &told, s, all, &cli.Change{}); err != nil || told.String() != gone+"\n" {
		t.Errorf("rm: %v, %q", err, &told)
	}
	for info := range s.List(t.Context()) {
		t.Errorf("%s is left", info.Name)
	}
}
