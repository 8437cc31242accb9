package modeltest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/gemini"
	"github.com/toolpost/toolpost/usage"
)

// GeminiSignature is the signature that the fake Gemini puts on the first call of
// a response and on an empty text at the end of others.
const GeminiSignature = "c2lnbmF0dXJlIDw+"

// Gemini returns the wire format of Google's API to generate content. Every
// second call has an id. Objects have members that no SDK knows.
func Gemini() Wire {
	return Wire{Check: checkOf(gemini.New("m", nil)), Answer: answerGemini, Fail: failGemini}
}

func answerGemini(w io.Writer, header http.Header, t *Turn) {
	header.Set("Content-Type", "text/event-stream")
	fmt.Fprint(w, ": the stream begins\n\n")
	called := 0
	for _, p := range t.Parts {
		for _, part := range geminiParts(&p, called) {
			writeGemini(w, part, "", usage.Tokens{Input: 1})
		}
		if p.Type == model.TypeCall {
			called++
		}
	}
	last := ""
	if called == 0 {
		last = `{"text": "", "thoughtSignature": "` + GeminiSignature + `"}`
	}
	reason := map[model.StopReason]string{model.StopLength: "MAX_TOKENS", model.StopRefusal: "SAFETY"}[t.Stop]
	if reason == "" {
		reason = "STOP"
	}
	writeGemini(w, last, reason, t.Tokens)
}

// geminiParts returns a part in the pieces in which it is streamed. Called is the
// number of calls before it.
func geminiParts(p *model.Part, called int) []string {
	if len(p.Raw) > 0 {
		return []string{string(p.Raw)}
	}
	quote := func(text string) string {
		data, err := json.Marshal(text)
		if err != nil {
			panic(err)
		}
		return string(data)
	}
	if p.Type == model.TypeCall {
		id, signature := "", ""
		if called%2 == 1 {
			id = `"id": ` + quote(p.ID) + `, `
		}
		if called == 0 {
			signature = `, "thoughtSignature": "` + GeminiSignature + `"`
		}
		return []string{fmt.Sprintf(`{"functionCall": {%s"name": %s, "args": %s, "future": 1}%s, "futurePart": [ ]}`, id, quote(p.Name), p.Arguments, signature)}
	}
	thought := ""
	if p.Type == model.TypeThinking {
		thought = `, "thought": true`
	}
	var pieces []string
	for text := p.Text; text != ""; {
		n := min(len(text), 1+len(p.Text)/3)
		for n < len(text) && !utf8.RuneStart(text[n]) {
			n++
		}
		pieces = append(pieces, `{"text": `+quote(text[:n])+thought+`}`)
		text = text[n:]
	}
	return pieces
}

// writeGemini writes an event with one part, which may be empty.
func writeGemini(w io.Writer, part, finish string, t usage.Tokens) {
	if finish != "" {
		finish = `"finishReason": "` + finish + `", "finishMessage": "this is a test", `
	}
	fmt.Fprintf(w, `data: {"candidates": [{"content": {"parts": [%s], "role": "model", "future": null}, %s"index": 0, "futureScore": 1.5},`+
		` {"index": 1, "content": {"parts": [{"text": "another candidate"}]}}],`+
		` "usageMetadata": {"promptTokenCount": %d, "cachedContentTokenCount": %d, "candidatesTokenCount": %d, "thoughtsTokenCount": %d, "future": {}},`+
		` "modelVersion": "gemini-3-test-001", "responseId": "response_1", "future": [1, "two"]}`+"\n\n",
		part, finish, t.Input+t.CacheRead, t.CacheRead, t.Output-t.Reasoning, t.Reasoning)
}

// A geminiFailure is how Google reports an error.
type geminiFailure struct {
	code    int
	status  string
	details string
}

func failGemini(w http.ResponseWriter, f *Failure, text string) {
	const prefix = `{"@type": "type.googleapis.com/google.rpc.`
	kinds := map[model.ErrorKind]geminiFailure{
		model.KindOverloaded: {503, "UNAVAILABLE", ""},
		model.KindRateLimit:  {429, "RESOURCE_EXHAUSTED", prefix + `QuotaFailure", "violations": [{"quotaId": "GenerateRequestsPerMinutePerProjectPerModel", "quotaValue": "10"}]}`},
		model.KindQuota:      {429, "RESOURCE_EXHAUSTED", prefix + `QuotaFailure", "violations": [{"quotaId": "GenerateRequestsPerDayPerProjectPerModel", "quotaValue": "100"}]}`},
		model.KindAuth:       {400, "INVALID_ARGUMENT", prefix + `ErrorInfo", "reason": "API_KEY_INVALID", "domain": "googleapis.com"}`},
		model.KindTooLong:    {400, "INVALID_ARGUMENT", ""},
		model.KindInvalid:    {400, "INVALID_ARGUMENT", ""},
		model.KindServer:     {500, "INTERNAL", ""},
	}
	k := kinds[f.Kind]
	if f.Kind == model.KindTooLong {
		text = "The input token count (2000000) exceeds the maximum number of tokens allowed (1048576): " + text
	}
	var details []string
	if k.details != "" {
		details = append(details, k.details)
	}
	if f.RetryAfter > 0 {
		details = append(details, fmt.Sprintf(prefix+`RetryInfo", "retryDelay": "%gs"}`, f.RetryAfter.Seconds()))
	}
	message, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	body := fmt.Sprintf(`{"error": {"code": %d, "message": %s, "status": %q, "details": [%s], "future": 1}}`,
		k.code, message, k.status, strings.Join(details, ", "))
	if !f.Late {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(k.code)
		fmt.Fprint(w, body)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	writeGemini(w, `{"text": "I "}`, "", usage.Tokens{})
	fmt.Fprintf(w, "data: %s\n\n", body)
}
