package main_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/claude"
	"github.com/toolpost/toolpost/claude/claudetest"
	"github.com/toolpost/toolpost/claude/message"
	"github.com/toolpost/toolpost/claude/sessions"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/claudecli"
)

// The code of docs/claude.md. It is compiled, and not run: it needs the CLI.
var _ = []any{runTask, watch, converse, control, serve, permit, hook, structured, loop, tell, list, fork, keep}

func runTask(ctx context.Context) (*claude.Response, error) {
	response, err := claude.Do(ctx, "What is new in Go 1.26?", nil)
	return response, err
}

func watch(ctx context.Context, prompt string) error {
	for m, err := range claude.Run(ctx, prompt, &claude.Options{PartialMessages: true}) {
		if err != nil {
			return err
		}
		switch m := m.(type) {
		case *message.StreamEvent:
			fmt.Print(m.Delta.Text)
		case *message.Result:
			fmt.Printf("\n%d turns, $%.4f\n", m.NumTurns, m.TotalCostUSD)
		}
	}
	return nil
}

func converse(ctx context.Context) error {
	session, err := claude.Open(ctx, &claude.Options{Model: "sonnet"})
	if err != nil {
		return err
	}
	defer session.Close()
	first, err := claude.Collect(session.Turn(ctx, "Remember the number 7."))
	if err != nil {
		return err
	}
	second, err := claude.Collect(session.Turn(ctx, "Which number was it?"))
	fmt.Println(first, second)
	return err
}

func control(ctx context.Context, session *claude.Session) error {
	if err := session.Control().SetModel(ctx, "opus"); err != nil {
		return err
	}
	if _, err := session.Control().SetPermissionMode(ctx, claude.ModePlan); err != nil {
		return err
	}
	servers, err := session.Control().MCPStatus(ctx)
	if err != nil {
		return err
	}
	usage, err := session.Control().ContextUsage(ctx)
	fmt.Println(servers, usage)
	return err
}

type terms struct{ A, B float64 }

func serve() *claude.Options {
	add := toolpost.New("add", "Adds two numbers.", func(_ context.Context, in terms) (float64, error) {
		return in.A + in.B, nil
	}, &toolpost.Options{Annotations: toolpost.Annotations{ReadOnly: new(true)}})

	opts := &claude.Options{Toolset: toolpost.Tools{add}}
	return opts
}

func permit(opts *claude.Options) {
	opts.Permission = func(ctx context.Context, r *claude.PermissionRequest) (*claude.Decision, error) {
		if r.ToolName == "Bash" && bytes.Contains(r.Input, []byte("rm ")) {
			return &claude.Decision{Message: "Nothing is deleted here."}, nil
		}
		return &claude.Decision{Allow: true}, nil
	}
	opts.Restrict = map[string]map[string]any{"Bash": {"run_in_background": false}}
}

func hook(opts *claude.Options) {
	opts.Hooks = []claude.Hook{{
		Event:   claude.PreToolUse,
		Matcher: "Bash", // "" is every tool, also those of the program: mcp__SERVER__TOOL
		Handle: func(ctx context.Context, in *claude.HookInput) (*claude.HookOutput, error) {
			if bytes.Contains(in.ToolInput, []byte("rm ")) {
				return &claude.HookOutput{Permission: claude.HookDeny, Reason: "delete nothing"}, nil
			}
			return nil, nil // nothing to say
		},
	}}
}

func structured(ctx context.Context) error {
	type verdict struct {
		Good bool   `json:"good"`
		Why  string `json:"why" desc:"One sentence."`
	}
	v, response, err := claude.DoAs[verdict](ctx, "Is this name good: Toolpost?", nil)
	fmt.Println(v, response)
	return err
}

func loop(ctx context.Context, r *model.Request) (*model.Response, error) {
	m := claudecli.New("sonnet", nil)
	defer m.Close()
	for d, err := range m.Stream(ctx, r) {
		if err != nil {
			return nil, err
		}
		if d.Response != nil {
			return d.Response, nil
		}
	}
	return nil, nil
}

func tell(err error) {
	var failed *claude.ResultError
	switch {
	case errors.As(err, &failed):
		log.Printf("%s, API status %d; resume %s", failed.Subtype, failed.APIStatus, failed.SessionID)
	case errors.Is(err, claude.ErrNoResult):
		log.Print("the CLI ended early")
	}
}

func list(ctx context.Context) error {
	for s, err := range sessions.List(ctx, &sessions.Options{Dir: "."}) {
		if err != nil {
			return err
		}
		fmt.Println(s.SessionID, s.Modified, s.Title)
	}
	return nil
}

func fork(ctx context.Context, id string) error {
	s, err := sessions.Get(ctx, id, nil)
	if err != nil {
		return err
	}
	fork, err := s.Fork(ctx, &sessions.ForkOptions{Title: "Another try"})
	if err != nil {
		return err
	}
	response, err := claude.Do(ctx, "Try it with a map.", &claude.Options{Resume: fork.SessionID})
	fmt.Println(response)
	return err
}

func TestReplay(t *testing.T) {
	opts := &claude.Options{Start: claudetest.Replay(t, claudetest.Recordings, "recordings/overloaded.jsonl")}
	_, err := claude.Do(t.Context(), "anything", opts)
	var failed *claude.ResultError
	if !errors.As(err, &failed) || failed.APIStatus != 529 {
		t.Errorf("error %v, want a status of 529", err)
	}
}

func keep(ctx context.Context, store sessions.Store, dir string) error {
	opts := &claude.Options{SessionStore: store, Dir: dir}
	first, err := claude.Do(ctx, "Remember the number 7.", opts)
	if err != nil {
		return err
	}
	opts.Resume = first.SessionID
	second, err := claude.Do(ctx, "Which number was it?", opts)
	fmt.Println(second)
	return err
}
