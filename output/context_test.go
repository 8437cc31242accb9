package output_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/output"
)

func message(text string) *toolpost.ToolMessage {
	return toolpost.TextResult(text).Message("id")
}

func TestContextTrims(t *testing.T) {
	shelf := newShelf()
	c := output.New(shelf, &output.Options{Logger: quiet})
	x := &output.Trimmer{Cache: c, Session: "s", Max: 4500, Keep: 1500, Least: 900, Tokens: func(s string) int { return len(s) }}
	image := toolpost.NewResult(toolpost.Part{Type: "text", Text: strings.Repeat("p", 700)}, toolpost.Part{Type: "image", Data: []byte{1}}).Message("i")
	viewed := toolpost.TextResult(strings.Repeat("v", 500)).WithOutputRef("kept").Message("v")
	failed := toolpost.Failed.Resultf("%s", strings.Repeat("e", 500)).Message("e")
	messages := []*toolpost.ToolMessage{message("small"), image, viewed, failed, message(strings.Repeat("a", 600)), message(strings.Repeat("b", 600))}
	if got := x.Trim(t.Context(), messages); !slices.Equal(got, messages) {
		t.Error("it trims below the limit")
	}
	messages = append(messages, message(strings.Repeat("c", 600)))
	before := slices.Clone(messages)
	got := x.Trim(t.Context(), messages)
	if !slices.Equal(messages, before) {
		t.Error("it changes what it is given")
	}
	if got[0] != messages[0] || got[5] != messages[5] || got[6] != messages[6] {
		t.Error("a small or a new output is trimmed")
	}
	if got[2].Text != `[tool output trimmed: 1 lines, 500 characters; read it with tool_output_cache {"ref_id":"kept"}]` || got[2].OutputRef != "kept" {
		t.Errorf("a view became %+v", got[2])
	}
	if p := got[1].Parts; len(p) != 2 || !strings.Contains(p[1].Text, "image of type") || !strings.Contains(p[0].Text, got[1].OutputRef) || got[1].CallID != "i" {
		t.Errorf("parts became %+v", got[1])
	}
	if !got[3].IsError || shelf.whole(t, got[3].OutputRef) != "Error executing tool: "+strings.Repeat("e", 500) {
		t.Errorf("an error became %+v", got[3])
	}
	if again := x.Trim(t.Context(), got); !slices.Equal(again, got) {
		t.Error("what is trimmed is trimmed again")
	}
}

func TestContextWaitsUntilItIsWorthIt(t *testing.T) {
	c := output.New(newShelf(), &output.Options{Logger: quiet})
	x := &output.Trimmer{Cache: c, Max: 1000, Keep: 900, Least: 500, Tokens: func(s string) int { return len(s) }}
	messages := []*toolpost.ToolMessage{message(strings.Repeat("a", 400)), message(strings.Repeat("b", 800))}
	if got := x.Trim(t.Context(), messages); got[0] != messages[0] {
		t.Error("it trims for little")
	}
	messages[0] = message(strings.Repeat("a", 900))
	if got := x.Trim(t.Context(), messages); got[0] == messages[0] || got[1] != messages[1] {
		t.Error("it does not trim what is worth it")
	}
}

func TestContextKeepsWhatCannotBeStored(t *testing.T) {
	shelf := newShelf()
	shelf.create = strings.NewReader("").UnreadByte() // any error
	x := &output.Trimmer{Cache: output.New(shelf, &output.Options{Logger: quiet}), Max: 100, Keep: 1, Least: 1}
	messages := []*toolpost.ToolMessage{message(strings.Repeat("a", 9000)), message("b")}
	if got := x.Trim(t.Context(), messages); got[0] != messages[0] {
		t.Error("what could not be stored is gone")
	}
}

func TestContextTrimsLinks(t *testing.T) {
	shelf := newShelf()
	x := &output.Trimmer{Cache: output.New(shelf, &output.Options{Logger: quiet}), Max: 1000, Keep: 10, Tokens: func(s string) int { return len(s) }}
	links := toolpost.NewResult(slices.Repeat([]toolpost.Part{{Type: "resource_link", URI: "file:///a", Name: "n"}}, 50)...).Message("l")
	got := x.Trim(t.Context(), []*toolpost.ToolMessage{links, message("new")})[0]
	if len(got.Parts) != 1 || !strings.Contains(got.Parts[0].Text, "trimmed: 50 lines") {
		t.Fatalf("links became %+v", got.Parts)
	}
	if stored := shelf.whole(t, got.OutputRef); strings.Count(stored, `{"type":"resource_link","uri":"file:///a","name":"n"}`) != 50 {
		t.Errorf("stored is %q", stored)
	}
}
