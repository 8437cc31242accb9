// Package claudecli makes the Claude CLI a model of the agent loop, so that an
// agent runs with the login of the CLI.
//
// The CLI has a loop of its own and takes no history. So a session of the CLI
// stays open between the requests of a conversation: its tool calls wait for
// the results that the next request contains.
//
//	request 1 ── prompt ──▶ CLI ── tool calls ──▶ desk (they wait)
//	response 1 ◀── message with the calls ─┘        ▲
//	request 2 ── results ───────────────────────────┘
//	response 2 ◀── message ── CLI
//
// A request that continues no open session, for example after a restart of the
// process, starts a new one. Its earlier messages are then sent as text, which
// [model.Response.Losses] reports.
package claudecli

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/claude"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/internal/provider"
)

// Options are the optional parts of New.
type Options struct {
	// CLI configures the CLI: CLI, Dir, Env, Args, Start, Stderr, Logger, Grace,
	// MaxLine, MaxRetries, FallbackModel, Betas and ManagedSettings are used. The
	// request and this package determine everything else: the CLI has no tools
	// of its own, no settings of the user or the project, and stores nothing.
	CLI *claude.Options

	MaxSessions int           // how many sessions wait for the next request of their conversation; 8 if 0
	KeepFor     time.Duration // how long such a session waits; 30 min if 0
}

// A Model is a [model.Model] that the Claude CLI runs. Close it after use. It is safe for
// concurrent use.
type Model struct {
	origin   model.Origin
	opts     claude.Options
	keepFor  time.Duration
	sessions *pool
	toolsets provider.Cache[toolpost.Set, *toolset]
	hide     func(string) string // removes secrets from texts
}

// New returns a model of the Claude CLI. The name is an alias such as "sonnet"
// or a full name; the CLI chooses the model if it is empty.
func New(name string, opts *Options) *Model {
	o := Options{CLI: &claude.Options{}}
	if opts != nil {
		o = *opts
	}
	m := &Model{
		origin:  model.Origin{Provider: "claude-cli", API: "cli", Model: name},
		keepFor: 30 * time.Minute,
	}
	if o.CLI != nil {
		m.opts = *o.CLI
	}
	if o.KeepFor > 0 {
		m.keepFor = o.KeepFor
	}
	if o.MaxSessions <= 0 {
		o.MaxSessions = 8
	}
	m.sessions = newPool(o.MaxSessions, m.keepFor)
	m.hide = hider(m.opts.Env)
	return m
}

// Origin identifies the model.
func (m *Model) Origin() model.Origin { return m.origin }

// Retries implements what [model.Retries] asks: the CLI sends requests again.
func (m *Model) Retries() bool { return true }

// Close ends all sessions, also those of streams that have not ended, and waits
// until their processes have ended.
func (m *Model) Close() error { return m.sessions.close() }

// Check returns the reason why the CLI would refuse the request.
func (m *Model) Check(r *model.Request) error {
	if err := r.Validate(); err != nil {
		return err
	}
	if !slices.Contains([]string{"", effortNone, "low", "medium", "high"}, r.Effort) {
		return fmt.Errorf("unknown effort %q; use none, low, medium or high", r.Effort)
	}
	if r.MaxTokens < 0 {
		return fmt.Errorf("the maximum of tokens is %d; use a number above 0, or 0 for the model's own", r.MaxTokens)
	}
	if last := len(r.Messages) - 1; !slices.ContainsFunc(r.Messages[last].Parts, hasContent) {
		return fmt.Errorf("message %d, the last, is empty; the CLI takes no empty prompt", last)
	}
	return nil
}

const effortNone = "none"

// hasContent reports whether a part of a prompt is anything but space.
func hasContent(p model.Part) bool {
	return p.Type != model.TypeText || strings.TrimSpace(p.Text) != ""
}

// errLeft means that the loop over the stream was left.
var errLeft = errors.New("the loop over the stream was left")

// Stream sends the request: to the open session of its conversation if there is
// one, otherwise to a new one. When ctx ends or the loop is left, the session
// ends with its process.
func (m *Model) Stream(ctx context.Context, r *model.Request) iter.Seq2[*model.Delta, error] {
	return provider.Limit(m.origin, func(yield func(*model.Delta, error) bool) {
		err := m.stream(ctx, r, yield)
		if err != nil && !errors.Is(err, errLeft) {
			yield(nil, m.failure(ctx, err))
		}
	})
}

func (m *Model) stream(ctx context.Context, r *model.Request, yield func(*model.Delta, error) bool) error {
	if err := m.Check(r); err != nil {
		return &model.Error{Kind: model.KindInvalid, Err: err}
	}
	c, err := m.newConversation(ctx, r)
	if err != nil {
		return &model.Error{Kind: model.KindInvalid, Err: err}
	}
	t := &turn{m: m, c: c, yield: yield}
	if s := m.sessions.take(c); s != nil {
		if err := t.run(ctx, s, c.next(s)); !t.isUnanswered(ctx, err) {
			return err
		}
		t = &turn{m: m, c: c, yield: yield} // the session has ended meanwhile
	}
	s, err := m.open(ctx, c)
	if err != nil {
		return err
	}
	return t.run(ctx, s, c.first())
}
