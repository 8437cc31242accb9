package sessions

import (
	"context"
	"encoding/json"
	"io/fs"
	"iter"
	"maps"
	"slices"
	"sort"
	"sync"
	"time"
)

// A Memory is a Store that ends with the process. Its zero value is empty. It is safe for
// concurrent use.
type Memory struct {
	mu          sync.Mutex
	transcripts map[Key]*storedTranscript
}

type storedTranscript struct {
	Transcript
	lines []json.RawMessage
}

// Append adds lines to a transcript.
func (m *Memory) Append(_ context.Context, key Key, lines []json.RawMessage) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.transcripts == nil {
		m.transcripts = map[Key]*storedTranscript{}
	}
	t := m.transcripts[key]
	if t == nil {
		t = &storedTranscript{Transcript: Transcript{Key: key}}
		m.transcripts[key] = t
	}
	t.Modified = time.Now()
	for _, line := range lines {
		t.lines, t.Size = append(t.lines, slices.Clone(line)), t.Size+int64(len(line))
	}
	return nil
}

// Load yields the lines that a transcript has when the reading begins.
func (m *Memory) Load(_ context.Context, key Key) iter.Seq2[json.RawMessage, error] {
	return func(yield func(json.RawMessage, error) bool) {
		m.mu.Lock()
		var lines []json.RawMessage
		if t := m.transcripts[key]; t != nil {
			lines = t.lines
		}
		m.mu.Unlock()
		for _, line := range lines {
			if !yield(slices.Clone(line), nil) {
				return
			}
		}
	}
}

// List returns sessions, or the sub-agents of one.
func (m *Memory) List(_ context.Context, key Key) (all []Transcript, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for k, t := range m.transcripts {
		inProject := key.Project == "" || k.Project == key.Project
		if inProject && (key.SessionID == "" && k.Agent == "" || key.SessionID == k.SessionID && k.Agent != "") {
			all = append(all, t.Transcript)
		}
	}
	sort.Slice(all, func(i, j int) bool { return all[i].file() < all[j].file() })
	return all, nil
}

// Delete removes a transcript.
func (m *Memory) Delete(_ context.Context, key Key) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.transcripts[key] == nil {
		return fs.ErrNotExist
	}
	maps.DeleteFunc(m.transcripts, func(k Key, _ *storedTranscript) bool {
		return k == key || key.Agent == "" && k.Project == key.Project && k.SessionID == key.SessionID
	})
	return nil
}
