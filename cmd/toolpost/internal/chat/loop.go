package chat

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/toolpost/toolpost/agent"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/terminal"
	"github.com/toolpost/toolpost/internal/cleartext"
	"github.com/toolpost/toolpost/model"
)

const commandHelp = `Type a task or a question. A paste may have several lines.
  /show N      show call N in full; without a number, list the calls
  /tools       list the tools
  /cost        show what this conversation has used
  /compact     replace old messages by a summary, to make room
  /model NAME  continue with another model, such as anthropic/claude-sonnet-5-5
  /continue    continue a turn that was canceled or reached a limit
  /undo        take the last prompt and its answer out of the conversation
  /exit        end; so does Ctrl-D
Tab completes commands, and files after an @. Ctrl-C cancels the turn that
runs; twice ends the program.`

// Loop reads prompts and commands until the user leaves. First is the first
// prompt, empty if the user types it. A session whose calls wait goes on with the
// question about them. If the input is not a terminal, Loop ends
// at the first turn without an answer, and returns the result of the last turn.
func (c *Chat) Loop(ctx context.Context, first string) (*agent.Result, error) {
	var begin []string
	if c.opts.Session.WaitingCalls() > 0 {
		begin = append(begin, "")
	}
	if first != "" {
		begin = append(begin, first)
	}
	for _, prompt := range begin {
		if !c.goesOn() {
			break
		}
		if err := c.answer(ctx, prompt); err != nil {
			return nil, err
		}
	}
	for c.goesOn() {
		line, err := c.readPrompt(ctx)
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, terminal.ErrInterrupt):
			return c.unseenResult(), nil
		case err != nil:
			return nil, err
		case line == "/exit" || line == "/quit":
			return c.unseenResult(), nil
		}
		if err := c.obey(ctx, line); err != nil {
			return nil, err
		}
	}
	return c.unseenResult(), nil
}

// goesOn reports whether the next prompt is read.
func (c *Chat) goesOn() bool {
	return c.lines.Interactive || c.last == nil || c.last.Stop == agent.StopAnswer || c.last.Stop == agent.StopDone
}

// readPrompt reads the next line of the user. The first Ctrl-C does not end the
// conversation.
func (c *Chat) readPrompt(ctx context.Context) (string, error) {
	line, err := c.lines.Read(ctx, c.prompt())
	if errors.Is(err, terminal.ErrInterrupt) {
		c.view.say("Ctrl-C again, or /exit, ends.")
		line, err = c.lines.Read(ctx, c.prompt())
	}
	line = strings.TrimSpace(line)
	if line == "" && c.lines.Interactive && len(c.opts.Session.Messages()) == 0 {
		line = c.opts.Suggestion
	}
	return line, err
}

// unseenResult returns the last result, unless a person has seen it.
func (c *Chat) unseenResult() *agent.Result {
	if c.lines.Interactive {
		return nil
	}
	return c.last
}

// prompt is what stands before the line that the user types.
func (c *Chat) prompt() string {
	s := &c.view.notes
	if c.opts.Suggestion != "" && c.lines.Interactive && len(c.opts.Session.Messages()) == 0 {
		c.view.say("%s", s.paint(dim, "Enter starts: "+c.opts.Suggestion))
	}
	return s.paint(join(bold, cyan), "> ")
}

// obey runs a command, or answers a prompt.
func (c *Chat) obey(ctx context.Context, line string) error {
	if !strings.HasPrefix(line, "/") {
		if line == "" {
			return nil
		}
		return c.answer(ctx, line)
	}
	command, argument, _ := strings.Cut(line, " ")
	argument = strings.TrimSpace(argument)
	switch command {
	case "/help", "/?":
		c.view.say("%s", commandHelp)
	case "/show":
		c.showCall(argument)
	case "/tools":
		c.listTools(ctx)
	case "/cost":
		c.view.say("%s", costs(c.opts.Session.Usage()))
	case "/model":
		c.changeModel(argument)
	case "/compact":
		c.compact(ctx)
	case "/undo":
		c.undo()
	case "/continue":
		return c.answer(ctx, "")
	default:
		c.view.say("there is no command %s; /help lists them", cleartext.Printable(command))
	}
	return nil
}

