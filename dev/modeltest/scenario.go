package modeltest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/schema"
	"github.com/toolpost/toolpost/usage"
)

// Key is the credential that a Provider's New must use.
const Key = "sk-test-0123456789abcdefghijklmnop"

// A Provider is what the scenarios need to know about a provider.
type Provider struct {
	Name string
	Wire Wire

	// New returns a model that sends its requests to the server at url, with Key
	// and without retries.
	New func(url string) model.Model

	// Skip contains scenarios that the provider cannot perform: the name of the
	// scenario and the reason.
	Skip map[string]string

	// Unknown is a part of a response whose type the provider's package does not
	// know. The Wire sends the Raw form of opaque parts as it is.
	Unknown json.RawMessage

	// Usage returns what the wire format can express of the tokens; nil means all.
	Usage func(t usage.Tokens) usage.Tokens

	// Sends reports whether the body of a request contains the raw form of a part;
	// nil means that it contains its bytes.
	Sends func(body []byte, raw json.RawMessage) bool

	// SendsData reports whether the body of a request contains the data of an
	// image or document; nil means that it contains them in base64.
	SendsData func(body, data []byte) bool
}

// A scenario is a conversation with a fake provider.
type scenario struct {
	name string
	run  func(t *testing.T, p *Provider)
}

// Run runs all scenarios with a provider.
func Run(t *testing.T, p Provider) {
	t.Helper()
	if p.Usage == nil {
		p.Usage = func(t usage.Tokens) usage.Tokens { return t }
	}
	if p.Sends == nil {
		p.Sends = func(body []byte, raw json.RawMessage) bool { return bytes.Contains(body, raw) }
	}
	if p.SendsData == nil {
		p.SendsData = containsBase64
	}
	all := slices.Concat(answers(), exchanges(), failures(), limits())
	for name := range p.Skip {
		if !slices.ContainsFunc(all, func(s scenario) bool { return s.name == name }) {
			t.Errorf("%s skips the scenario %q, which does not exist", p.Name, name)
		}
	}
	for _, s := range all {
		t.Run(s.name, func(t *testing.T) {
			if why := p.Skip[s.name]; why != "" {
				t.Skipf("%s: %s", p.Name, why)
			}
			s.run(t, &p)
		})
	}
}

// A place is the argument of the tools.
type place struct {
	City string `json:"city"`
}

