package e2e_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"testing"
	"testing/synctest"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/claude"
	"github.com/toolpost/toolpost/claude/message"
	"github.com/toolpost/toolpost/usage"
)

// A claudeLoop is a run of the Claude CLI with its own loop, as "toolpost run --model
// claude" has it, whose CLI breaks off by chance. As there, a layer below the CLI denies
// calls whatever the CLI has been permitted.
type claudeLoop struct {
	*biller
	cli     *fakeCLI
	allowed bool                        // the tool "asks"
	sent    map[string]int              // calls that the CLI has sent whole, by their argument
	decided map[string]*claude.Decision // of the permission, by the id of the call
	total   usage.Tokens
	cost    float64
	result  *loopResult // the last one that was told
}

// A loopResult is what a result says of the whole run.
type loopResult struct {
	tokens usage.Tokens
	cost   float64
	last   float64 // of its turn
	failed bool
}

func (l *claudeLoop) start(context.Context, *claude.Command) (claude.Transport, error) {
	c := &fakeCLI{b: l.biller, input: make(chan object, 1000), output: make(chan cliLine), closed: make(chan struct{}), over: make(chan struct{}), answered: map[string]object{}}
	c.answer = l.answer
	l.cli = c
	go c.run()
	return c, nil
}

// answer plays one prompt.
func (l *claudeLoop) answer() {
	c := l.cli
	turnCost, failed := 0.0, false
	c.write(cliLine{text: encode(object{"type": "system", "subtype": "init", "session_id": "s", "tools": []any{"mcp__tools__free", "mcp__tools__asks"}, "mcp_servers": []any{}, "model": "m",
		"permissionMode": "default", "claude_code_version": "2.1.332"})})
	for {
		l.mu.Lock()
		l.requests++
		turn := l.turn()
		for i, p := range turn.Parts { // the API gives each call an id of its own
			if p.ID != "" {
				turn.Parts[i].ID = fmt.Sprintf("%s_%d", p.ID, i)
			}
		}
		l.mu.Unlock()
		if turn.Fail != nil {
			failed = true
			break
		}
		whole := c.speak(turn, false)
		if c.exit != nil {
			return
		}
		if !whole {
			continue
		}
		l.total = l.total.Add(turn.Tokens)
		l.cost += 0.25
		turnCost += 0.25
		var ids []string
		for _, p := range turn.Parts {
			if p.Name == "free" || p.Name == "asks" {
				ids = append(ids, l.send(p.ID, p.Name, p.Arguments, turn.Stop == "")...)
			}
		}
		for _, id := range ids {
			for c.answered[id] == nil {
				c.take()
			}
		}
		if len(ids) == 0 {
			break
		}
	}
	told := &loopResult{l.total, l.cost, turnCost, failed}
	line := cliLine{text: encode(object{"type": "result", "subtype": "success", "is_error": failed, "result": "The end.", "session_id": "s", "total_cost_usd": l.cost,
		"usage":                         object{"input_tokens": 1},
		"model_usage_since_last_result": object{"m": object{"costUSD": turnCost}},
		"modelUsage": object{"m": object{"inputTokens": l.total.Input, "outputTokens": l.total.Output, "thinkingTokens": l.total.Reasoning,
			"cacheReadInputTokens": l.total.CacheRead, "costUSD": l.cost}}}), tell: func() { l.result = told }}
	c.write(c.fault(line))
}

// send asks about a call and makes it, as far as it is of a message that was accepted and
// as the answer is. It returns the ids of the requests to wait for.
func (l *claudeLoop) send(id, tool string, arguments json.RawMessage, accepted bool) []string {
	c := l.cli
	if !accepted {
		return nil
	}
	if tool == "asks" {
		ask := "ask " + id
		twice := c.chance(10)
		for n := 0; n < 1 || n < 2 && twice; n++ {
			c.write(c.fault(cliLine{text: encode(object{"type": "control_request", "request_id": ask, "request": object{
				"subtype": "can_use_tool", "tool_name": "mcp__tools__asks", "input": arguments, "tool_use_id": id}})}))
		}
		for c.answered[ask] == nil {
			c.take()
		}
		said, _ := at(c.answered[ask], "response", "response").(object)
		l.mu.Lock()
		d := l.decided[id]
		allowed := d != nil && d.Allow
		if (said["behavior"] == "allow") != allowed || said["toolUseID"] != id {
			l.t.Errorf("seed %d: the answer to the question about %s is %v, the decision was %+v", l.seed, id, said, d)
		}
		if allowed {
			arguments = encode(said["updatedInput"])
			want := d.Input
			if want == nil {
				want = arguments
			}
			if argument(arguments) != argument(want) {
				l.t.Errorf("seed %d: %s is allowed with %s, the decision was %s", l.seed, id, arguments, want)
			}
		}
		l.mu.Unlock()
		if !allowed {
			return nil
		}
	}
	c.calls++
	request := fmt.Sprintf("call %d", c.calls)
	line := cliLine{text: encode(object{"type": "control_request", "request_id": request, "request": object{
		"subtype": "mcp_message", "server_name": "tools", "message": object{"jsonrpc": "2.0", "id": request, "method": "tools/call",
			"params": object{"name": tool, "arguments": arguments, "_meta": object{"claudecode/toolUseId": id}}}}}), tell: func() { l.sent[argument(arguments)]++ }}
	c.write(c.fault(line))
	return []string{request}
}