// answer runs a turn. An error of the model does not end the conversation.
func (c *Chat) answer(ctx context.Context, prompt string) error {
	result, err := c.Turn(ctx, prompt)
	c.last = result
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil && !c.lines.Interactive:
		return errors.Join(err, c.Fail(err))
	case err != nil:
		c.view.fail(err)
	case result == nil && c.json == nil:
		c.view.say("%s", c.view.notes.paint(yellow, "canceled; /continue goes on, and a new prompt starts something else"))
	}
	return nil
}

// compact makes room in the conversation. Ctrl-C cancels it.
func (c *Chat) compact(ctx context.Context) {
	ctx, end := c.withCancel(ctx)
	defer end()
	defer c.lines.Echo(false)()
	c.view.begin()
	replaced, err := c.newAgent().Compact(ctx, c.opts.Session)
	c.view.endTurn()
	switch {
	case err != nil && errors.Is(context.Cause(ctx), errCanceled):
		c.view.say("canceled; nothing is replaced")
	case err != nil:
		c.view.fail(err)
	case replaced == 0:
		c.view.say("there is nothing to replace yet")
	default:
		c.view.say("%s replaced by a summary", formatCount(replaced, "old message is", "old messages are"))
	}
}

func (c *Chat) undo() {
	if err := c.opts.Session.Undo(); err != nil {
		c.view.fail(err)
		return
	}
	c.view.say("the last prompt and what followed are taken back; what calls did stays done")
}

func (c *Chat) showCall(argument string) {
	calls := c.view.calls
	if argument == "" {
		for _, call := range calls.all {
			c.view.say("%s", call.line(&c.view.notes))
		}
		return
	}
	number, err := strconv.Atoi(argument)
	call := calls.find(number)
	if err != nil || call == nil {
		c.view.say("there is no call %s; /show lists them", cleartext.Printable(argument))
		return
	}
	c.view.say("%s", call.details(&c.view.notes))
}

func (c *Chat) listTools(ctx context.Context) {
	tools, err := c.opts.Tools.Tools(ctx)
	if err != nil {
		c.view.fail(err)
		return
	}
	for _, t := range tools {
		first, _, _ := strings.Cut(t.Description, "\n")
		how := "asks "
		if r := t.Annotations.ReadOnly; c.approver.free[t.Name] || r != nil && *r {
			how = "reads"
		} else if c.opts.Rule != Ask || c.approver.isAllowed(&agent.Request{Name: t.Name, Tool: t}) {
			how = "runs "
		}
		if c.opts.Rule == DenyAll && how == "runs " {
			how = "never"
		}
		line := fmt.Sprintf("%s  %s  %s", how, cleartext.Printable(t.Name), cleartext.Printable(first))
		c.view.say("%s", terminal.Cut(line, c.view.notes.width))
	}
}

func (c *Chat) changeModel(name string) {
	if name == "" {
		c.view.say("the model is %s; /model NAME changes it", cleartext.Printable(modelName(c.opts.Model)))
		return
	}
	m, err := c.opts.OpenModel(name)
	if err != nil {
		c.view.fail(err)
		return
	}
	c.opts.Model = m
	c.view.say("continuing with %s", cleartext.Printable(modelName(m)))
}

func modelName(m model.Model) string { return m.Origin().String() }

// Recap shows where a session stopped that is continued.
func (c *Chat) Recap() {
	messages := c.opts.Session.Messages()
	if c.json != nil || len(messages) == 0 {
		return
	}
	last := map[model.Role]string{}
	for _, m := range messages {
		if text := strings.TrimSpace(m.Text()); text != "" {
			last[m.Role] = text
		}
	}
	s := &c.view.notes
	c.view.say("%s", s.paint(dim, "continuing after "+formatCount(len(messages), "message", "messages")))
	for _, role := range []model.Role{model.RoleUser, model.RoleAssistant} {
		if text := last[role]; text != "" {
			c.view.say("%s", s.paint(dim, terminal.Cut(cleartext.Printable(string(role)+": "+text), max(s.width, 80))))
		}
	}
}

// Greet shows what the user talks to.
func (c *Chat) Greet(ctx context.Context) {
	tools, err := c.opts.Tools.Tools(ctx)
	if c.json != nil || err != nil {
		return // the first turn reports the error
	}
	s := &c.view.notes
	c.view.say("%s %s", s.paint(bold, "toolpost chat"), s.paint(dim, cleartext.Printable(fmt.Sprintf("· %s · %s · /help lists the commands", modelName(c.opts.Model), terminal.Count(len(tools), "tool")))))
}
