package message_test

import (
	"bytes"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolpost/toolpost/claude/internal/stdio"
	"github.com/toolpost/toolpost/claude/message"
)

// recorded returns the lines that the CLI wrote, by recording.
func recorded(t testing.TB) map[string][][]byte {
	t.Helper()
	root := os.DirFS("..")
	files, err := fs.Glob(root, "testdata/recordings/*/stdio.jsonl")
	if err != nil || len(files) != 67 {
		t.Fatalf("%d recordings, %v; want 67", len(files), err)
	}
	all := map[string][][]byte{}
	for _, file := range files {
		entries, err := stdio.Read(root, file)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(filepath.Dir(file))
		all[name] = nil
		for _, e := range entries {
			if e.Dir == "stdout" {
				all[name] = append(all[name], e.Line)
			}
		}
	}
	return all
}

func TestRecordings(t *testing.T) {
	kinds := map[string]int{}
	for name, lines := range recorded(t) {
		t.Run(name, func(t *testing.T) {
			var log strings.Builder
			p := &message.Parser{Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))}
			for _, line := range lines {
				m, err := p.Parse(line)
				if err != nil {
					t.Errorf("%v\n%s", err, line)
					continue
				}
				h := m.Head()
				if !bytes.Equal(h.Raw, line) {
					t.Errorf("the raw bytes are %s, want %s", h.Raw, line)
				}
				sameMembers(t, line, m)
				kinds[strings.TrimSuffix(h.Type+"/"+h.Subtype, "/")]++
			}
			if log.Len() > 0 {
				t.Errorf("logged:\n%s", log.String())
			}
			if n := p.Unknown(); len(n) > 0 {
				t.Errorf("unknown: %v", n)
			}
		})
	}
	if len(kinds) != 21 {
		t.Errorf("%d kinds of messages: %v", len(kinds), kinds)
	}
}
