package agents

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/toolpost/toolpost/claude/message"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/terminal"
	"github.com/toolpost/toolpost/internal/cleartext"
)

// A runView shows a run to people: the text of the model on one writer, and the
// calls on another. On a terminal both are the same.
type runView struct {
	now   func() time.Time
	began time.Time

	mu       sync.Mutex // the logger writes too
	out, err io.Writer
	safe     bool               // out is a terminal
	open     bool               // the last line of out has no end
	parts    bool               // an answer came in parts
	streamed string             // its id, if it has one
	calls    map[string]runCall // that run, by id
	result   *message.Result    // the last one
}

// A runCall is a call of a tool that runs.
type runCall struct {
	name  string
	since time.Time
}

func newRunView(out, err io.Writer, now func() time.Time) *runView {
	return &runView{now: now, began: now(), out: out, err: err, safe: terminal.Is(out), calls: map[string]runCall{}}
}

// line writes a message as it came.
func (v *runView) line(m message.Message) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	raw := string(m.Head().Raw)
	if v.safe {
		raw = cleartext.Sanitize(raw)
	}
	_, err := io.WriteString(v.out, raw+"\n")
	return err
}

func (v *runView) show(m message.Message) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch m := m.(type) {
	case *message.StreamEvent:
		return v.part(m)
	case *message.Assistant:
		return v.answer(m)
	case *message.User:
		for _, b := range m.Content {
			if r, ok := b.(*message.ToolResult); ok {
				v.endCall(&m.Agent, r)
			}
		}
	case *message.APIRetry:
		v.note("the API request failed (%s); attempt %d of %d follows in %s", reason(m), m.Attempt, m.MaxRetries, time.Duration(m.RetryDelayMS)*time.Millisecond)
	case *message.Result:
		v.result = m
	}
	return nil
}

// part writes what the main agent writes.
func (v *runView) part(m *message.StreamEvent) error {
	switch {
	case !m.IsMain():
	case m.Kind == "message_start":
		v.parts, v.streamed = true, m.APIMessageID
	case m.Kind == "content_block_start":
		if _, ok := m.Block.(*message.Text); ok {
			v.close()
		}
	case m.Kind == "content_block_delta":
		return v.write(m.Delta.Text)
	}
	return nil
}

func (v *runView) answer(m *message.Assistant) error {
	for _, b := range m.Content {
		switch b := b.(type) {
		case *message.ToolUse:
			v.calls[b.ID] = runCall{toolName(b.Name), v.now()}
			v.note("%s→ %s %s", indent(&m.Agent), toolName(b.Name), b.Input)
		case *message.Text:
			if !m.IsMain() || m.Error != "" || v.parts && m.MessageID == v.streamed {
				continue // not for people, part of the error, or written already
			}
			v.close()
			if err := v.write(b.Text); err != nil {
				return err
			}
		}
	}
	return nil
}

func (v *runView) endCall(by *message.Agent, r *message.ToolResult) {
	call, ok := v.calls[r.ToolUseID]
	if !ok {
		return
	}
	delete(v.calls, r.ToolUseID)
	took := v.now().Sub(call.since).Round(time.Millisecond)
	if r.IsError {
		v.note("%s✗ %s %s: %s", indent(by), call.name, took, r.Text())
		return
	}
	v.note("%s✓ %s %s", indent(by), call.name, took)
}

// longest is the number of characters of a line about a call.
const longest = 120

// note writes a line about the run, apart from the answer.
func (v *runView) note(format string, args ...any) {
	v.close()
	_, _ = fmt.Fprintln(v.err, terminal.Cut(cleartext.Printable(fmt.Sprintf(format, args...)), longest)) // there is no other place to report the error
}

// Write puts log lines beside the answer.
func (v *runView) Write(p []byte) (int, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.close()
	return v.err.Write(p)
}

func (v *runView) write(text string) error {
	if text == "" {
		return nil
	}
	if v.safe {
		text = cleartext.Sanitize(text)
	}
	v.open = !strings.HasSuffix(text, "\n")
	_, err := io.WriteString(v.out, text)
	return err
}

// close ends the line of the answer that has no end.
func (v *runView) close() {
	if v.open {
		v.open = false
		_, _ = io.WriteString(v.out, "\n") // writing the next text returns the same error
	}
}

// end writes the time, tokens and cost of the run. Tokens and cost are those of
// all agents.
func (v *runView) end() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.close()
	if v.result == nil {
		return
	}
	var in, cached, out int64
	for _, u := range v.result.ModelUsage {
		in += u.InputTokens + u.CacheReadInputTokens + u.CacheCreationInputTokens
		cached += u.CacheReadInputTokens
		out += u.OutputTokens
	}
	v.note("%s · %s · %s in (%d cached), %d out · $%.4f",
		v.now().Sub(v.began).Round(10*time.Millisecond), terminal.Count(int(v.result.NumTurns), "turn"), terminal.Count(int(in), "token"), cached, out, v.result.TotalCostUSD)
}

// toolName is a tool's own name, without that of our server.
func toolName(name string) string { return strings.TrimPrefix(name, "mcp__tools__") }

func indent(a *message.Agent) string {
	if a.IsMain() {
		return ""
	}
	return "  "
}

func reason(m *message.APIRetry) string {
	if m.ErrorStatus != 0 {
		return fmt.Sprintf("%d %s", m.ErrorStatus, m.Error)
	}
	return m.Error
}
