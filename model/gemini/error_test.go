package gemini_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/dev/modeltest"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/gemini"
)

// TestErrors reads errors as Google and proxies write them.
func TestErrors(t *testing.T) {
	for _, test := range []struct {
		status     int
		body       string
		retryAfter string
		kind       model.ErrorKind
		wait       time.Duration
	}{
		{429, `{"error":{"code":429,"message":"You exceeded your current quota","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaId":"GenerateRequestsPerMinutePerProjectPerModel-FreeTier","quotaValue":"5"}]},{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34.074824224s"}]}}`, "", model.KindRateLimit, 34074824224},
		{429, `{"error":{"code":429,"message":"You exceeded your current quota","details":[{"violations":[{"quotaId":"GenerateRequestsPerDayPerProjectPerModel-FreeTier","quotaValue":"250"}]},{"retryDelay":"1s"}]}}`, "", model.KindQuota, time.Second},
		{429, `{"error":{"message":"quota","details":[{"violations":[{"quotaId":"GenerateContentInputTokensPerModelPerMinute-FreeTier","quotaValue":"0"}]}]}}`, "", model.KindQuota, 0},
		{429, `{"error":{"message":"Your prepayment credits are depleted."}}`, "", model.KindQuota, 0},
		{429, `{"error":{"message":"Resource exhausted. Please try again later."}}`, "7", model.KindRateLimit, 7 * time.Second},
		{429, `{"error":{"message":"x","details":[{"retryDelay":"-5s"}]}}`, "-1", model.KindRateLimit, 0},
		{503, `{"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}`, "", model.KindOverloaded, 0},
		{503, "[{\n\"error\":{\"code\":503,\"message\":\"busy\"}}\n]", "", model.KindOverloaded, 0},
		{500, `{"error":{"code":500,"message":"Internal","status":"INTERNAL"}}`, "", model.KindServer, 0},
		{504, `{"error":{"code":504,"message":"Deadline","status":"DEADLINE_EXCEEDED"}}`, "", model.KindServer, 0},
		{502, "<html>Bad Gateway</html>\n", "", model.KindServer, 0},
		{400, `{"error":{"code":400,"message":"API key not valid.","status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"}]}}`, "", model.KindAuth, 0},
		{401, `{"error":{"message":"no"}}`, "", model.KindAuth, 0},
		{403, `{"error":{"message":"no","status":"PERMISSION_DENIED"}}`, "", model.KindAuth, 0},
		{403, `{"error":{"message":"no","details":[{"reason":"BILLING_DISABLED"}]}}`, "", model.KindQuota, 0},
		{402, ``, "", model.KindQuota, 0},
		{400, `{"error":{"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."}}`, "", model.KindTooLong, 0},
		{413, ``, "", model.KindTooLong, 0},
		{400, `{"error":{"message":"Function call is missing a thought_signature"}}`, "", model.KindInvalid, 0},
		{404, `{"error":{"message":"models/x is not found"}}`, "", model.KindInvalid, 0},
		{409, `{"error":{"message":"aborted","status":"ABORTED"}}`, "", model.KindServer, 0},
		{307, ``, "", model.KindInvalid, 0},
		{400, `{"error":[5]}`, "", model.KindInvalid, 0},
		{400, `{"error":{"code":"x","details":{"a":1},"message":7}}`, "", model.KindInvalid, 0},
	} {
		w := streams(test.body)
		w.status, w.header = test.status, http.Header{"Retry-After": {test.retryAfter}}
		m := w.open(t, "gemini-3-pro-preview")
		_, err := ask(t, m, hello())
		var failed *model.Error
		if !errors.As(err, &failed) {
			t.Fatalf("the error is %v", err)
		}
		if failed.Kind != test.kind || failed.RetryAfter != test.wait || failed.Status != test.status || failed.Origin != m.Origin() || failed.Text == "" || strings.Contains(failed.Text, "code") {
			t.Errorf("%d %s: %#v", test.status, test.body, failed)
		}
		if len(w.bodies) != 1 {
			t.Errorf("%d: %d requests", test.status, len(w.bodies))
		}
	}
}

