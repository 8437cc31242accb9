package upstream

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/toolpost/toolpost/internal/cleartext"
	"github.com/toolpost/toolpost/internal/wire"
)

// An asked caller counts what reaches the client.
type asked struct{ n int }

func (a *asked) Request(context.Context, string, json.RawMessage) (json.RawMessage, error) {
	a.n++
	return json.RawMessage(`{"action":"accept"}`), nil
}

func (a *asked) Notify(context.Context, string, json.RawMessage) error { return nil }

// TestElicitationAddresses checks which addresses a server may have a person
// open, in both ways to ask for it.
func TestElicitationAddresses(t *testing.T) {
	for address, allowed := range map[string]bool{
		"https://example.org/login?x=1": true, "http://localhost:3000/login": true, "http://127.0.0.1/": true, "http://[::1]:9/": true,
		"javascript:alert(1)": false, "file:///etc/passwd": false, "http://example.org/": false, "http://10.1.2.3/": false,
		"vscode://x/y": false, "https://": false, "https://user@example.org/": false, "//example.org": false, "": false,
		"ht\ttps://example.org": false, "data:text/html,x": false, "HTTPS://example.org/": true, "http://localhost.example.org/": false,
	} {
		var client asked
		elicitation, err := json.Marshal(map[string]string{"mode": "url", "message": "open it", "elicitationId": "1", "url": address})
		if err != nil {
			t.Fatal(err)
		}
		_, err = question(t.Context(), &client, "elicitation/create", elicitation)
		if (err == nil) != allowed || (client.n == 1) != allowed {
			t.Errorf("%q: asked %d times, %v", address, client.n, err)
		}
		data := json.RawMessage(`{"elicitations":[{"mode":"url","url":"https://example.org"},` + string(elicitation) + `]}`)
		got := protocolError(&wire.Error{Code: codeURLRequired, Message: "open it", Data: data})
		if (got.Code == codeURLRequired) != allowed {
			t.Errorf("%q: the error is %v", address, got)
		}
	}
	for _, form := range []string{`{"message":"name?","requestedSchema":{}}`, `{"mode":"form","message":"url"}`} {
		var client asked
		if _, err := question(t.Context(), &client, "elicitation/create", json.RawMessage(form)); err != nil || client.n != 1 {
			t.Errorf("%s: %v", form, err)
		}
	}
	for _, odd := range []string{`{"mode":"url"}`, `{"mode":"url","url":["javascript:alert(1)"]}`, `{"url":"javascript:alert(1)"}`} {
		var client asked
		if _, err := question(t.Context(), &client, "elicitation/create", json.RawMessage(odd)); err == nil || client.n != 0 {
			t.Errorf("%s is passed on", odd)
		}
	}
}

// What the elicitations of TestElicitationTexts ask, and what a person may see
// of it.
const (
	hiddenForm = `{"message":"Your \u001b[2Jname\u202e?` + "\U000e0041" + `","requestedSchema":{"type":"object","properties":{` +
		`"title":{"type":"string","title":"N\u200bame","description":"d\u2066","default":"x","enum":["a","b"],"enumNames":["\u200bA","B"]},` +
		`"n":{"oneOf":[{"const":"c","title":"C\u0007"}],"maximum":1e2}}},"_meta":{"title":"\u200b"}}`
	visibleForm = `{"message":"Your [2Jname?","requestedSchema":{"type":"object","properties":{` +
		`"title":{"type":"string","title":"Name","description":"d","default":"x","enum":["a","b"],"enumNames":["A","B"]},` +
		`"n":{"oneOf":[{"const":"c","title":"C"}],"maximum":1e2}}},"_meta":{"title":"\u200b"}}`
	cleanForm = `{ "message":"\u0041 👩` + "\u200d" + `👧 می` + "\u200c" + `خواهم\r\n","requestedSchema":{"type" :"object"}}`
)

