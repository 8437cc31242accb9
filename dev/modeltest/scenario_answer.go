package modeltest

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/usage"
)

// answers returns the scenarios of single responses.
func answers() []scenario {
	return []scenario{
		{"text", answersText},
		{"thinking", answersThinking},
		{"structured output", answersJSON},
		{"refusal", answersRefusal},
		{"length", answersLength},
		{"length in arguments", cutsArguments},
		{"unknown part", answersUnknown},
		{"no calls", answersWithoutCalls},
	}
}

func answersText(t *testing.T, p *Provider) {
	const want = "Grüße aus Oslo, \"dear\" <user> & 你好 👋.\n\nSecond line."
	tokens := usage.Tokens{Input: 10, CacheRead: 20, CacheWrite: 5, LongCacheWrite: 2, Output: 30, Reasoning: 12}
	turn := text(want)
	turn.Tokens = tokens
	s := Serve(t, p.Wire, turn, text("Again."))
	m, r := p.New(s.URL), request()
	got := p.answer(t, m, r)
	if got.Message.Text() != want || got.Stop != model.StopEnd {
		t.Errorf("the answer is %q, stop %q", got.Message.Text(), got.Stop)
	}
	if want := p.Usage(tokens); got.Usage != want {
		t.Errorf("the usage is %+v, want %+v", got.Usage, want)
	}
	if len(got.Losses) > 0 {
		t.Errorf("losses: %v", got.Losses)
	}
	p.answer(t, m, next(t, r, got))
	p.sendsBack(t, s, got)
}

func answersThinking(t *testing.T, p *Provider) {
	s := Serve(t, p.Wire, Turn{Parts: []model.Part{
		{Type: model.TypeThinking, Text: "The user wants the weather. I call the tool."},
		call("call_1", "weather", `{"city":"Oslo"}`),
	}}, text("It is sunny."))
	m, r := p.New(s.URL), request()
	r.Tools, r.Effort = tools(t), "high"
	got := p.answer(t, m, r)
	if first := got.Message.Parts[0]; first.Type != model.TypeThinking {
		t.Errorf("the first part is %+v", first)
	}
	follow := next(t, r, got)
	if again := p.answer(t, m, follow); len(again.Losses) > 0 {
		t.Errorf("losses: %v", again.Losses)
	}
	p.sendsBack(t, s, got)
}

func answersJSON(t *testing.T, p *Provider) {
	turn := text(`{"city": "Oslo"}`)
	turn.Check = func(body []byte) error { return contains(body, "city", "additionalProperties") }
	s := Serve(t, p.Wire, turn, text("Again."))
	m, r := p.New(s.URL), request()
	r.Output = outputSchema()
	got := p.answer(t, m, r)
	sameJSON(t, "the answer", []byte(got.Message.Text()), `{"city":"Oslo"}`)
	r.Output = nil
	p.answer(t, m, next(t, r, got))
}

func answersRefusal(t *testing.T, p *Provider) {
	turn := text("I cannot help with that.")
	turn.Stop = model.StopRefusal
	got := p.answer(t, p.New(Serve(t, p.Wire, turn).URL), request())
	if got.Stop != model.StopRefusal || got.Refusal == "" {
		t.Errorf("stop %q, refusal %q", got.Stop, got.Refusal)
	}
}

func answersLength(t *testing.T, p *Provider) {
	turn := text("This text is not com")
	turn.Stop = model.StopLength
	s := Serve(t, p.Wire, turn, text("plete."))
	m, r := p.New(s.URL), request()
	r.MaxTokens = 2000
	got := p.answer(t, m, r)
	if got.Stop != model.StopLength || got.Message.Text() != "This text is not com" {
		t.Errorf("the answer is %q, stop %q", got.Message.Text(), got.Stop)
	}
	p.answer(t, m, next(t, r, got))
}

func cutsArguments(t *testing.T, p *Provider) {
	s := Serve(t, p.Wire,
		Turn{Parts: []model.Part{call("call_1", "weather", `{"city":"Os`)}, Stop: model.StopLength}, text("Sorry."))
	m, r := p.New(s.URL), request()
	r.Tools = tools(t)
	got := p.answer(t, m, r)
	calls := got.Message.Calls()
	if got.Stop != model.StopLength || len(calls) != 1 || calls[0].Invalid == "" || calls[0].Name != "weather" {
		t.Fatalf("stop %q, calls %+v", got.Stop, calls)
	}
	p.answer(t, m, next(t, r, got))
}

func answersUnknown(t *testing.T, p *Provider) {
	if p.Unknown == nil {
		t.Fatal("Provider.Unknown is not set; set it or skip this scenario with the reason")
	}
	s := Serve(t, p.Wire, Turn{Parts: []model.Part{
		{Type: model.TypeOpaque, Raw: p.Unknown},
		{Type: model.TypeText, Text: "Done."},
	}}, text("Again."))
	m, r := p.New(s.URL), request()
	got := p.answer(t, m, r)
	if first := got.Message.Parts[0]; first.Type != model.TypeOpaque {
		t.Errorf("the first part is %+v", first)
	}
	if got.Message.Text() != "Done." {
		t.Errorf("the text is %q", got.Message.Text())
	}
	if again := p.answer(t, m, next(t, r, got)); len(again.Losses) > 0 {
		t.Errorf("losses: %v", again.Losses)
	}
	p.sendsBack(t, s, got)
}

func answersWithoutCalls(t *testing.T, p *Provider) {
	turn := text("A summary.")
	turn.Check = func(body []byte) error { return contains(body, "weather", "population") }
	s := Serve(t, p.Wire, turn)
	r := request()
	r.Tools, r.NoCalls = tools(t), true
	if got := p.answer(t, p.New(s.URL), r); got.Stop != model.StopEnd || strings.TrimSpace(got.Message.Text()) == "" {
		t.Errorf("the answer is %q, stop %q", got.Message.Text(), got.Stop)
	}
}

// A missingError is a text that a request does not contain.
type missingError string

func (e missingError) Error() string { return "the request does not contain " + string(e) }

// contains returns an error if a text is not in the body.
func contains(body json.RawMessage, texts ...string) error {
	for _, text := range texts {
		if !strings.Contains(string(body), text) {
			return missingError(text)
		}
	}
	return nil
}
