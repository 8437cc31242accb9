package modeltest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/anthropic"
	"github.com/toolpost/toolpost/usage"
)

// Anthropic returns the wire format of Anthropic's Messages API. Its streams
// contain pings, an event of an unknown type, and blocks with an unknown member.
func Anthropic() Wire {
	return Wire{
		Check: checkOf(anthropic.New("m", nil)),
		Answer: func(w io.Writer, header http.Header, t *Turn) {
			header.Set("Content-Type", "text/event-stream; charset=utf-8")
			s := &anthropicStream{w: w}
			s.begin(t.Tokens)
			for i := range t.Parts {
				s.part(i, &t.Parts[i], t.Stop == model.StopRefusal)
			}
			s.end(t)
		},
		Fail: failAnthropic,
	}
}

// anthropicError returns the status and the body of an error.
func anthropicError(kind model.ErrorKind, text string) (status int, body string) {
	status, name := http.StatusInternalServerError, "api_error"
	switch kind {
	case model.KindOverloaded:
		status, name = 529, "overloaded_error"
	case model.KindRateLimit:
		status, name = http.StatusTooManyRequests, "rate_limit_error"
	case model.KindQuota:
		status, name = http.StatusBadRequest, "invalid_request_error"
		text = "Your credit balance is too low to access the Anthropic API: " + text
	case model.KindAuth:
		status, name = http.StatusUnauthorized, "authentication_error"
	case model.KindTooLong:
		status, name = http.StatusBadRequest, "invalid_request_error"
		text = "prompt is too long: 210000 tokens > 200000 maximum: " + text
	case model.KindInvalid:
		status, name = http.StatusBadRequest, "invalid_request_error"
	}
	return status, fmt.Sprintf(`{"type":"error","error":{"type":%q,"message":%s},"request_id":"req_1"}`, name, encoded(text))
}

func failAnthropic(w http.ResponseWriter, f *Failure, text string) {
	status, body := anthropicError(f.Kind, text)
	if f.Late {
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		s := &anthropicStream{w: w}
		s.begin(usage.Tokens{})
		s.event("content_block_start", `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`)
		s.event("error", body)
		return
	}
	if f.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(f.RetryAfter/time.Second)))
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body)
}

// An anthropicStream writes the events of one response.
type anthropicStream struct{ w io.Writer }

func (s *anthropicStream) event(name, data string) {
	_, _ = fmt.Fprintf(s.w, "event: %s\ndata: %s\n\n", name, data)
}

func (s *anthropicStream) begin(t usage.Tokens) {
	s.event("message_start", fmt.Sprintf(`{"type":"message_start","message":{"id":"msg_01","type":"message","role":"assistant","model":"claude-fake",`+
		`"content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":%d,"cache_creation_input_tokens":%d,`+
		`"cache_creation":{"ephemeral_5m_input_tokens":%d,"ephemeral_1h_input_tokens":%d},"cache_read_input_tokens":%d,"output_tokens":0,"service_tier":"standard"}}}`,
		t.Input, t.CacheWrite, t.CacheWrite-t.LongCacheWrite, t.LongCacheWrite, t.CacheRead))
	s.event("future_event", `{"type":"future_event","index":0,"delta":{"type":"text_delta","text":"not for you"}}`)
	s.event("ping", `{"type":"ping"}`)
}

// part writes a part as a block. The text of a refusal is not part of the
// content.
func (s *anthropicStream) part(index int, p *model.Part, refusal bool) {
	delta := func(kind, member, value string) {
		s.event("content_block_delta", fmt.Sprintf(`{"type":"content_block_delta","index":%d,"delta":{"type":%q,%q:%s}}`, index, kind, member, encoded(value)))
	}
	start := func(block string) {
		s.event("content_block_start", fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":%s}`, index, block))
	}
	switch p.Type {
	case model.TypeText:
		if refusal {
			return
		}
		start(`{"type":"text","text":"","citations":null,"future":{"b":1,"a":[1.50]}}`)
		for _, piece := range pieces(p.Text) {
			delta("text_delta", "text", piece)
		}
	case model.TypeThinking:
		start(`{"type":"thinking","thinking":"","signature":"","future":true}`)
		for _, piece := range pieces(p.Text) {
			delta("thinking_delta", "thinking", piece)
		}
		delta("future_delta", "note", "kept")
		delta("signature_delta", "signature", "c2lnbmF0dXJlIG9mIGEgdGVzdA==")
	case model.TypeCall:
		start(fmt.Sprintf(`{"type":"tool_use","id":%s,"name":%s,"input":{},"caller":{"type":"direct"}}`, encoded(p.ID), encoded(p.Name)))
		delta("input_json_delta", "partial_json", "")
		for _, piece := range pieces(string(p.Arguments)) {
			delta("input_json_delta", "partial_json", piece)
		}
	case model.TypeOpaque:
		start(string(p.Raw))
	}
	s.event("content_block_stop", fmt.Sprintf(`{"type":"content_block_stop","index":%d}`, index))
}

func (s *anthropicStream) end(t *Turn) {
	reasons := map[model.StopReason]string{model.StopEnd: "end_turn", model.StopCalls: "tool_use", model.StopLength: "max_tokens",
		model.StopRefusal: "refusal", model.StopPause: "pause_turn"}
	reason, details := reasons[t.Stop], "null"
	if reason == "" {
		reason = "end_turn"
		for _, p := range t.Parts {
			if p.Type == model.TypeCall {
				reason = "tool_use"
			}
		}
	}
	if t.Stop == model.StopRefusal {
		details = fmt.Sprintf(`{"type":"refusal","category":"other","explanation":%s}`, encoded((&model.Message{Parts: t.Parts}).Text()))
	}
	s.event("message_delta", fmt.Sprintf(`{"type":"message_delta","delta":{"stop_reason":%q,"stop_sequence":null,"stop_details":%s},`+
		`"usage":{"output_tokens":%d,"output_tokens_details":{"thinking_tokens":%d}}}`, reason, details, t.Tokens.Output, t.Tokens.Reasoning))
	s.event("message_stop", `{"type":"message_stop"}`)
}

// encoded returns a JSON string.
func encoded(text string) string {
	raw, err := json.Marshal(text)
	if err != nil {
		panic(err) // a string can be encoded
	}
	return string(raw)
}

// pieces splits a text as a stream does: into a few runes each.
func pieces(text string) []string {
	const size = 7
	var all []string
	for runes := []rune(text); len(runes) > 0; {
		n := min(size, len(runes))
		all = append(all, string(runes[:n]))
		runes = runes[n:]
	}
	return all
}
