package sessions

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
)

// CopyTo brings the copy of the session and its sub-agents in another Store up to
// date: it adds the lines that are missing at its end. If others are missing, the error
// is [ErrGap].
func (s *Session) CopyTo(ctx context.Context, to Store) error {
	agents, err := s.store.List(ctx, Key{Project: s.Project, SessionID: s.SessionID})
	if err != nil {
		return fmt.Errorf("list the sub-agents of the session %s: %w", s.SessionID, err)
	}
	for _, t := range append([]Transcript{s.Transcript}, ofSession(agents, s.Key)...) {
		if err := copyMissing(ctx, s.store, to, t.Key); err != nil {
			return fmt.Errorf("copy the session %s: %w", s.SessionID, err)
		}
	}
	return nil
}

// ErrGap reports a copy that lacks lines in the middle, which cannot be added.
var ErrGap = errors.New("the copy lacks lines in the middle; delete it to copy the session anew")

func copyMissing(ctx context.Context, from, to Store, key Key) error {
	there := map[[sha256.Size]byte]int{} // how often
	for raw, err := range to.Load(ctx, key) {
		if err == nil && len(there) == maxNodes {
			err = errTooMany
		}
		if err != nil {
			return err
		}
		there[identity(raw)]++
	}
	missing := notIn(there, from.Load(ctx, key))
	for _, err := range missing { // before the first of them is added
		if err != nil {
			return err
		}
	}
	return appendAll(ctx, to, key, missing)
}

// notIn yields the lines that are not there as often, and ErrGap where one that is there
// comes after one that is not.
func notIn(there map[[sha256.Size]byte]int, lines iter.Seq2[json.RawMessage, error]) iter.Seq2[json.RawMessage, error] {
	return func(yield func(json.RawMessage, error) bool) {
		left, gap := maps.Clone(there), false
		for raw, err := range lines {
			id, isMessage := identity(raw), parse(raw).UUID != ""
			isThere := err == nil && left[id] > 0
			if isThere {
				left[id]--
			}
			switch {
			case isThere && gap && isMessage:
				err = ErrGap
			case isThere:
				continue
			}
			gap = gap || isMessage
			if !yield(raw, err) || err != nil {
				return
			}
		}
	}
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
