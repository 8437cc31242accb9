package offer_test

import (
	"runtime"
	"testing"
	"weak"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/anthropic"
	"github.com/toolpost/toolpost/model/gemini"
	"github.com/toolpost/toolpost/model/openai"
)

// TestSetsAreNotKept asks models about requests with tools: a model keeps what
// it makes of a set only for as long as the program has the set.
func TestSetsAreNotKept(t *testing.T) {
	google, err := gemini.New("gemini-3-pro-preview", &gemini.Options{APIKey: "key"})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []model.Model{
		anthropic.New("claude-test", nil), google,
		openai.New("gpt-test", &openai.Options{APIKey: "key"}), openai.NewChat("gpt-test", &openai.Options{APIKey: "key"}),
	} {
		set := check(t, m)
		for range 2 { // a set may be reachable from what the first one frees
			runtime.GC()
		}
		if set.Value() != nil {
			t.Errorf("%v keeps the set", m.Origin())
		}
		runtime.KeepAlive(m)
	}
}

// check checks a request with a set of its own.
func check(t *testing.T, m model.Model) weak.Pointer[toolpost.Set] {
	t.Helper()
	set, err := toolpost.NewSet(t.Context(), railway(nil))
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Check(&model.Request{Messages: []*model.Message{model.UserText("Hello.")}, Tools: set}); err != nil {
		t.Fatal(err)
	}
	return weak.Make(set)
}
