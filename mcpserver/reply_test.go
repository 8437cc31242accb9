package mcpserver

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/hidden"
	"github.com/toolpost/toolpost/internal/longjson"
	"github.com/toolpost/toolpost/internal/wire"
)

func longObject(t *testing.T) *longjson.Object {
	return longResult(t, `{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`)
}

// longResult returns the result of a message, nil if it does not stay in pieces.
func longResult(t *testing.T, message string) *longjson.Object {
	spool, scanner := longjson.NewSpool("", new(longjson.Buffers)), new(longjson.Scanner)
	if err := spool.Add([]byte(message), int64(len(message))); err != nil {
		t.Fatal(err)
	}
	if _, _ = scanner.Write([]byte(message)); !scanner.Done() {
		return nil
	}
	return longjson.NewObject(spool, scanner)
}

// A client sees that a stream ends early because a result cannot be read.
func TestStreamWithoutItsResult(t *testing.T) {
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		o := longObject(t)
		o.Close()
		p := &reply{w: w, accept: acceptance{events: true}}
		_ = p.start()
		p.end(http.StatusOK, applyEdits(o, nil).answer([]byte("1")))
	}))
	defer h.Close()
	resp, err := http.Get(h.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if body, err := io.ReadAll(resp.Body); err == nil {
		t.Errorf("got %q, and no error", body)
	}
}

// The error of a question that a client did not declare it can answer names the
// capability, in both eras.
func TestQuestionsNameTheirCapability(t *testing.T) {
	for method, name := range map[string]string{"elicitation/create": "elicitation", "sampling/createMessage": "sampling", "roots/list": "roots"} {
		for _, version := range []string{wire.LastSession, wire.Stateless} {
			err := (&peer{version: version}).require(method, nil)
			if err == nil || !strings.Contains(err.Error(), "capability "+name) || errors.Is(err, toolpost.ErrNoCaller) == (version == wire.Stateless) {
				t.Errorf("%s, %s: %v", version, method, err)
			}
		}
	}
}

// A client that fills in forms is not asked to open addresses unless it declared that
// too.
func TestQuestionsNameTheirMode(t *testing.T) {
	address := json.RawMessage(`{"mode":"url","message":"Log in","url":"https://example.com","elicitationId":"1"}`)
	for _, version := range []string{wire.LastSession, wire.Stateless} {
		forms, both := &peer{version: version, can: parseCapabilities(json.RawMessage(`{"elicitation":{}}`))}, &peer{version: version, can: parseCapabilities(json.RawMessage(`{"elicitation":{"form":{},"url":{}}}`))}
		err := forms.require("elicitation/create", address)
		if err == nil || !strings.Contains(err.Error(), "elicitation.url") {
			t.Errorf("%s: %v", version, err)
		}
		if missing, ok := errors.AsType[*toolpost.ProtocolError](err); version == wire.Stateless && (!ok || string(missing.Data) != `{"requiredCapabilities":{"elicitation":{"url":{}}}}`) {
			t.Errorf("%s: %+v", version, missing)
		}
		if err := errors.Join(both.require("elicitation/create", address), forms.require("elicitation/create", json.RawMessage(`{"message":"Who?"}`))); err != nil {
			t.Errorf("%s: %v", version, err)
		}
	}
}

// A long result that comes with an error is given up at once.
func TestLongResultWithAnError(t *testing.T) {
	o := longObject(t)
	result := hidden.NewResult(hidden.Encoded{Long: o}).(*toolpost.Result)
	r := &request{Message: &wire.Message{Method: getPrompt}, peer: &peer{}}
	if _, err := new(core).encode(r, result, errors.New("it fails")); err == nil {
		t.Error("no error")
	}
	if _, err := o.Load(); err == nil {
		t.Error("the result is still there")
	}
}

// The white space of a foreign result does not end a line of an event.
func TestEventOfOddWhiteSpace(t *testing.T) {
	var got strings.Builder
	err := event("message").write(&got, inMemory("{\r\"a\":\r\n1}"), func() {})
	if want := "event: message\ndata: { \"a\": \ndata: 1}\n\n"; got.String() != want || err != nil {
		t.Errorf("got %q, %v, want %q", got.String(), err, want)
	}
}

// The parts of a capability count each for itself, and a capability without parts means
// what it meant before there were parts.
func TestQuestionsNeedTheirPart(t *testing.T) {
	const form, url = `{"message":"Who?"}`, `{"mode":"url"}`
	const plain, tools = `{"messages":[]}`, `{"messages":[],"toolChoice":{"mode":"auto"}}`
	for _, test := range []struct {
		declared, method, params, missing string
	}{
		{`{"elicitation":{}}`, "elicitation/create", form, ""},
		{`{"elicitation":{"form":{}}}`, "elicitation/create", form, ""},
		{`{"elicitation":{"url":{}}}`, "elicitation/create", form, "elicitation.form"},
		{`{"elicitation":{"url":{}}}`, "elicitation/create", url, ""},
		{`{"elicitation":{"form":{}}}`, "elicitation/create", url, "elicitation.url"},
		{`{"elicitation":null}`, "elicitation/create", form, "elicitation"},
		{`{"sampling":{}}`, "sampling/createMessage", plain, ""},
		{`{"sampling":{}}`, "sampling/createMessage", tools, "sampling.tools"},
		{`{"sampling":{"tools":{}}}`, "sampling/createMessage", tools, ""},
		{`{}`, "sampling/createMessage", tools, "sampling"},
	} {
		for _, version := range []string{wire.LastSession, wire.Stateless} {
			p := &peer{version: version, can: parseCapabilities(json.RawMessage(test.declared))}
			err := p.require(test.method, json.RawMessage(test.params))
			if (err == nil) != (test.missing == "") || err != nil && !strings.HasSuffix(err.Error(), "capability "+test.missing) {
				t.Errorf("%s, %s: %s: %v", version, test.declared, test.params, err)
			}
		}
	}
}