// TestFinish ends responses in every way.
func TestFinish(t *testing.T) {
	const yes, call = `"content":{"parts":[{"text":"Yes."}]},`, `"content":{"parts":[{"functionCall":{"name":"weather","args":{"city":"Oslo"}}}]},`
	for _, test := range []struct {
		stream  string
		stop    any // or the kind of the error
		refusal string
	}{
		{data(`{` + yes + `"finishReason":"STOP"}`), model.StopEnd, ""},
		{data(`{` + call + `"finishReason":"STOP"}`), model.StopCalls, ""},
		{data(`{"finishReason":"MAX_TOKENS"}`), model.StopLength, ""},
		{data(`{`+yes+`"index":0}`, `{"finishReason":"SAFETY","finishMessage":"unsafe"}`), model.StopRefusal, "SAFETY unsafe"},
		{data(`{"finishReason":"PROHIBITED_CONTENT"}`), model.StopRefusal, "PROHIBITED_CONTENT"},
		{"data: {\"promptFeedback\":{\"blockReason\":\"JAILBREAK\",\"blockReasonMessage\":\"no\"}}\n\n", model.StopRefusal, "JAILBREAK no"},
		{data(`{`+call+`"finishReason":"SAFETY"}`, `{"finishReason":"STOP","finishMessage":"done"}`), model.StopRefusal, "SAFETY"},
		{data(`{`+call+`"finishReason":"STOP"}`, `{"finishReason":"SAFETY"}`), model.StopRefusal, "SAFETY"},
		{data(`{`+call+`"finishReason":"MAX_TOKENS"}`, `{"finishReason":"STOP"}`), model.StopLength, ""},
		{data(`{`+call+`"finishReason":"REASON_OF_TOMORROW"}`, `{"finishReason":"STOP"}`), model.StopRefusal, "the response may not be complete; it ended with REASON_OF_TOMORROW"},
		{data(`{`+call+`"finishReason":"MALFORMED_FUNCTION_CALL"}`, `{"finishReason":"STOP"}`), model.KindServer, ""},
		{data(`{`+call+`"finishReason":"STOP"}`, `{"finishReason":"FINISH_REASON_UNSPECIFIED"}`, `{"finishReason":"STOP"}`), model.StopCalls, ""},
		{data(`{`+call+`"index":0}`) + "data: {\"promptFeedback\":{\"blockReason\":\"SAFETY\"}}\n\n" + data(`{"finishReason":"STOP"}`), model.StopRefusal, "SAFETY"},
		{data(`{`+call+`"finishReason":"STOP"}`) + "data: {\"promptFeedback\":{\"blockReason\":\"SAFETY\",\"blockReasonMessage\":\"no\"}}\n\n", model.StopRefusal, "SAFETY no"},
		{data(`{`+call+`"finishReason":"STOP"}`) + "data: {\"promptFeedback\":{\"blockReason\":\"BLOCKED_REASON_UNSPECIFIED\"}}\n\n", model.StopCalls, ""},
		{data(`{"finishReason":"IMAGE_SAFETY"}`), model.StopRefusal, "IMAGE_SAFETY"},
		{data(`{` + call + `"finishReason":"ABORTED"}`), model.KindServer, ""},
		{data(`{` + yes + `"finishReason":"REASON_OF_TOMORROW"}`), model.StopRefusal, "the response may not be complete; it ended with REASON_OF_TOMORROW"},
		{data(`{` + yes + `"finishReason":"OTHER"}`), model.StopRefusal, "the response may not be complete; it ended with OTHER"},
		{data(`{` + yes + `"finishReason":"MALFORMED_RESPONSE"}`), model.KindServer, ""},
		{"[{\"candidates\":[{" + yes + "\"index\":0}]}\n,\r\n{\"candidates\":[{\"finishReason\":\"STOP\"}]}]\n", model.StopEnd, ""}, // the form without alt=sse
		{"data: {\"candidates\":[{" + yes + "\rdata: \"finishReason\":\"STOP\"}]}\r\r", model.StopEnd, ""},
		{data(`{"finishReason":"OTHER"}`), model.KindServer, ""},
		{data(`{"content":{"parts":[{"text":""}]},"finishReason":"STOP"}`), model.KindServer, ""},
		{data(`{"finishReason":"MALFORMED_FUNCTION_CALL","finishMessage":"Malformed function call: print(x)"}`), model.KindServer, ""},
		{data(`{` + yes + `"finishReason":"UNEXPECTED_TOOL_CALL"}`), model.KindServer, ""},
		{data(`{` + yes + `"finishReason":"FINISH_REASON_UNSPECIFIED"}`), model.KindConnection, ""},
		{data(`{` + yes + `"index":0}`), model.KindConnection, ""},
		{"", model.KindConnection, ""},
		{"data: {\"candidates\":[{" + yes, model.KindConnection, ""},
		{"data: nonsense\n\n", model.KindServer, ""},
		{"data: {\"candidates\":[{" + yes + "\"finishReason\":\"STOP\"}]}", model.StopEnd, ""}, // without an empty line
		{"{\n  \"error\": {\n    \"code\": 503,\n    \"message\": \"busy\"\n  }\n}\n", model.KindOverloaded, ""},
		{data(`{`+yes+`"index":0}`) + "data: {\"error\":{\"code\":500}}\n\n", model.KindServer, ""},
		{": c\r\nevent: e\r\nid: 1\r\nretry: 5\r\ndata: {\"candidates\":[{" + yes + "\r\ndata: \"finishReason\":\"STOP\"}]}\r\n\r\n", model.StopEnd, ""},
		{data(`{"content":{"parts":[{"functionCall":{"args":{}}}]},"finishReason":"STOP"}`), model.KindServer, ""},
		{data(`{"content":{"parts":[{"text":"a","functionCall":{"name":"b"}}]},"finishReason":"STOP"}`), model.KindServer, ""},
	} {
		r := hello()
		r.Tools = weatherSet(t)
		got, err := ask(t, streams(test.stream).open(t, "gemini-3-pro-preview"), r)
		var failed *model.Error
		switch {
		case errors.As(err, &failed):
			if failed.Kind != test.stop {
				t.Errorf("%s: %v", test.stream, err)
			}
		case err != nil || got.Stop != test.stop || got.Refusal != test.refusal:
			t.Errorf("%s: stop %q, refusal %q, %v", test.stream, got.Stop, got.Refusal, err)
		}
	}
}

