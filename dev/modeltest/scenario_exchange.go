package modeltest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/model"
)

// exchanges returns the scenarios of several messages.
func exchanges() []scenario {
	return []scenario{
		{"tool", callsTool},
		{"parallel tools", callsTools},
		{"invalid arguments", callsWithInvalidArguments},
		{"unknown tool", callsUnknownTool},
		{"image", sendsImage},
		{"image in result", sendsImageInResult},
		{"document", sendsDocument},
		{"unknown media", sendsUnknownMedia},
		{"several messages of the user", sendsSeveralMessages},
		{"other provider", continuesForeignHistory},
	}
}

func callsTool(t *testing.T, p *Provider) {
	s := Serve(t, p.Wire,
		Turn{Parts: []model.Part{{Type: model.TypeText, Text: "I look."}, call("call_1", "weather", `{"city": "Oslo"}`)}},
		Turn{Parts: []model.Part{{Type: model.TypeText, Text: "It is sunny."}},
			Check: func(body []byte) error { return contains(body, "Sunny in Oslo") }})
	m, r := p.New(s.URL), request()
	r.Tools = tools(t)
	got := p.answer(t, m, r)
	calls := got.Message.Calls()
	if got.Stop != model.StopCalls || len(calls) != 1 {
		t.Fatalf("stop %q, calls %+v", got.Stop, calls)
	}
	if c := calls[0]; c.ID == "" || c.Name != "weather" || c.Invalid != "" {
		t.Errorf("the call is %+v", c)
	}
	sameJSON(t, "the arguments", calls[0].Arguments, `{"city":"Oslo"}`)
	if again := p.answer(t, m, next(t, r, got)); again.Stop != model.StopEnd || len(again.Losses) > 0 {
		t.Errorf("stop %q, losses %v", again.Stop, again.Losses)
	}
	p.sendsBack(t, s, got)
}

func callsTools(t *testing.T, p *Provider) {
	s := Serve(t, p.Wire,
		Turn{Parts: []model.Part{
			call("call_1", "weather", `{"city":"Oslo"}`),
			call("call_2", "population", `{"city":"Oslo"}`),
			call("call_3", "weather", `{"city":"Bergen"}`),
		}},
		Turn{Parts: []model.Part{{Type: model.TypeText, Text: "Done."}},
			Check: func(body []byte) error {
				return contains(body, "Sunny in Oslo", "700000 inhabitants", "Sunny in Bergen")
			}})
	m, r := p.New(s.URL), request()
	r.Tools = tools(t)
	got := p.answer(t, m, r)
	calls := got.Message.Calls()
	if len(calls) != 3 || calls[0].Name != "weather" || calls[1].Name != "population" || calls[2].Name != "weather" {
		t.Fatalf("the calls are %+v", calls)
	}
	if calls[0].ID == calls[1].ID || calls[1].ID == calls[2].ID || calls[0].ID == calls[2].ID {
		t.Errorf("two calls have the same id: %+v", calls)
	}
	sameJSON(t, "the arguments", calls[2].Arguments, `{"city":"Bergen"}`)
	p.answer(t, m, next(t, r, got))
	p.sendsBack(t, s, got)
}

func callsWithInvalidArguments(t *testing.T, p *Provider) {
	callsInvalidly(t, p, call("call_1", "weather", `{"town":{"a":1}}`))
}

func callsUnknownTool(t *testing.T, p *Provider) {
	callsInvalidly(t, p, call("call_1", "no_such_tool", `{"city":"Oslo"}`))
}

// callsInvalidly has a call that cannot run beside one that can.
func callsInvalidly(t *testing.T, p *Provider, bad model.Part) {
	t.Helper()
	s := Serve(t, p.Wire, Turn{Parts: []model.Part{bad, call("call_2", "population", `{"city":"Oslo"}`)}}, text("Sorry."))
	m, r := p.New(s.URL), request()
	r.Tools = tools(t)
	got := p.answer(t, m, r)
	calls := got.Message.Calls()
	if len(calls) != 2 || got.Stop != model.StopCalls {
		t.Fatalf("stop %q, calls %+v", got.Stop, calls)
	}
	if calls[0].Invalid == "" || calls[0].Name != bad.Name {
		t.Errorf("the call is %+v", calls[0])
	}
	if calls[1].Invalid != "" {
		t.Errorf("the other call is %+v", calls[1])
	}
	p.answer(t, m, next(t, r, got))
}

// media are the data of images and documents, which no text contains.
var (
	png = []byte("\x89PNG\r\n\x1a\nthe picture of a test")
	pdf = []byte("%PDF-1.7 the document of a test")
	odd = []byte("the data of an unknown format")
)

func containsBase64(body, data []byte) bool {
	return bytes.Contains(body, []byte(base64.StdEncoding.EncodeToString(data)))
}

// sendsPart sends a part in a message of the user, and returns the response and
// the body of the request.
func sendsPart(t *testing.T, p *Provider, part model.Part) (*model.Response, []byte) {
	t.Helper()
	s := Serve(t, p.Wire, text("I see."))
	r := request()
	r.Messages[0].Parts = append(r.Messages[0].Parts, part)
	got := p.answer(t, p.New(s.URL), r)
	return got, s.Requests()[0]
}

