package sessions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"

	"github.com/toolpost/toolpost/claude/message"
	"github.com/toolpost/toolpost/internal/wire"
)

// Lines yields all lines of the session's transcript as they are stored: also notes of
// the CLI, branches that were left, and types that are unknown here.
func (s *Session) Lines(ctx context.Context) iter.Seq2[json.RawMessage, error] {
	return s.store.Load(ctx, s.Key)
}

// Messages yields the conversation: *message.User and *message.Assistant on the
// branch that the last message is on, since it was last compacted. A message that
// cannot be decoded is a *message.Unknown.
func (s *Session) Messages(ctx context.Context) iter.Seq2[message.Message, error] {
	return conversation(ctx, s.store, s.Key, message.Agent{})
}

// Lines yields all lines of the sub-agent's transcript as they are stored.
func (a *Subagent) Lines(ctx context.Context) iter.Seq2[json.RawMessage, error] {
	return a.store.Load(ctx, a.Key)
}

// Messages yields the sub-agent's conversation, as [Session.Messages] does.
func (a *Subagent) Messages(ctx context.Context) iter.Seq2[message.Message, error] {
	return conversation(ctx, a.store, a.Key, message.Agent{ParentToolUseID: a.ParentToolUseID, AgentID: a.ID, SubagentType: a.Type, TaskDescription: a.Description})
}

// conversation reads a transcript twice, so that only its links are in memory.
func conversation(ctx context.Context, store Store, key Key, by message.Agent) iter.Seq2[message.Message, error] {
	return func(yield func(message.Message, error) bool) {
		t := tree{nodes: map[string]*node{}, side: key.Agent != ""}
		for raw, err := range store.Load(ctx, key) {
			if err == nil {
				err = t.add(parse(raw))
			}
			if err != nil {
				yield(nil, fmt.Errorf("read the session %s: %w", key.SessionID, err))
				return
			}
		}
		chosen := t.branch()
		parser := &message.Parser{Logger: slog.New(slog.DiscardHandler)} // transcripts have many members that messages have not
		for raw, err := range store.Load(ctx, key) {
			if err != nil {
				yield(nil, fmt.Errorf("read the session %s: %w", key.SessionID, err))
				return
			}
			l := parse(raw)
			if !chosen[l.UUID] {
				continue
			}
			delete(chosen, l.UUID) // a store may have a line twice
			if !yield(decode(parser, raw, l, by), nil) {
				return
			}
		}
	}
}

// decode returns a line as the message that the CLI's stream would have had.
func decode(parser *message.Parser, raw json.RawMessage, l *line, by message.Agent) message.Message {
	stream := raw
	if l.Type == typeAttachment {
		stream = wire.SetAll(raw,
			wire.Member{Name: "type", Value: wire.Quote(typeUser)},
			wire.Member{Name: "message", Value: wire.Append(nil, `"role":"user"`, `"content":`+string(l.Attachment.Prompt))})
	}
	m, err := parser.Parse(stream)
	if err != nil {
		m = &message.Unknown{Header: message.Header{Type: l.Type, UUID: l.UUID}}
	}
	m.Head().SessionID, m.Head().Raw = l.SessionID, raw
	switch m := m.(type) {
	case *message.User:
		m.Agent, m.ToolUseResult = by, l.ToolUseResult
	case *message.Assistant:
		m.Agent = by
	}
	return m
}

// maxNodes bounds what is kept of a transcript in memory.
const maxNodes = 1 << 20

var errTooMany = errors.New("the transcript has more than a million lines; read its Lines")

// A tree has the links between the lines of a transcript. Every line names its parent;
// a conversation that is continued from an earlier message has branches.
type tree struct {
	nodes map[string]*node
	side  bool // the lines are those of a sub-agent
	last  *node
	order []*node
}

type node struct {
	uuid, parent string
	answer       string // the API's id of the answer that an assistant line is a part of
	calledBy     string // the assistant line whose call a result is for
	isResult     bool
	isVisible    bool
}

func (t *tree) add(l *line) error {
	if l.UUID == "" {
		return nil
	}
	if len(t.order) == maxNodes {
		return errTooMany
	}
	n := &node{uuid: l.UUID, parent: l.ParentUUID, calledBy: l.SourceAssistant}
	speaks := l.Type == typeUser || l.Type == typeAssistant
	n.isVisible = (speaks || l.isQueued()) && !l.IsMeta && l.TeamName == "" && l.IsSide == t.side
	if l.Type == typeAssistant {
		n.answer = l.Message.ID
	}
	_, n.isResult = l.texts()
	t.nodes[n.uuid] = n
	t.order = append(t.order, n)
	if n.isVisible && speaks {
		t.last = n
	}
	return nil
}

// branch returns the visible lines from the first to the last message.
func (t *tree) branch() map[string]bool {
	chosen, answers := map[string]bool{}, map[string]bool{}
	for n := t.last; n != nil && !chosen[n.uuid]; n = t.nodes[n.parent] {
		chosen[n.uuid] = true
		answers[n.answer] = true
	}
	delete(answers, "")
	// An answer with several calls is several lines, one after the other, and the
	// results have different ones as parents: all but one are beside the branch.
	calls := map[string]bool{}
	for _, n := range t.order {
		switch {
		case answers[n.answer]:
			chosen[n.uuid], calls[n.uuid] = true, true
		case n.isResult && (calls[n.parent] || calls[n.calledBy]):
			chosen[n.uuid] = true
		}
	}
	for _, n := range t.order {
		if !n.isVisible {
			delete(chosen, n.uuid)
		}
	}
	return chosen
}
