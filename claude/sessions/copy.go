package sessions

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"iter"
)

// CopyTo brings the copy of the session and its sub-agents in another Store up to
// date: it adds the lines that are missing there.
func (s *Session) CopyTo(ctx context.Context, to Store) error {
	agents, err := s.store.List(ctx, Key{Project: s.Project, SessionID: s.SessionID})
	if err != nil {
		return fmt.Errorf("list the sub-agents of the session %s: %w", s.SessionID, err)
	}
	for _, t := range append([]Transcript{s.Transcript}, agents...) {
		if err := copyMissing(ctx, s.store, to, t.Key); err != nil {
			return fmt.Errorf("copy the session %s: %w", s.SessionID, err)
		}
	}
	return nil
}

func copyMissing(ctx context.Context, from, to Store, key Key) error {
	there := map[[sha256.Size]byte]bool{}
	for raw, err := range to.Load(ctx, key) {
		if err == nil && len(there) == maxNodes {
			err = errTooMany
		}
		if err != nil {
			return err
		}
		there[identity(raw)] = true
	}
	return appendAll(ctx, to, key, func(yield func(json.RawMessage, error) bool) {
		for raw, err := range from.Load(ctx, key) {
			if (err != nil || !there[identity(raw)]) && !yield(raw, err) {
				return
			}
		}
	})
}

// identity distinguishes lines: by their UUID, or by all of their members, which a
// database may have sorted.
func identity(raw json.RawMessage) [sha256.Size]byte {
	if id := parse(raw).UUID; id != "" {
		return sha256.Sum256([]byte(id))
	}
	var all any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if d.Decode(&all) == nil {
		raw, _ = json.Marshal(all) // it was JSON
	}
	return sha256.Sum256(raw)
}

const (
	batchLines = 500
	batchBytes = 1 << 20
)

// appendAll adds lines in portions that a database takes.
func appendAll(ctx context.Context, to Store, key Key, lines iter.Seq2[json.RawMessage, error]) error {
	var batch []json.RawMessage
	size := 0
	for line, err := range lines {
		if err != nil {
			return err
		}
		batch, size = append(batch, line), size+len(line)
		if len(batch) < batchLines && size < batchBytes {
			continue
		}
		if err := to.Append(ctx, key, batch); err != nil {
			return err
		}
		batch, size = nil, 0
	}
	if batch == nil {
		return nil
	}
	return to.Append(ctx, key, batch)
}