func sendsImage(t *testing.T, p *Provider) {
	got, body := sendsPart(t, p, model.Part{Type: model.TypeImage, MIMEType: "image/png", Data: png})
	if !p.SendsData(body, png) || len(got.Losses) > 0 {
		t.Errorf("the image is not in the request, losses %v\n%s", got.Losses, body)
	}
}

func sendsDocument(t *testing.T, p *Provider) {
	got, body := sendsPart(t, p, model.Part{Type: model.TypeDocument, MIMEType: "application/pdf", Data: pdf, Name: "test.pdf"})
	if !p.SendsData(body, pdf) || len(got.Losses) > 0 {
		t.Errorf("the document is not in the request, losses %v\n%s", got.Losses, body)
	}
}

func sendsUnknownMedia(t *testing.T, p *Provider) {
	for _, kind := range []model.PartType{model.TypeImage, model.TypeDocument} {
		got, body := sendsPart(t, p, model.Part{Type: kind, MIMEType: "application/x-odd", Data: odd})
		if p.SendsData(body, odd) || len(got.Losses) != 1 || got.Losses[0].Message != 0 || got.Losses[0].Part != 1 {
			t.Errorf("%s: losses %v\n%s", kind, got.Losses, body)
		}
	}
}

func sendsImageInResult(t *testing.T, p *Provider) {
	s := Serve(t, p.Wire, Turn{Parts: []model.Part{call("call_1", "weather", `{"city":"Oslo"}`)}}, text("I see."))
	m, r := p.New(s.URL), request()
	r.Tools = tools(t)
	follow := next(t, r, p.answer(t, m, r))
	last := follow.Messages[len(follow.Messages)-1]
	last.Parts[0].Result = toolpost.NewResult(
		toolpost.Part{Type: "text", Text: "The map:"}, toolpost.Part{Type: "image", MIMEType: "image/png", Data: png}).Message(last.Parts[0].Result.CallID)
	got := p.answer(t, m, follow)
	if body := s.Requests()[1]; !p.SendsData(body, png) && len(got.Losses) == 0 {
		t.Errorf("the image is not in the request, and no loss is reported\n%s", body)
	}
}

func sendsSeveralMessages(t *testing.T, p *Provider) {
	turn := text("Yes.")
	turn.Check = func(body []byte) error { return contains(body, "Hello.", "One more thing.", "And another.") }
	r := request()
	r.Messages = append(r.Messages, model.UserText("One more thing."),
		&model.Message{Role: model.RoleUser, Parts: []model.Part{{Type: model.TypeText}, {Type: model.TypeText, Text: "And another."}}})
	p.answer(t, p.New(Serve(t, p.Wire, turn).URL), r)
}

// continuesForeignHistory continues a conversation that another provider's model
// began.
func continuesForeignHistory(t *testing.T, p *Provider) {
	const secret = "only for its provider"
	origin := &model.Origin{Provider: "elsewhere", API: "words", Model: "other-1"}
	raw := json.RawMessage(`{"kind":"` + secret + `"}`)
	from := func(part model.Part) model.Part {
		part.Origin, part.Raw = origin, raw
		return part
	}
	const id = "call:1/ü with spaces"
	s := Serve(t, p.Wire, text("It is sunny in both."))
	r := request()
	r.Tools = tools(t)
	results := &model.Message{Role: model.RoleUser}
	assistant := &model.Message{Role: model.RoleAssistant, Parts: []model.Part{
		from(model.Part{Type: model.TypeThinking, Text: "My secret thoughts."}),
		from(model.Part{Type: model.TypeText, Text: "I look."}),
		from(model.Part{Type: model.TypeOpaque, Text: "search"}),
		from(call(id, "weather", `{"city":"Oslo"}`)),
		from(call("call_2", "gone.tool", `{"city":"Bergen"}`)),
	}}
	for _, c := range assistant.Calls() {
		results.Parts = append(results.Parts, model.Part{Type: model.TypeResult,
			Result: toolpost.TextResult("Sunny.").Message(c.ID)})
	}
	again := &model.Message{Role: model.RoleAssistant, Parts: []model.Part{from(call(id, "population", `{"city":"Oslo"}`))}}
	last := &model.Message{Role: model.RoleUser, Parts: []model.Part{
		{Type: model.TypeResult, Result: toolpost.TextResult("700000").Message(id)}, {Type: model.TypeText, Text: "And now?"}}}
	r.Messages = append(r.Messages, assistant, results, again, last)
	got := p.answer(t, p.New(s.URL), r)
	body := string(s.Requests()[0])
	if strings.Contains(body, secret) {
		t.Errorf("the request contains the raw form of another provider\n%s", body)
	}
	for _, part := range []int{0, 2} {
		if !reports(got.Losses, 1, part) {
			t.Errorf("no loss is reported for message 1, part %d: %v", part, got.Losses)
		}
	}
}

// reports reports whether a loss is about a part.
func reports(losses []model.Loss, message, part int) bool {
	for _, l := range losses {
		if l.Message == message && l.Part == part && l.Text != "" {
			return true
		}
	}
	return false
}
