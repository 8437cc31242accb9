package modeltest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/openai"
)

// Responses returns the wire format of OpenAI's Responses API. Its JSON has
// spaces and escapes that an encoder would change.
func Responses() Wire {
	return Wire{Check: checkOf(openai.New("m", nil)), Answer: answerResponses, Fail: failResponses}
}

// An eventWriter writes the events of a response.
type eventWriter struct {
	w        io.Writer
	sequence int
}

// put writes an event of a type, with members as they are in JSON.
func (e *eventWriter) put(typ, format string, args ...any) {
	_, _ = fmt.Fprintf(e.w, "event: %s\ndata: {\"type\":%q, \"sequence_number\":%d%s}\n\n", typ, typ, e.sequence, fmt.Sprintf(format, args...))
	e.sequence++
}

func answerResponses(w io.Writer, header http.Header, t *Turn) {
	header.Set("Content-Type", "text/event-stream; charset=utf-8")
	e := &eventWriter{w: w}
	const head = `"id":"resp_1", "object":"response", "created_at":1764000000, "model":"gpt-test-2026", "novelty":{"a":[1,2]}`
	e.put("response.created", `, "response":{%s, "status":"in_progress", "output":[]}`, head)
	e.put("response.in_progress", `, "response":{%s, "status":"in_progress", "output":[]}`, head)
	_, _ = io.WriteString(w, ": a comment\n\nevent: response.novelty\ndata: {\"type\":\"response.novelty\",\"delta\":{\"x\":null},\"output_index\":\"7\"}\n\n")
	items := make([]json.RawMessage, len(t.Parts))
	for i := range t.Parts {
		items[i] = e.item(i, &t.Parts[i], t.Stop)
	}
	output, err := json.Marshal(items)
	if err != nil {
		panic(err)
	}
	status, details := "completed", "null"
	switch t.Stop {
	case model.StopLength:
		status, details = "incomplete", `{"reason":"max_output_tokens"}`
	}
	u := t.Tokens
	e.put("response."+status, `, "response":{%s, "status":%q, "error":null, "incomplete_details":%s, "output":%s, "usage":{"input_tokens":%d, `+
		`"input_tokens_details":{"cached_tokens":%d,"cache_write_tokens":%d,"cache_write_tokens_details":{"ttl_30m_tokens":%d,"ttl_12h_tokens":%d}}, `+
		`"output_tokens":%d, "output_tokens_details":{"reasoning_tokens":%d}, "total_tokens":%d}}`,
		head, status, details, output, u.Input+u.CacheRead+u.CacheWrite, u.CacheRead, u.CacheWrite, u.CacheWrite-u.LongCacheWrite, u.LongCacheWrite, u.Output, u.Reasoning, u.Context())
}

// item writes the events of a part, and returns its item.
func (e *eventWriter) item(index int, p *model.Part, stop model.StopReason) json.RawMessage {
	id := fmt.Sprintf("item_%d_%s", index, p.Type)
	added := func(members string) {
		e.put("response.output_item.added", `, "output_index":%d, "item":{"id":%q, %s}`, index, id, members)
	}
	at := fmt.Sprintf(`, "item_id":%q, "output_index":%d`, id, index)
	var raw string
	switch p.Type {
	case model.TypeThinking:
		added(`"type":"reasoning", "summary":[]`)
		e.put("response.reasoning_summary_part.added", `%s, "summary_index":0, "part":{"type":"summary_text","text":""}`, at)
		for _, piece := range quotedPieces(p.Text) {
			e.put("response.reasoning_summary_text.delta", `%s, "summary_index":0, "delta":%s`, at, piece)
		}
		e.put("response.reasoning_summary_text.done", `%s, "summary_index":0, "text":%s`, at, quoted(p.Text))
		raw = fmt.Sprintf(`"type":"reasoning", "encrypted_content":"gAAA\u003d<&>%d==", "summary":[ {"type":"summary_text", "text":%s} ], "novelty":1.0`, index, quoted(p.Text))
	case model.TypeCall:
		added(fmt.Sprintf(`"type":"function_call", "status":"in_progress", "arguments":"", "call_id":%q, "name":%q`, p.ID, p.Name))
		for _, piece := range quotedPieces(string(p.Arguments)) {
			e.put("response.function_call_arguments.delta", `%s, "delta":%s`, at, piece)
		}
		e.put("response.function_call_arguments.done", `%s, "arguments":%s`, at, quoted(string(p.Arguments)))
		raw = fmt.Sprintf(`"type":"function_call", "status":%q, "arguments":%s, "call_id":%q, "name":%q`, status(stop), quoted(string(p.Arguments)), p.ID, p.Name)
	case model.TypeOpaque:
		e.put("response.output_item.added", `, "output_index":%d, "item":%s`, index, p.Raw)
		e.put("response.output_item.done", `, "output_index":%d, "item":%s`, index, p.Raw)
		return p.Raw
	default:
		raw = e.message(at, p.Text, stop, added)
	}
	raw = fmt.Sprintf(`{"id":%q, %s}`, id, raw)
	e.put("response.output_item.done", `, "output_index":%d, "item":%s`, index, raw)
	return json.RawMessage(raw)
}