// TestHostile sends what would end a process that trusts the SDK's reader.
func TestHostile(t *testing.T) {
	for _, stream := range []string{
		`{"candidates":"x"}`, `{"candidates":[5]}`, `{"candidates":{"a":1}}`, `[]`, `5`, `null`, `{"usageMetadata":[]}`,
		`{"candidates":[{"content":{"parts":"x"}}]}`, `{"candidates":[{"content":[]}]}`, `{"candidates":[{"content":{"parts":[5]}}]}`,
		`{"candidates":[{"content":{"parts":[null]}}]}`, `{"candidates":[{"content":{"parts":[{}]}}]}`, `{"error":5}`, `{"error":null}`,
		`{"candidates":[{"content":{"parts":[{"text":5,"functionCall":5}]}}]}`, strings.Repeat("[", 100000), "\xff\xfe",
	} {
		if _, err := ask(t, streams("data: "+stream+"\n\n").open(t, "gemini-2.5-pro"), hello()); err == nil {
			t.Errorf("%.100s: there is no error", stream)
		}
	}
}

// An endless reader repeats a text.
type endless struct{ text, left string }

func (e *endless) Read(p []byte) (int, error) {
	if e.left == "" {
		e.left = e.text
	}
	n := copy(p, e.left)
	e.left = e.left[n:]
	return n, nil
}

