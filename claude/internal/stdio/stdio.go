// Package stdio reads recordings of what a program and the claude command wrote to each
// other.
//
//	claudetest.Record ─▶ file.jsonl ─▶ Read ─▶ entries ─▶ claudetest.Replay
package stdio

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
)

// An Entry is a line of a recording.
type Entry struct {
	Dir  string          `json:"dir"`  // stdin: to the CLI; stdout: of the CLI; exit: the end of the CLI
	Line json.RawMessage `json:"line"` // of an exit, the exit code
}

// Read returns the entries of a recording.
func Read(fsys fs.FS, name string) (all []Entry, err error) {
	data, err := fs.ReadFile(fsys, name)
	for line := range bytes.Lines(data) {
		var e Entry
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, fmt.Errorf("read line %d of the recording %s: %w", len(all)+1, name, err)
		}
		all = append(all, e)
	}
	return all, err
}