// message writes the events of a text, and returns the members of its item.
func (e *eventWriter) message(at, text string, stop model.StopReason, added func(members string)) string {
	typ, member, event := "output_text", "text", "response.output_text"
	if stop == model.StopRefusal {
		typ, member, event = "refusal", "refusal", "response.refusal"
	}
	added(`"type":"message", "status":"in_progress", "role":"assistant", "content":[]`)
	e.put("response.content_part.added", `%s, "content_index":0, "part":{"type":%q, %q:""}`, at, typ, member)
	for _, piece := range quotedPieces(text) {
		e.put(event+".delta", `%s, "content_index":0, "delta":%s, "obfuscation":"x7"`, at, piece)
	}
	e.put(event+".done", `%s, "content_index":0, %q:%s`, at, member, quoted(text))
	return fmt.Sprintf(`"type":"message", "status":%q, "role":"assistant", "phase":"final_answer", "content":[ {"type":%q, "annotations":[], %q:%s} ]`,
		status(stop), typ, member, quoted(text))
}

func status(stop model.StopReason) string {
	if stop == model.StopLength {
		return "incomplete"
	}
	return "completed"
}

// quotedPieces returns a text in short JSON strings.
func quotedPieces(text string) []string {
	all := pieces(text)
	for i := range all {
		all[i] = quoted(all[i])
	}
	return all
}

// quoted returns a text as JSON with escapes that are not needed.
func quoted(text string) string {
	raw, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

// An openAIFailure is how OpenAI writes an error.
type openAIFailure struct {
	status    int
	typ, code string
}

func openAIFailures() map[model.ErrorKind]openAIFailure {
	return map[model.ErrorKind]openAIFailure{
		model.KindOverloaded: {503, "server_error", "server_is_overloaded"},
		model.KindRateLimit:  {429, "tokens", "rate_limit_exceeded"},
		model.KindQuota:      {429, "insufficient_quota", "insufficient_quota"},
		model.KindAuth:       {401, "invalid_request_error", "invalid_api_key"},
		model.KindTooLong:    {400, "invalid_request_error", "context_length_exceeded"},
		model.KindInvalid:    {400, "invalid_request_error", "invalid_value"},
		model.KindServer:     {500, "server_error", "server_error"},
	}
}

// failWith answers with an HTTP error.
func failWith(w http.ResponseWriter, f *Failure, text string) {
	known := openAIFailures()[f.Kind]
	w.Header().Set("Content-Type", "application/json")
	switch {
	case f.RetryAfter > 0 && f.Kind == model.KindRateLimit:
		w.Header().Set("Retry-After-Ms", strconv.FormatInt(f.RetryAfter.Milliseconds(), 10))
		w.Header().Set("Retry-After", "1")
	case f.RetryAfter > 0:
		w.Header().Set("Retry-After", strconv.Itoa(int(f.RetryAfter/time.Second)))
	}
	w.WriteHeader(known.status)
	_, _ = fmt.Fprintf(w, `{"error": {"message": %s, "type": %q, "param": null, "code": %q}}`, quoted(text), known.typ, known.code)
}

func failResponses(w http.ResponseWriter, f *Failure, text string) {
	if !f.Late {
		failWith(w, f, text)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	e := &eventWriter{w: w}
	code := openAIFailures()[f.Kind].code
	e.put("response.created", `, "response":{"id":"resp_1", "status":"in_progress", "output":[]}`)
	if f.Kind == model.KindServer {
		e.put("error", `, "code":%q, "message":%s, "param":null`, code, quoted(text))
		return
	}
	e.put("response.failed", `, "response":{"id":"resp_1", "status":"failed", "output":[], "error":{"code":%q, "message":%s}}`, code, quoted(text))
}