// TestEndless gives up on a response that never ends, whether it is one line,
// one event or many.
func TestEndless(t *testing.T) {
	text := strings.Repeat("a", 100000)
	for _, line := range []string{"data: " + text, "data: " + text + "\n", "data: {}\n: " + text + "\n\n"} {
		w := &wire{status: 200, answer: func() io.Reader { return &endless{text: line} }}
		_, err := ask(t, w.open(t, "gemini-3-pro-preview"), hello())
		var failed *model.Error
		if !errors.As(err, &failed) || failed.Kind != model.KindInvalid || !strings.Contains(failed.Text, "no model writes") {
			t.Errorf("the error is %.300v", err)
		}
	}
}

// TestNoRedirect: the key is in a header that Go sends to any host that a
// response redirects to.
func TestNoRedirect(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the other host has received a request") }))
	defer other.Close()
	first := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	defer first.Close()
	if _, err := ask(t, open(t, "gemini-3-pro-preview", first.URL), hello()); err == nil {
		t.Error("there is no error")
	}
}

// TestSecrets: errors contain neither the key nor what the address contains.
func TestSecrets(t *testing.T) {
	for _, name := range []string{"GOOGLE_API_KEY", "GEMINI_API_KEY"} {
		t.Setenv(name, "")
	}
	if err := gemini.New("gemini-3-pro-preview", nil).Check(hello()); err == nil || !strings.Contains(err.Error(), "GEMINI_API_KEY") || strings.Contains(err.Error(), "Config") {
		t.Errorf("without a key: %v", err)
	}
	const key = "AIzaSyTest0123456789abcdefghijklmnopqrs"
	t.Setenv("GEMINI_API_KEY", key)
	if err := gemini.New("gemini-3-pro-preview", &gemini.Options{BaseURL: "http://127.0.0.1:1"}).Check(hello()); err == nil || !strings.Contains(err.Error(), "set Options.APIKey") {
		t.Errorf("another server gets the key of the environment: %v", err)
	}
	m := gemini.New("gemini-3-pro-preview", &gemini.Options{APIKey: key, BaseURL: "http://user:password-1@127.0.0.1:1/path"})
	_, err := ask(t, m, hello())
	if err == nil || strings.Contains(err.Error(), "password-1") {
		t.Errorf("no server: %v", err)
	}
	w := streams("data: {\"error\":{\"code\":400,\"message\":\"the key " + key + " is wrong\"}}\n\n")
	opts := w.options()
	opts.APIKey, opts.BaseURL = "", ""
	m = gemini.New("gemini-3-pro-preview", opts)
	if _, err = ask(t, m, hello()); err == nil || strings.Contains(err.Error(), key) {
		t.Errorf("echo: %v", err)
	}
	if got := w.requests[0].Header.Get("X-Goog-Api-Key"); got != key {
		t.Errorf("the key of the environment is not used: %q", got)
	}
}

// TestVertex sends requests to Vertex AI, over a client that authenticates.
func TestVertex(t *testing.T) {
	w := streams(data(`{"content":{"parts":[{"text":"Yes."}]},"finishReason":"STOP"}`))
	m := gemini.New("gemini-3-pro-preview", &gemini.Options{Project: "p1", Location: "europe-west4", HTTPClient: &http.Client{Transport: w}})
	if _, err := ask(t, m, hello()); err != nil {
		t.Fatal(err)
	}
	want := "https://europe-west4-aiplatform.googleapis.com/v1beta1/projects/p1/locations/europe-west4/publishers/google/models/gemini-3-pro-preview:streamGenerateContent?alt=sse"
	if got := w.requests[0].URL.String(); got != want {
		t.Errorf("the address is %s", got)
	}
	if err := modeltest.Gemini().Check([]byte(w.bodies[0])); err != nil {
		t.Error(err)
	}
}

