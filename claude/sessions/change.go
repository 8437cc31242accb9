package sessions

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"regexp"
	"slices"
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

// ForkOptions describe a fork; nil means all of the session.
type ForkOptions struct {
	Title string // that of the session with "(fork)" if empty
	UpTo  string // the UUID of the last message that is copied; all if empty
}

// Fork copies the session under a new id, with new ids for all messages, without its
// sub-agents and the old versions of files. The CLI can resume the copy.
func (s *Session) Fork(ctx context.Context, opts *ForkOptions) (*Session, error) {
	if opts == nil {
		opts = &ForkOptions{}
	}
	f := fork{from: s.SessionID, ids: map[string]string{}, now: now()}
	key := Key{Project: s.Project, SessionID: newUUID()}
	f.to = key.SessionID
	err := f.plan(s.Lines(ctx), opts.UpTo)
	if err == nil {
		title := cmp.Or(strings.TrimSpace(opts.Title), cmp.Or(s.Title, "Forked session")+" (fork)")
		err = appendAll(ctx, s.store, key, f.lines(s.Lines(ctx), title))
		if err != nil { // half a session is none
			_ = s.store.Delete(context.WithoutCancel(ctx), key)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("fork the session %s: %w", s.SessionID, err)
	}
	copied, _, err := describe(ctx, s.store, Transcript{Key: key, Modified: time.Now()})
	return copied, err
}

// A fork is a session on its way under another id.
type fork struct {
	from, to string
	ids      map[string]string // new ones of messages by the old ones
	last     string            // the old id of the last message
	now      string
}

// plan gives new ids to what is copied.
func (f *fork) plan(lines iter.Seq2[json.RawMessage, error], upTo string) error {
	for raw, err := range lines {
		if err != nil {
			return err
		}
		l := parse(raw)
		switch {
		case !l.isLinked() || l.IsSide:
			continue
		case len(f.ids) == maxNodes:
			return errTooMany
		}
		f.ids[l.UUID], f.last = newUUID(), l.UUID
		if l.UUID == upTo {
			return nil
		}
	}
	if upTo != "" {
		return fmt.Errorf("it has no message %q; take the UUID of one of its Messages", upTo)
	}
	if len(f.ids) == 0 {
		return errors.New("it has no messages")
	}
	return nil
}

// isLinked reports whether the line is a part of the conversation's tree.
func (l *line) isLinked() bool {
	switch l.Type {
	case typeUser, typeAssistant, typeAttachment, typeSystem, typeProgress:
		return l.UUID != ""
	}
	return false
}

// kept are the types of lines that concern the whole session, and are copied.
const kept = "content-replacement atis-latch tools-used relocated hybrid-organization data-flow-incomplete data-flow-records derived-from"

// bound are members that have a meaning in the old session only.
const bound = "teamName agentName sessionKind slug sourceToolAssistantUUID sentAsUuid rowsAheadOfPutBack turnAttributionKey forkedFrom summarizedTurnPromptUuids droppedPromptUuids"

// lines yields the lines of the copy.
func (f *fork) lines(lines iter.Seq2[json.RawMessage, error], title string) iter.Seq2[json.RawMessage, error] {
	return func(yield func(json.RawMessage, error) bool) {
		written := map[string]bool{}
		for raw, err := range lines {
			if err != nil {
				yield(nil, err)
				return
			}
			l := parse(raw)
			copied := l.UUID == "" && slices.Contains(strings.Fields(kept), l.Type)
			if l.isLinked() && f.ids[l.UUID] != "" && !written[l.UUID] {
				copied, written[l.UUID] = true, true
			}
			if copied && !yield(f.line(raw, l), nil) {
				return
			}
		}
		yield(wire.Append(nil, `"type":"`+typeCustomTitle+`"`, `"sessionId":"`+f.to+`"`, `"customTitle":`+string(wire.Quote(title)), `"uuid":"`+newUUID()+`"`, `"timestamp":"`+f.now+`"`), nil)
	}
}

var quotedUUID = regexp.MustCompile(`"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"`)

// line returns a line of the copy. Ids of messages are replaced wherever they stand,
// except in the text of messages.
func (f *fork) line(raw json.RawMessage, l *line) json.RawMessage {
	edited := wire.Edit(raw, func(name string, value json.RawMessage) json.RawMessage {
		switch {
		case slices.Contains(strings.Fields(bound), name):
			return nil
		case name == "sessionId":
			return wire.Quote(f.to)
		case name == "message" || name == "toolUseResult":
			return value
		case name == "uuid" && l.UUID != "":
			return wire.Quote(f.ids[l.UUID])
		case name == "parentUuid" && f.ids[l.ParentUUID] == "":
			return json.RawMessage("null")
		case name == "parentUuid":
			return wire.Quote(f.ids[l.ParentUUID])
		case name == "timestamp" && l.UUID != "" && l.UUID == f.last: // the CLI continues from the latest
			return wire.Quote(f.now)
		}
		return quotedUUID.ReplaceAllFunc(value, func(id []byte) []byte {
			if to := f.ids[wire.Unquote(id)]; to != "" {
				return wire.Quote(to)
			}
			return id
		})
	})
	if l.UUID == "" {
		return edited
	}
	return wire.Append(edited, `"forkedFrom":{"sessionId":`+string(wire.Quote(f.from))+`,"messageUuid":`+string(wire.Quote(l.UUID))+`}`)
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

// newUUID returns a random UUID (RFC 9562, version 4).
func newUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