// TestElicitationTexts checks that nothing hidden is shown to a person, in every
// way in which a server can ask: by a request, a result and an error.
func TestElicitationTexts(t *testing.T) {
	for form, want := range map[string]string{hiddenForm: visibleForm, cleanForm: cleanForm} {
		got, err := presentable("elicitation/create", json.RawMessage(form))
		if err != nil || string(got) != want {
			t.Errorf("request: %v\ngot  %s\nwant %s", err, got, want)
		}
		around := func(form string) string {
			return `{"odd":1.0,"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create","params":` + form + `},"b":{"method":"roots/list"}}}`
		}
		got, err = shownResult(around(form))
		if err != nil || string(got) != around(want) {
			t.Errorf("result: %v\ngot  %s\nwant %s", err, got, around(want))
		}
		list := func(form string) string { return `{"elicitations":[{"message":"m"},` + form + `],"odd":1.0}` }
		e := protocolError(&wire.Error{Code: codeURLRequired, Message: "a\u200b", Data: json.RawMessage(list(form))})
		if form == hiddenForm && string(e.Data) != list(want) || form == cleanForm && string(e.Data) != list(form) {
			t.Errorf("error: %s", e.Data)
		}
		if e.Message != "a" {
			t.Errorf("the message of the error is %q", e.Message)
		}
	}
	progress := json.RawMessage(`{"progress":1.0,"message":"a\u001b[2J"}`)
	if got := string(presentableProgress(progress)); got != `{"progress":1.0,"message":"a[2J"}` {
		t.Errorf("progress: %s", got)
	}
	for _, odd := range []string{
		`{"message":"m","requestedSchema":{"properties":{"a\u200b":{}}}}`,
		`{"message":"m","requestedSchema":{"properties":{"a":{"enum":["yes\u202e"]}}}}`,
		`{"message":"m","requestedSchema":{"properties":{"a":{"default":"\u0007"}}}}`,
		`{"message":"m","mode":"url","url":"https://example.org/","url":"javascript:alert(1)"}`,
	} {
		if got, err := presentable("elicitation/create", json.RawMessage(odd)); err == nil {
			t.Errorf("%s is passed on as %s", odd, got)
		}
	}
	long := json.RawMessage(`{"message":"` + strings.Repeat("a", longestElicitation) + `"}`)
	if _, err := presentable("elicitation/create", long); err == nil {
		t.Error("a very long elicitation is passed on")
	}
	progress = json.RawMessage(`{"progress":1,"message":"` + strings.Repeat("a", longestProgress) + `"}`)
	if got := string(presentableProgress(progress)); got != `{"progress":1}` {
		t.Errorf("long progress: %.100s", got)
	}
	sampling := json.RawMessage(`{"messages":[{"content":{"type":"text","text":"\u200b"}}]}`)
	if got, err := presentable("sampling/createMessage", sampling); err != nil || string(got) != string(sampling) {
		t.Errorf("sampling: %s, %v", got, err)
	}
}

// TestElicitationInResults checks that a result which asks for input is found
// however it is written, also if clients with sessions read it.
func TestElicitationInResults(t *testing.T) {
	const question = `"inputRequests":{"a":{"method":"elicitation/create","params":{"mode":"url","url":"javascript:alert(1)"}}}}`
	for _, result := range []string{
		`{"resultType":"input_required",` + question,
		`{"resultType":"input\u005frequired",` + question,
		`{"result\u0054ype":"\u0069nput_required",` + question,
		`{"resultType":"complete","resultType":"input_required",` + question,
		`{"resultType":"input_required","inputRequests":{},` + question,
	} {
		if got, err := shownResult(result); err == nil {
			t.Errorf("passed on as %s", got)
		}
	}
	for _, result := range []string{
		`{"content":[{"type":"text","text":"input_required \u0061"}]}`, `{"resultType":"complete",` + question, `{"resultType":1,` + question,
	} {
		if got, err := shownResult(result); err != nil || string(got) != result {
			t.Errorf("%s: got %s, %v", result, got, err)
		}
	}
	// a task asks without a resultType
	found := wire.Read([]byte(`{"jsonrpc":"2.0","id":1,"result":{"status":"input_required",` + question + "}"))
	if err := makePresentable(&found[0], true); err == nil {
		t.Errorf("of a task, passed on as %s", found[0].Result)
	}
}

// shownResult returns a result of a server as a client gets it.
func shownResult(result string) (json.RawMessage, error) {
	found := wire.Read([]byte(`{"jsonrpc":"2.0","id":1,"result":` + result + "}"))
	err := makePresentable(&found[0], false)
	return found[0].Result, err
}

// FuzzPresentable checks that what is passed on of any elicitation is JSON that
// needs no more cleaning, and that a clean one keeps its bytes.
func FuzzPresentable(f *testing.F) {
	for _, seed := range []string{hiddenForm, cleanForm, `{}`, `[[{"message":["\u200b"]}]]`, `"\u202e"`, `{"message":"\ud800"}`, `{"url":"https://example.org"}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, params string) {
		got, err := presentable("elicitation/create", json.RawMessage(params))
		if err != nil || params == "" {
			return
		}
		if !jsontext.Value(got).IsValid() {
			t.Fatalf("not valid: %s", got)
		}
		if cleartext.Clean(params) == params && !strings.Contains(params, `\`) && string(got) != params {
			t.Fatalf("clean bytes changed: %s", got)
		}
		again, err := presentable("elicitation/create", got)
		if err != nil || string(again) != string(got) {
			t.Fatalf("got %s, then %s, %v", got, again, err)
		}
	})
}