// A stuck transport begins a response and never ends it.
type stuck struct{}

func (stuck) RoundTrip(r *http.Request) (*http.Response, error) {
	begun := strings.NewReader(data(`{"content":{"parts":[{"text":"Yes."}]}}`))
	return &http.Response{StatusCode: 200, Body: io.NopCloser(io.MultiReader(begun, blocked{r.Context()}))}, nil
}

type blocked struct{ ctx context.Context }

func (b blocked) Read([]byte) (int, error) {
	<-b.ctx.Done()
	return 0, b.ctx.Err()
}

// TestCause returns the cause of a context that ended.
func TestCause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := gemini.New("gemini-3-pro-preview", &gemini.Options{APIKey: modeltest.Key, BaseURL: "http://gemini.test", HTTPClient: &http.Client{Transport: stuck{}}})
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		cause := errors.New("the user pressed Escape")
		var last error
		for _, err := range m.Stream(ctx, hello()) {
			cancel(cause)
			last = err
		}
		if !errors.Is(last, cause) {
			t.Errorf("the error is %v", last)
		}
	})
}

// TestTimeout: the timeout of the client is that of the whole response, and the
// client itself is not changed.
func TestTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := &http.Client{Transport: stuck{}, Timeout: time.Minute}
		m := gemini.New("gemini-3-pro-preview", &gemini.Options{APIKey: modeltest.Key, BaseURL: "http://gemini.test", HTTPClient: client})
		begun := time.Now()
		if _, err := ask(t, m, hello()); !errors.Is(err, context.DeadlineExceeded) || time.Since(begun) != time.Minute {
			t.Errorf("the error is %v after %v", err, time.Since(begun))
		}
		if client.Timeout != time.Minute || client.Transport != (stuck{}) || client.CheckRedirect != nil {
			t.Error("the client of the options has changed")
		}
	})
}

// TestForeignAnswers: an answer that is not one of the API is not asked for again.
func TestForeignAnswers(t *testing.T) {
	for body, text := range map[string]string{"\n<html></html>": "a web page", "It works!": `"It works!"`} {
		_, err := ask(t, streams(body).open(t, "gemini-3-pro-preview"), hello())
		failed, _ := errors.AsType[*model.Error](err)
		if failed == nil || failed.Kind != model.KindInvalid || !strings.Contains(failed.Text, text) || !strings.Contains(failed.Text, "base URL") {
			t.Errorf("%s: %v", body, err)
		}
	}
}

// TestOddArguments has calls whose arguments are not an object, which Google takes back
// as an object only.
func TestOddArguments(t *testing.T) {
	for _, args := range []string{`["Oslo"]`, `5`, `"{\"city\":"`, `true`, `"Oslo"`} {
		w := streams(data(`{"content":{"parts":[{"functionCall":{"name":"weather","args":` + args + `},"thoughtSignature":"c2ln"}]},"finishReason":"STOP"}`))
		r := hello()
		r.Tools = weatherSet(t)
		m := w.open(t, "gemini-3-pro-preview")
		got, err := ask(t, m, r)
		if err != nil {
			t.Fatal(err)
		}
		calls := got.Message.Calls()
		if len(calls) != 1 || calls[0].Invalid == "" {
			t.Fatalf("%s: %+v", args, calls)
		}
		r.Messages = append(r.Messages, got.Message, user(model.Part{Type: model.TypeResult, Result: toolpost.TextResult("no").Message(calls[0].ID)}))
		if _, err := ask(t, m, r); err != nil {
			t.Fatal(err)
		}
		if sent := w.bodies[1]; !strings.Contains(sent, `"args":{"arguments":`) || !strings.Contains(sent, `"thoughtSignature":"c2ln"`) {
			t.Errorf("%s: sent %s", args, sent)
		}
	}
}