// permit is the permission of the run.
func (l *claudeLoop) permit(_ context.Context, r *claude.PermissionRequest) (*claude.Decision, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if d := l.decided[r.ToolUseID]; d != nil { // it is asked twice
		return d, nil
	}
	d := &claude.Decision{}
	switch l.random.IntN(4) {
	case 0:
		d.Message = "No."
	case 1:
		d.Allow, d.Input = true, json.RawMessage(`{"text":"edited `+argument(r.Input)+`"}`)
	default:
		d.Allow = true
	}
	l.decided[r.ToolUseID] = d
	return d, nil
}

// tools are one that only reads and one that asks.
func (l *claudeLoop) tools() toolpost.Toolset {
	named := func(name string, reads bool) *toolpost.Tool {
		t := toolpost.New(name, "A tool.", func(_ context.Context, in struct {
			Text string `json:"text"`
		}) (string, error) {
			l.mu.Lock()
			defer l.mu.Unlock()
			if l.sent[in.Text]--; l.sent[in.Text] < 0 || !reads && !l.allowed {
				l.t.Errorf("seed %d: the call %q of %s ran (asks allowed: %v)", l.seed, in.Text, name, l.allowed)
			}
			return "fine", nil
		}, nil)
		t.Annotations.ReadOnly = &reads
		return t
	}
	return toolpost.Tools{named("free", true), named("asks", false)}
}

// deny returns the tool, denied if it may not run.
func (l *claudeLoop) deny(t *toolpost.Tool) *toolpost.Tool {
	if !*t.Annotations.ReadOnly && !l.allowed {
		t.Handler = func(context.Context, *toolpost.Call) (*toolpost.Result, error) {
			return nil, toolpost.Denied.Errorf("not allowed")
		}
	}
	return t
}

func (l *claudeLoop) runAll() {
	ctx := l.t.Context()
	quiet := slog.New(slog.DiscardHandler)
	server, err := claude.NewServer(ctx, "", toolpost.Map(l.tools(), l.deny), &claude.ServerOptions{Logger: quiet, Ask: true})
	if err != nil {
		l.t.Fatal(err)
	}
	defer server.Close()
	prompts := func(yield func(claude.Prompt) bool) {
		for range 1 + l.seed%3 {
			if !yield(claude.Prompt{Text: "Go on."}) {
				return
			}
		}
	}
	response, err := claude.Collect(claude.RunPrompts(ctx, prompts, &claude.Options{Servers: []*claude.Server{server}, Start: l.start, Logger: quiet, Permission: l.permit}))
	l.check(response, err)
}

// check compares the outcome with what the CLI has told.
func (l *claudeLoop) check(response *claude.Response, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	exit, bad := (*claude.ExitError)(nil), (*message.ParseError)(nil)
	switch {
	case l.result == nil && err == nil:
		l.t.Errorf("seed %d: there is no error, and no result was told", l.seed)
	case l.cli.exit != nil && !errors.As(err, &exit) && !errors.As(err, &bad):
		l.t.Errorf("seed %d: the CLI died, the error is %v", l.seed, err)
	case l.result == nil, errors.As(err, &bad): // which is why the rest was not read
	case response == nil:
		l.t.Errorf("seed %d: the response is lost: %v", l.seed, err)
	default:
		u := response.ModelUsage["m"]
		got := usage.Tokens{Input: int(u.InputTokens), CacheRead: int(u.CacheReadInputTokens), Output: int(u.OutputTokens), Reasoning: int(u.ThinkingTokens)}
		if got != l.result.tokens || response.TotalCostUSD != l.result.cost || response.CostUSDSinceLastResult != l.result.last {
			l.t.Errorf("seed %d: the response has %+v, $%v and $%v since the last result; the CLI said %+v", l.seed, got, response.TotalCostUSD, response.CostUSDSinceLastResult, l.result)
		}
		if l.result.failed && err == nil && response.Err() == nil {
			l.t.Errorf("seed %d: the failure is not reported", l.seed)
		}
	}
}

// TestFaultsOfClaude is TestFaults for the loop of the Claude CLI: only calls that the CLI
// has sent whole run, each once, and not against the rule or the permission; and what the
// outcome says of tokens and costs is what the last result said.
func TestFaultsOfClaude(t *testing.T) {
	for seed := range uint64(faultRuns(200) / 4) {
		synctest.Test(t, func(t *testing.T) {
			l := &claudeLoop{
				biller: &biller{t: t, name: "claude", seed: seed, random: rand.New(rand.NewPCG(seed, 7)), billed: new(usage.Ledger),
					complete: map[string]bool{}, turnstile: make(chan struct{}, 1)},
				allowed: seed%3 == 1, sent: map[string]int{}, decided: map[string]*claude.Decision{},
			}
			l.runAll()
		})
		if t.Failed() {
			return
		}
	}
}
