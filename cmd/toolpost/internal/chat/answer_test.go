package chat

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/agent"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/terminal"
	"github.com/toolpost/toolpost/model"
)

// TestAnswerIsComplete: a program that reads the answer gets nothing of a response that
// breaks off.
func TestAnswerIsComplete(t *testing.T) {
	var out, notes bytes.Buffer
	v := newView(&out, &notes)
	half := &agent.Event{Type: agent.EventDelta, Delta: &model.Delta{Type: model.TypeText, Text: "I look"}}
	again := &agent.Event{Type: agent.EventDelta, Delta: &model.Delta{Restart: &model.Error{Text: "cut", Err: errors.New("request 2 of 6 follows in 1s")}}}
	whole := &agent.Event{Type: agent.EventResponse, Response: &model.Response{Message: &model.Message{Parts: []model.Part{
		{Type: model.TypeText, Text: "I looked."}, {Type: model.TypeThinking, Text: "Hm."}, {Type: model.TypeText, Text: "It is there."}}}}}
	for _, e := range []*agent.Event{half, again, half, again, half, whole} {
		if err := v.Event(e); err != nil {
			t.Fatal(err)
		}
	}
	if got := out.String(); got != "I looked.\nIt is there.\n" {
		t.Errorf("the answer is %q", got)
	}
	if got := notes.String(); strings.Count(got, "request 2 of 6 follows in 1s") != 2 {
		t.Errorf("the notes are %q", got)
	}
}

// TestQuestionFits: the question about a call breaks at words, and leaves room for the
// answer, at any width of a terminal.
func TestQuestionFits(t *testing.T) {
	for _, width := range []int{50, 60, 80, 132} {
		var screen bytes.Buffer
		v := onScreen(&screen, wide(width))
		c := &Chat{view: v}
		yes := true
		c.showQuestion(&agent.Request{Name: "edit", Arguments: []byte(`{"path":"a"}`), Tool: &toolpost.Tool{Definition: toolpost.Definition{Name: "edit",
			Annotations: toolpost.Annotations{Destructive: &yes, OpenWorld: &yes}}}}, maxShown)
		for _, line := range strings.Split(sequences.ReplaceAllString(screen.String(), ""), "\n") {
			if terminal.Width(line) > width {
				t.Errorf("%d: the line %q is too long", width, line)
			}
		}
		if joined := strings.Join(strings.Fields(sequences.ReplaceAllString(screen.String(), "")), " "); !strings.Contains(joined, "it may overwrite or delete, it may reach beyond this machine)") {
			t.Errorf("%d: words are broken: %s", width, joined)
		}
		if p := approvalPrompt(width); terminal.Width(p) > width-4 {
			t.Errorf("%d: there is no room for an answer after %q", width, p)
		}
	}
}

// TestQuestionShowsBeginning: a line of many rows does not push what a call begins with off
// the terminal.
func TestQuestionShowsBeginning(t *testing.T) {
	var screen bytes.Buffer
	c := &Chat{view: onScreen(&screen, wide(80)), opts: Options{Ours: map[string]bool{"bash": true}}}
	call := &agent.Request{Name: "bash", Arguments: []byte(`{"command":"rm -r important;` + strings.Repeat(" ", 5000) + `ls"}`), Tool: &toolpost.Tool{}}
	c.showQuestion(call, maxShown)
	got := sequences.ReplaceAllString(screen.String(), "")
	if rows := strings.Count(got, "\n"); rows > maxShown+4 || !strings.Contains(got, "rm -r important") || !strings.Contains(got, "more lines; v shows all") {
		t.Errorf("%d rows:\n%s", rows, got)
	}
	for _, line := range strings.Split(got, "\n") {
		if terminal.Width(line) > 80 {
			t.Errorf("a line is of several rows: %q", line)
		}
	}
	screen.Reset()
	c.showQuestion(call, 0)
	if !strings.Contains(screen.String(), "ls") {
		t.Error("the end is not shown either")
	}
}
