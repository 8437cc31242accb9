package sessions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/toolpost/toolpost/internal/wire"
)

// Rename gives the session a title.
func (s *Session) Rename(ctx context.Context, title string) error {
	if title = strings.TrimSpace(title); title == "" {
		return fmt.Errorf("rename the session %s: the title is empty; give one", s.SessionID)
	}
	return s.note(ctx, "rename", typeCustomTitle, "customTitle", title)
}

// SetTag gives the session a tag in place of the one that it has; an empty tag removes
// it. Characters that cannot be seen are left out.
func (s *Session) SetTag(ctx context.Context, tag string) error {
	tag = strings.Map(func(r rune) rune {
		if !unicode.IsGraphic(r) {
			return -1
		}
		return r
	}, tag)
	return s.note(ctx, "tag", typeTag, "tag", strings.TrimSpace(tag))
}

// note adds a line, as the CLI does: the latest of a type counts.
func (s *Session) note(ctx context.Context, what, kind, name, value string) error {
	line := wire.Append(nil, `"type":`+string(wire.Quote(kind)), string(wire.Quote(name))+":"+string(wire.Quote(value)), `"sessionId":`+string(wire.Quote(s.SessionID)))
	if err := s.store.Append(ctx, s.Key, []json.RawMessage{line}); err != nil {
		return fmt.Errorf("%s the session %s: %w", what, s.SessionID, err)
	}
	return nil
}

var errNoDisk = errors.New("only a Disk can keep that a session is archived; use SetTag")

// SetArchived archives the session, or takes it back. An archived session stays where
// it is and is still listed. The next prompt takes it back too.
func (s *Session) SetArchived(_ context.Context, archived bool) error {
	err := errNoDisk
	if d, ok := s.store.(*Disk); ok {
		err = d.archive(s.Key, fmt.Appendf(nil, `{"archived":%t,"at":%q,"by":"sdk"}`, archived, now()))
	}
	if err != nil {
		return fmt.Errorf("archive the session %s: %w", s.SessionID, err)
	}
	return nil
}

// now is the time as the CLI writes it.
func now() string { return time.Now().UTC().Format("2006-01-02T15:04:05.000Z") }

// Delete removes the session and the transcripts of its sub-agents for good.
func (s *Session) Delete(ctx context.Context) error {
	if err := s.store.Delete(ctx, s.Key); err != nil {
		return fmt.Errorf("delete the session %s: %w", s.SessionID, err)
	}
	return nil
}
