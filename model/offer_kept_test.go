package model_test

import (
	"runtime"
	"testing"
	"weak"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/anthropic"
	"github.com/toolpost/toolpost/model/gemini"
	"github.com/toolpost/toolpost/model/openai"
	"github.com/toolpost/toolpost/schema"
)

// TestSetsAreNotKept asks models about requests with tools and a schema of the
// answer: a model keeps what it makes of them only for as long as the program has
// them.
func TestSetsAreNotKept(t *testing.T) {
	google := gemini.New("gemini-3-pro-preview", &gemini.Options{APIKey: "key"})
	for _, m := range []model.Model{
		anthropic.New("claude-test", nil), google,
		openai.New("gpt-test", &openai.Options{APIKey: "key"}), openai.NewChat("gpt-test", &openai.Options{APIKey: "key"}),
	} {
		set, output := check(t, m)
		for range 2 { // a set may be reachable from what the first one frees
			runtime.GC()
		}
		if set.Value() != nil || output.Value() != nil {
			t.Errorf("%v keeps the set: %v, the schema: %v", m.Origin(), set.Value() != nil, output.Value() != nil)
		}
		runtime.KeepAlive(m)
	}
}

// check checks a request with a set and a schema of its own.
func check(t *testing.T, m model.Model) (weak.Pointer[toolpost.Set], weak.Pointer[schema.Schema]) {
	t.Helper()
	set, err := toolpost.NewSet(t.Context(), railway(nil))
	if err != nil {
		t.Fatal(err)
	}
	output := schema.MustParse(`{"type":"object","properties":{"a":{"type":"string"}}}`)
	if err := m.Check(&model.Request{Messages: []*model.Message{model.UserText("Hello.")}, Tools: set, Output: output}); err != nil {
		t.Fatal(err)
	}
	return weak.Make(set), weak.Make(output)
}
