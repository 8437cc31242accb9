package sessions_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/toolpost/toolpost/claude/sessions"
)

// FuzzTranscript reads, changes and copies transcripts of any bytes. A copy has the
// same conversation.
func FuzzTranscript(f *testing.F) {
	recording, err := os.ReadFile(filepath.Join("testdata/projects/-tmp-project", recorded+".jsonl"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(recording[:bytes.IndexByte(recording[1000:], 10)+1000])
	f.Add([]byte(hello + "\n{\"type\":\"attachment\",\"uuid\":\"q\",\"parentUuid\":\"u1\",\"attachment\":{\"type\":\"queued_command\",\"prompt\":\"x\"}}\n{"))
	f.Add([]byte(`{"type":"user","uuid":"a","parentUuid":"a","message":{"content":"x"}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		d := &sessions.Disk{ConfigDir: t.TempDir()}
		id := write(t, d, 1, string(text))
		if len(text) == 0 {
			return
		}
		s := get(t, d, id)
		before := texts(t, s.Messages(t.Context()))
		if err := s.Rename(t.Context(), "title"); err != nil {
			t.Fatal(err)
		}
		if got := get(t, d, id); got.Title != "title" {
			t.Errorf("the title is %q", got.Title)
		}
		c, err := s.Fork(t.Context(), nil)
		if err != nil {
			return // it has no messages
		}
		if got := texts(t, c.Messages(t.Context())); got != before {
			t.Errorf("the fork has\n%s\nand the session\n%s", got, before)
		}
	})
}
