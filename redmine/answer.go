package redmine

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/toolpost/toolpost"
)

// answer returns v for programs and text for people and models; neither has our
// credentials in it.
func (s *Toolset) answer(text string, v any) (*toolpost.Result, error) {
	var structured bytes.Buffer
	e := json.NewEncoder(&structured)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	part := toolpost.Part{Type: "text", Text: s.client.hide.inText(text)}
	return toolpost.NewResult().WithContent([]toolpost.Part{part}, s.client.hide.inJSON(bytes.TrimSuffix(structured.Bytes(), []byte("\n"))))
}

// answerLine answers with one line and a few facts.
func (s *Toolset) answerLine(text string, facts map[string]any) (*toolpost.Result, error) {
	return s.answer(text+"\n", facts)
}

// show answers with text and a record after it. The facts are for programs; they are
// the record itself if there are none.
func (s *Toolset) show(text string, record any, facts map[string]any) (*toolpost.Result, error) {
	if p, ok := record.(preparer); ok {
		p.prepare()
	}
	if text += textOf(record); facts == nil {
		return s.answer(text, record)
	}
	return s.answer(text, facts)
}

// summarize words what was done, what Redmine did not take of it, and why.
func summarize(done, why string, wrong []string) string {
	if len(wrong) == 0 {
		return done + ".\n"
	}
	return fmt.Sprintf("%s, but Redmine did not save everything. Perhaps %s:\n- %s\n", done, why, strings.Join(wrong, "\n- "))
}

// redactErrors keeps our credentials out of errors.
func redactErrors(s *Toolset, t *toolpost.Tool) *toolpost.Tool {
	next := t.Handler
	t.Handler = func(ctx context.Context, call *toolpost.Call) (*toolpost.Result, error) {
		r, err := next(ctx, call)
		return r, s.client.hide.inError(err)
	}
	return t
}

// unread answers that Redmine accepted a change that could not be read back.
func (s *Toolset) unread(done string, err error, facts map[string]any) (*toolpost.Result, error) {
	facts["read_back"] = false
	return s.answerLine(fmt.Sprintf("%s. Do not repeat the change: Redmine accepted it, but it could not be read back, so it is not known whether all of it was saved. %v", done, err), facts)
}