// tools returns the tools of the scenarios: weather and population.
func tools(t *testing.T) *toolpost.Set {
	t.Helper()
	set, err := toolpost.NewSet(context.Background(), toolpost.Tools{
		toolpost.New("weather", "Returns the weather of a city.", func(_ context.Context, in place) (string, error) {
			return "Sunny in " + in.City, nil
		}, nil),
		toolpost.New("population", "Returns how many people live in a city.", func(_ context.Context, in place) (string, error) {
			return in.City + " has 700000 inhabitants", nil
		}, nil),
	})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// outputSchema returns the schema of structured answers.
func outputSchema() *schema.Schema {
	return schema.MustParse(`{"type":"object","properties":{"city":{"type":"string"}},"required":["city"],"additionalProperties":false}`)
}

// A reply is everything that a model yielded for one request.
type reply struct {
	*model.Response
	deltas []*model.Delta
	err    error
}

// ask sends a request and collects the reply.
func ask(t *testing.T, m model.Model, r *model.Request) *reply {
	t.Helper()
	var got reply
	for delta, err := range m.Stream(context.Background(), r) {
		if err != nil {
			got.err = err
			continue
		}
		if got.err != nil || got.Response != nil {
			t.Error("the stream continues after its end")
		}
		if got.deltas = append(got.deltas, delta); delta.Response != nil {
			got.Response = delta.Response
		}
	}
	return &got
}

// answer is ask for requests that succeed. It checks what holds for every
// response.
func (p *Provider) answer(t *testing.T, m model.Model, r *model.Request) *model.Response {
	t.Helper()
	if err := m.Check(r); err != nil {
		t.Fatalf("Check: %v", err)
	}
	got := ask(t, m, r)
	switch {
	case got.err != nil:
		t.Fatalf("the request failed: %v", got.err)
	case got.Response == nil || got.Message == nil:
		t.Fatal("the stream ended without a response")
	case got.Message.Role != model.RoleAssistant:
		t.Errorf("the role of the response is %q", got.Message.Role)
	}
	texts := map[int]string{}
	for _, delta := range got.deltas {
		texts[delta.Part] += delta.Text
	}
	for i, part := range got.Message.Parts {
		if part.Origin == nil || *part.Origin != m.Origin() {
			t.Errorf("the origin of part %d is %v, want %v", i, part.Origin, m.Origin())
		}
		streamed := part.Type == model.TypeText && r.Output == nil || part.Type == model.TypeThinking
		if streamed && texts[i] != part.Text {
			t.Errorf("the deltas of part %d are %q, the part is %q", i, texts[i], part.Text)
		}
	}
	roundTrip(t, got.Message)
	return got.Response
}

// roundTrip checks that the message survives in a session file.
func roundTrip(t *testing.T, m *model.Message) {
	t.Helper()
	data, err := json.Marshal(m)
	if err != nil {
		t.Fatalf("the message cannot be stored: %v", err)
	}
	var read *model.Message
	if err := json.Unmarshal(data, &read); err != nil {
		t.Fatal(err)
	}
	again, err := json.Marshal(read)
	if err != nil || !bytes.Equal(data, again) {
		t.Errorf("the stored message changed (%v)\nfrom %s\nto   %s", err, data, again)
	}
	for i, part := range m.Parts {
		if !bytes.Equal(part.Raw, read.Parts[i].Raw) {
			t.Errorf("the stored raw form is %s, want %s", read.Parts[i].Raw, part.Raw)
		}
	}
}

// next returns the request that continues r after the response: with the results
// of the calls, or with a text of the user.
func next(t *testing.T, r *model.Request, response *model.Response) *model.Request {
	t.Helper()
	user := &model.Message{Role: model.RoleUser}
	for _, call := range response.Message.Calls() {
		result := toolpost.Failed.Resultf("%s", call.Invalid)
		if call.Invalid == "" {
			var err error
			if result, err = r.Tools.Call(context.Background(), &toolpost.Call{ID: call.ID, Name: call.Name, Arguments: call.Arguments}); err != nil {
				t.Fatal(err)
			}
		}
		user.Parts = append(user.Parts, model.Part{Type: model.TypeResult, Result: result.Message(call.ID)})
	}
	if user.Parts == nil {
		user = model.UserText("Go on.")
	}
	follow := *r
	follow.Messages = slices.Concat(r.Messages, []*model.Message{response.Message, user})
	return &follow
}

// sendsBack checks that the last request contains the raw form of every part of
// a response.
func (p *Provider) sendsBack(t *testing.T, s *Server, response *model.Response) {
	t.Helper()
	requests := s.Requests()
	body := requests[len(requests)-1]
	for i, part := range response.Message.Parts {
		if len(part.Raw) == 0 {
			t.Errorf("part %d has no raw form", i)
		} else if !p.Sends(body, part.Raw) {
			t.Errorf("the next request does not contain part %d as it was received\npart %s\nbody %s", i, part.Raw, body)
		}
	}
}

// text returns a turn that answers with a text.
func text(text string) Turn { return Turn{Parts: []model.Part{{Type: model.TypeText, Text: text}}} }

// call returns the part of a turn that calls a tool.
func call(id, name, arguments string) model.Part {
	return model.Part{Type: model.TypeCall, ID: id, Name: name, Arguments: json.RawMessage(arguments)}
}

// request returns a request with one text of the user.
func request() *model.Request {
	return &model.Request{System: "You are a test.", Messages: []*model.Message{model.UserText("Hello.")}}
}

// sameJSON checks a JSON value.
func sameJSON(t *testing.T, what string, got []byte, want string) {
	t.Helper()
	var a, b any
	if err := json.Unmarshal(got, &a); err != nil {
		t.Errorf("%s is %q: %v", what, got, err)
		return
	}
	if err := json.Unmarshal([]byte(want), &b); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(a, b) {
		t.Errorf("%s is %s, want %s", what, got, want)
	}
}

// asError returns the *model.Error of a failed request.
func asError(t *testing.T, err error) *model.Error {
	t.Helper()
	var failed *model.Error
	if !errors.As(err, &failed) {
		t.Fatalf("the error is %T %v, want a *model.Error", err, err)
	}
	if strings.Contains(err.Error(), Key) {
		t.Errorf("the error contains the key: %v", err)
	}
	return failed
}
