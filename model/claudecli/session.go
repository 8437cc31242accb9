package claudecli

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/toolpost/toolpost/claude"
	"github.com/toolpost/toolpost/model"
)

// A session is one conversation in a CLI of its own.
type session struct {
	cli    *claude.Session
	server *claude.Server
	desk   *desk
	setup  digest
	said   []digest // the messages that the session has seen, with its own
	calls  []string // ids of the calls that wait

	end   func() error // ends the CLI, also while it starts; only the first call does
	timer *time.Timer  // of the pool
}

// open starts a session.
func (m *Model) open(ctx context.Context, c *conversation) (*session, error) {
	s := &session{desk: newDesk(), setup: c.setup}
	var err error
	s.server, err = claude.NewServer(ctx, serverName, c.tools.with(s.desk.wait), &claude.ServerOptions{Logger: m.opts.Logger})
	if err != nil {
		return nil, err
	}
	life, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	opened := make(chan struct{})
	s.end = sync.OnceValue(func() error {
		defer cancel(claude.ErrClosed)
		select {
		case <-opened:
		default: // it still starts
			cancel(errModelClosed)
			<-opened
		}
		if s.cli == nil {
			return s.server.Close()
		}
		return errors.Join(s.cli.Close(), s.server.Close())
	})
	if err := m.sessions.start(s); err != nil {
		close(opened)
		_ = s.end() // the cause is what is reported
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })
	s.cli, err = claude.Open(life, m.options(c.request, s))
	stop()
	close(opened)
	if err != nil {
		m.sessions.drop(s)
		return nil, err
	}
	return s, nil
}

// options returns how the CLI is started for a request.
func (m *Model) options(r *model.Request, s *session) *claude.Options {
	o := &claude.Options{
		CLI: m.opts.CLI, Dir: m.opts.Dir, Args: m.opts.Args, Start: m.opts.Start,
		Stderr: m.opts.Stderr, Logger: m.opts.Logger, Grace: m.opts.Grace, MaxLine: m.opts.MaxLine,
		MaxRetries: m.opts.MaxRetries, FallbackModel: m.opts.FallbackModel, Betas: m.opts.Betas, ManagedSettings: m.opts.ManagedSettings,

		Model: m.origin.Model, SystemPrompt: r.System,
		Servers: []*claude.Server{s.server}, StrictMCPConfig: true, Tools: []string{}, Skills: []string{},
		ToolTimeout:    m.keepFor + time.Hour, // the pool ends a session before its calls time out
		Hooks:          []claude.Hook{{Event: claude.PostToolUse, Handle: s.desk.replace}},
		NoPersistence:  true,
		SettingSources: []string{},

		PartialMessages: true,
	}
	o.Env = append([]string{
		"DISABLE_AUTO_COMPACT=1",                       // the agent compacts
		"CLAUDE_CODE_DISABLE_NONSTREAMING_FALLBACK=1",  // only streamed messages have an end
		"CLAUDE_CODE_MAX_TOOL_USE_CONCURRENCY=1000000", // calls only wait
		"CLAUDE_CODE_DISABLE_REFUSAL_RETRY=1",          // the agent decides
	}, m.opts.Env...)
	o.Env = append(o.Env, "CLAUDE_AGENT_SDK_MCP_NO_PREFIX")
	if r.MaxTokens > 0 {
		o.Env = append(o.Env, fmt.Sprintf("CLAUDE_CODE_MAX_OUTPUT_TOKENS=%d", r.MaxTokens))
	}
	switch r.Effort {
	case "":
	case effortNone:
		o.Thinking = "disabled"
	default:
		o.Effort = r.Effort
	}
	if r.Output != nil {
		o.Output = r.Output
	}
	return o
}
