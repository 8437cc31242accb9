package sessions

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/toolpost/toolpost/claude/internal/ids"
	"github.com/toolpost/toolpost/internal/lazyregexp"
	"github.com/toolpost/toolpost/internal/wire"
)

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
	key := Key{Project: s.Project, SessionID: ids.NewUUID()}
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
		f.ids[l.UUID], f.last = ids.NewUUID(), l.UUID
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
			copied := slices.Contains(strings.Fields(kept), l.Type)
			if l.isLinked() && f.ids[l.UUID] != "" && !written[l.UUID] {
				copied, written[l.UUID] = true, true
			}
			if copied && !yield(f.line(raw, l), nil) {
				return
			}
		}
		yield(wire.Append(nil, `"type":"`+typeCustomTitle+`"`, `"sessionId":"`+f.to+`"`, `"customTitle":`+string(wire.Quote(title)), `"uuid":"`+ids.NewUUID()+`"`, `"timestamp":"`+f.now+`"`), nil)
	}
}

var quotedUUID = lazyregexp.New(`"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"`)

// line returns a line of the copy. Ids of messages are replaced wherever they stand,
// except in the text of messages.
func (f *fork) line(raw json.RawMessage, l *line) json.RawMessage {
	id := f.ids[l.UUID]
	edited := wire.Edit(raw, func(name string, value json.RawMessage) json.RawMessage {
		switch {
		case slices.Contains(strings.Fields(bound), name):
			return nil
		case name == "sessionId":
			return wire.Quote(f.to)
		case name == "message" || name == "toolUseResult":
			return value
		case name == "uuid" && id != "":
			return wire.Quote(id)
		case name == "parentUuid" && f.ids[l.ParentUUID] == "":
			return json.RawMessage("null")
		case name == "parentUuid":
			return wire.Quote(f.ids[l.ParentUUID])
		case name == "timestamp" && id != "" && l.UUID == f.last: // the CLI continues from the latest
			return wire.Quote(f.now)
		}
		return quotedUUID.ReplaceAllFunc(value, func(old []byte) []byte {
			if to := f.ids[wire.Unquote(old)]; to != "" {
				return wire.Quote(to)
			}
			return old
		})
	})
	if id == "" {
		return edited
	}
	return wire.Append(edited, `"forkedFrom":{"sessionId":`+string(wire.Quote(f.from))+`,"messageUuid":`+string(wire.Quote(l.UUID))+`}`)
}
