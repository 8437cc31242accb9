package dialect_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/dev/accept"
	"github.com/toolpost/toolpost/schema"
	"github.com/toolpost/toolpost/schema/dialect"
)

// samples returns tools as a reader of their server gets them: without a
// schema they take anything.
func samples(t testing.TB, samples []accept.Sample) []*toolpost.Tool {
	t.Helper()
	var tools []*toolpost.Tool
	for _, s := range samples {
		tool := defined(t, string(s.Raw))
		if tool.Input == nil {
			tool.Input = schema.MustParse("{}")
		}
		tools = append(tools, tool)
	}
	return tools
}

// TestCorpus adapts the tools of real servers, and odd ones, for every reader.
func TestCorpus(t *testing.T) {
	t.Parallel()
	tools := samples(t, append(accept.Tools(), accept.Torture()...))
	for _, d := range dialect.All() {
		a := d.Adapt(tools, nil)
		for _, w := range a.Withheld {
			if strings.HasSuffix(w.Rule, "/internal") {
				t.Errorf("%s: %+v", d.ID, w)
			}
		}
		if len(a.Tools)+len(a.Withheld) != len(tools) || a.Tokens == 0 {
			t.Errorf("%s: %d tools, %d withheld, %d tokens", d.ID, len(a.Tools), len(a.Withheld), a.Tokens)
		}
		checkNames(t, d.Form().Name, a)
		for _, tool := range a.Tools {
			checkTool(t, d, tool)
		}
	}
}

func checkTool(t *testing.T, d *dialect.Dialect, tool *dialect.Tool) {
	t.Helper()
	text := tool.Description
	switch {
	case d.Form().Text.Max > 0 && utf8.RuneCountInString(text) > d.Form().Text.Max,
		d.Form().Text.Lines > 0 && strings.Count(text, "\n") >= d.Form().Text.Lines,
		strings.ContainsAny(text, d.Form().Text.Forbid), d.Form().Text.Required && text == "":
		t.Errorf("%s, %s: description %q", d.ID, tool.Name, text)
	}
	if !tool.Changed() && len(tool.Losses) > 0 {
		t.Errorf("%s, %s: it is as it was, with losses %v", d.ID, tool.Name, tool.Losses)
	}
	if tool.Strict && d.Form().Strict == nil {
		t.Errorf("%s, %s: it is strict", d.ID, tool.Name)
	}
}
