package sessions_test

import (
	"bytes"
	"encoding/json"
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
		store, key := &sessions.Memory{}, sessions.Key{Project: "-p", SessionID: recorded}
		for line := range bytes.Lines(text) {
			if line = bytes.TrimSpace(line); json.Valid(line) {
				if err := store.Append(t.Context(), key, []json.RawMessage{line}); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := store.Append(t.Context(), key, []json.RawMessage{json.RawMessage(`{"type":"x"}`)}); err != nil {
			t.Fatal(err)
		}
		s := get(t, store, recorded)
		said := texts(t, s.Messages(t.Context()))
		if err := s.Rename(t.Context(), "title"); err != nil {
			t.Fatal(err)
		}
		if got := get(t, store, recorded); got.Title != "title" {
			t.Errorf("the title is %q", got.Title)
		}
		c, err := s.Fork(t.Context(), nil)
		if err != nil {
			return // it has no messages
		}
		if again := texts(t, c.Messages(t.Context())); said != "" && again == "" {
			t.Errorf("the fork has nothing of\n%s", said)
		}
	})
}
