package chat

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/charmbracelet/x/ansi"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/agent"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/terminal"
	"github.com/toolpost/toolpost/internal/cleartext"
)

// The rules for calls that need an approval.
const (
	Ask      = ""      // a person decides; without a terminal the calls wait
	AllowAll = "allow" // all calls run
	DenyAll  = "deny"  // no such call runs
)

// An approver decides about calls. Tools that only read need no approval.
type approver struct {
	rule   string
	free   map[string]bool // tools of our own that change nothing outside of the session
	mu     sync.Mutex
	always map[string]string // the definitions of the tools that the user allowed for this session
	ask    func(ctx context.Context, call *agent.Request) (agent.Decision, error)
}

func newApprover(rule string, free []string, ask func(context.Context, *agent.Request) (agent.Decision, error)) *approver {
	a := &approver{rule: rule, free: map[string]bool{}, always: map[string]string{}, ask: ask}
	for _, name := range free {
		a.free[name] = true
	}
	return a
}

// canDecide reports whether no call has to wait.
func (a *approver) canDecide() bool { return a.rule != Ask || a.ask != nil }

// decide is an Approve of an agent.
func (a *approver) decide(ctx context.Context, call *agent.Request) (agent.Decision, error) {
	readOnly := call.Tool.Annotations.ReadOnly
	switch {
	case readOnly != nil && *readOnly, a.free[call.Name]:
		return agent.Decision{Allow: true}, nil
	case a.rule == DenyAll:
		return agent.Decision{Reason: "in this run, only tools that read are allowed"}, nil
	case a.rule == AllowAll && call.Interrupted:
		return agent.Decision{}, nil // the model then looks first
	case a.rule == AllowAll, a.isAllowed(call):
		return agent.Decision{Allow: true}, nil
	case a.ask == nil:
		return agent.Decision{Wait: true}, nil
	}
	return a.ask(ctx, call)
}

// isAllowed reports whether the user has allowed all calls of the tool for the session.
func (a *approver) isAllowed(call *agent.Request) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	allowed, ok := a.always[call.Name]
	return ok && !call.Interrupted && allowed == definition(call.Tool)
}

func (a *approver) allowAll(call *agent.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.always[call.Name] = definition(call.Tool)
}

// definition returns the definition of a tool as the model has it. An approval
// for the session does not hold for another definition.
func definition(t *toolpost.Tool) string {
	raw, err := t.Definition.MarshalJSON()
	if err != nil {
		return ""
	}
	return string(raw)
}

// errCanceled is the cause of a turn that the user canceled.
var errCanceled = errors.New("canceled")

// approvalPrompt returns the question that fits into a terminal beside its answer.
func approvalPrompt(width int) string {
	const long = "Run it? y yes · n no · e edit · a always in this session · v view all: "
	if width > 0 && terminal.Width(long) > width-4 {
		return "Run it? y, n, e edit, a always, v view: "
	}
	return long
}

// maxShown is how many rows of a call a question shows.
const maxShown = 30

// askInTurn asks the user about a call once no other question is open.
func (c *Chat) askInTurn(ctx context.Context, call *agent.Request) (agent.Decision, error) {
	done, err := c.beginQuestion(ctx)
	if err != nil {
		return agent.Decision{}, err
	}
	defer done()
	if c.approver.isAllowed(call) { // since this call waits for its turn
		return agent.Decision{Allow: true}, nil
	}
	return c.askUser(ctx, call)
}

func (c *Chat) askUser(ctx context.Context, call *agent.Request) (agent.Decision, error) {
	shown, edited := *call, json.RawMessage(nil)
	c.showQuestion(&shown, maxShown)
	for {
		key, err := c.lines.Choose(ctx, c.view.notes.paint(bold, approvalPrompt(c.view.notes.width)), "yneav")
		if errors.Is(err, io.EOF) || errors.Is(err, terminal.ErrInterrupt) {
			return agent.Decision{}, errCanceled
		}
		if err != nil {
			return agent.Decision{}, err
		}
		switch key {
		case 'y', 'a':
			if key == 'a' {
				c.approver.allowAll(call)
			}
			if edited != nil {
				return agent.Decision{Allow: true, Arguments: edited}, nil
			}
			return agent.Decision{Allow: true}, nil
		case 'n':
			return c.deny(ctx)
		case 'e':
			if edited = c.edit(ctx, call, edited); edited != nil {
				shown.Arguments = edited
				c.showQuestion(&shown, maxShown)
			}
		case 'v':
			c.showQuestion(&shown, 0)
		}
	}
}

// deny asks for the reason, which the model reads.
func (c *Chat) deny(ctx context.Context) (agent.Decision, error) {
	reason, err := c.lines.Read(ctx, "Why not? The model reads it (Enter for no reason): ")
	if err != nil {
		return agent.Decision{}, errCanceled
	}
	return agent.Decision{Reason: strings.TrimSpace(reason)}, nil
}

// edit has the user edit the arguments. It returns those before if that fails.
func (c *Chat) edit(ctx context.Context, call *agent.Request, before json.RawMessage) json.RawMessage {
	arguments := call.Arguments
	if before != nil {
		arguments = before
	}
	hide := c.lines.Echo(true) // an editor may need it
	changed, err := editJSON(ctx, arguments)
	hide()
	if err != nil {
		c.view.say("the arguments are not changed: %s", cleartext.Printable(err.Error()))
		return before
	}
	return changed
}

// showQuestion shows a call that needs an approval. Most is the number of rows, 0 for all:
// the beginning of a long line would not stay on the terminal.
func (c *Chat) showQuestion(call *agent.Request, most int) {
	s := &c.view.notes
	lines := c.describeChange(call)
	title := "The model wants to run " + cleartext.Printable(call.Name)
	if note := concern(call.Tool); note != "" {
		title += " (" + note + ")"
	}
	if rows := breakRows(lines, s.width-2); most > 0 && len(rows) > most {
		lines = append(rows[:most:most], s.paint(dim, fmt.Sprintf("… %d more lines; v shows all", len(rows)-most)))
	}
	c.view.say("")
	c.view.say("%s", s.paint(yellow, s.fit(title)))
	if call.Interrupted {
		c.view.say("%s", s.paint(red, "The program ended while this call ran before: it may have taken effect."))
	}
	for _, l := range lines {
		c.view.say("  %s", l)
	}
}

// breakRows breaks lines into the rows that a terminal shows; its width is not positive if
// it is unknown.
func breakRows(lines []string, width int) (rows []string) {
	for _, line := range lines {
		rows = append(rows, strings.Split(ansi.Hardwrap(line, width, true), "\n")...)
	}
	return rows
}

// concern is what a tool says about itself.
func concern(t *toolpost.Tool) string {
	var all []string
	if d := t.Annotations.Destructive; d != nil && *d {
		all = append(all, "it may overwrite or delete")
	}
	if o := t.Annotations.OpenWorld; o != nil && *o {
		all = append(all, "it may reach beyond this machine")
	}
	return strings.Join(all, ", ")
}
