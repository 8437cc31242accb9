// Package sessions lists, reads and changes the sessions of the claude CLI, which it
// keeps on disk, or of another [Store].
//
//	Disk ── ~/.claude/projects/PROJECT/ID.jsonl                          a Session
//	                           PROJECT/ID/subagents/agent-AGENT.jsonl    a Subagent
package sessions

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"iter"
	"slices"
	"sort"
	"strings"
	"time"
)

// Options choose sessions; nil means all of the user's.
type Options struct {
	Dir   string // only the sessions of this folder; all if empty
	Store Store  // where they are; a *Disk if nil
}

// A Session is a conversation that is stored. Its fields are as they were when it was
// listed; its methods read and change the Store.
type Session struct {
	Transcript         // with its id, which claude.Options.Resume takes
	Title       string // to show: the title, the latest prompt or the first one; empty if there is none of them
	CustomTitle string // given by the user or by Rename
	FirstPrompt string // shortened
	Dir         string // where the CLI worked
	Branch      string // of git
	Tag         string
	Created     time.Time
	Archived    bool // and no prompt was sent since then

	store Store
}

// A sampler can describe a transcript without reading it to the end.
type sampler interface {
	sample(ctx context.Context, key Key) iter.Seq2[json.RawMessage, error]
}

// List yields the sessions that have a prompt or a title, the latest first. Leave
// the loop after as many as are needed: each is read only when its turn comes, from a
// [Disk] its beginning and end, from another Store the whole.
func List(ctx context.Context, opts *Options) iter.Seq2[*Session, error] {
	return func(yield func(*Session, error) bool) {
		store, found, err := list(ctx, opts)
		if err != nil {
			yield(nil, err)
			return
		}
		listed := map[string]bool{}
		for _, t := range found {
			if listed[t.SessionID] { // an older copy in another project
				continue
			}
			s, side, err := describe(ctx, store, t)
			if err == nil && (side || s.Title == "") {
				continue
			}
			listed[t.SessionID] = true
			if !yield(s, err) || err != nil {
				return
			}
		}
	}
}

// Get returns the session with an id. If there is none, the error is
// [fs.ErrNotExist].
func Get(ctx context.Context, id string, opts *Options) (*Session, error) {
	store, found, err := list(ctx, opts)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(found, func(t Transcript) bool { return strings.EqualFold(t.SessionID, id) })
	if i < 0 {
		return nil, fmt.Errorf("find the session %q; check the folder and CLAUDE_CONFIG_DIR: %w", id, fs.ErrNotExist)
	}
	s, _, err := describe(ctx, store, found[i])
	return s, err
}

// list returns the transcripts of sessions, the latest first.
func list(ctx context.Context, opts *Options) (store Store, found []Transcript, err error) {
	if opts == nil {
		opts = &Options{}
	}
	if store = opts.Store; store == nil {
		store = &Disk{}
	}
	var key Key
	if opts.Dir != "" {
		if key.Project, err = Project(opts.Dir); err != nil {
			return nil, nil, err
		}
	}
	if found, err = store.List(ctx, key); err != nil {
		return nil, nil, fmt.Errorf("list the sessions: %w", err)
	}
	found = slices.DeleteFunc(slices.Clone(found), func(t Transcript) bool { // it may be the store's own, and have others too
		return t.Agent != "" || key.Project != "" && t.Project != key.Project
	})
	sort.Slice(found, func(i, j int) bool {
		a, b := &found[i], &found[j]
		return cmp.Or(b.Modified.Compare(a.Modified), strings.Compare(a.SessionID, b.SessionID)) < 0
	})
	return store, found, nil
}

// describe reads what a session is about. Side reports that it is the transcript of a
// sub-agent.
func describe(ctx context.Context, store Store, t Transcript) (s *Session, side bool, err error) {
	read := store.Load
	if d, ok := store.(sampler); ok {
		read = d.sample
	}
	var all summary
	for raw, err := range read(ctx, t.Key) {
		if err != nil {
			return nil, false, fmt.Errorf("read the session %s: %w", t.SessionID, err)
		}
		all.add(parse(raw))
	}
	return all.session(t, store), all.side, nil
}

// Subagents returns the sub-agents that worked in the session.
func (s *Session) Subagents(ctx context.Context) ([]*Subagent, error) {
	found, err := s.store.List(ctx, Key{Project: s.Project, SessionID: s.SessionID})
	if err != nil {
		return nil, fmt.Errorf("list the sub-agents of the session %s: %w", s.SessionID, err)
	}
	var all []*Subagent
	for _, t := range ofSession(found, s.Key) {
		a := &Subagent{Transcript: t, ID: strings.TrimPrefix(t.Agent[strings.LastIndex(t.Agent, "/")+1:], agentPrefix), store: s.store}
		for raw, err := range s.store.Load(ctx, t.Key) {
			if err != nil {
				return nil, fmt.Errorf("read the sub-agent %s: %w", a.ID, err)
			}
			l := parse(raw)
			if l.Type == agentRecord { // the latest counts
				a.Type, a.Description, a.ParentToolUseID, a.ParentAgentID = l.AgentType, l.Description, l.ToolUseID, l.SpawningAgentID
			}
		}
		all = append(all, a)
	}
	return all, nil
}

// ofSession are the transcripts of the sub-agents of a session: a store may list others too.
func ofSession(all []Transcript, session Key) []Transcript {
	return slices.DeleteFunc(slices.Clone(all), func(t Transcript) bool {
		return t.Agent == "" || t.Project != session.Project || t.SessionID != session.SessionID
	})
}

// A Subagent is a sub-agent that worked in a session.
type Subagent struct {
	Transcript
	ID              string
	Type            string // such as general-purpose
	Description     string // of its task
	ParentToolUseID string // the call that started it
	ParentAgentID   string // the sub-agent that started it; empty for the main agent

	store Store
}
