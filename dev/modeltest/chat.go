package modeltest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/openai"
)

// Chat returns the wire format of the Chat Completions API. Opaque parts are
// objects with members of a delta.
func Chat() Wire {
	return Wire{Check: checkOf(openai.NewChat("m", nil)), Answer: answerChat, Fail: failChat}
}

// A chunkWriter writes the chunks of a response.
type chunkWriter struct{ w io.Writer }

const chunkHead = `"id":"chatcmpl-1", "object":"chat.completion.chunk", "created":1764000000, "model":"gpt-test-2026", "novelty":[{}]`

// delta writes a chunk with members of the delta.
func (c chunkWriter) delta(format string, args ...any) {
	c.choice(`"delta":{`+format+`}, "finish_reason":null`, args...)
}

func (c chunkWriter) choice(format string, args ...any) {
	_, _ = fmt.Fprintf(c.w, "data: {%s, \"choices\":[{\"index\":0, %s}], \"usage\":null}\n\n", chunkHead, fmt.Sprintf(format, args...))
}

func answerChat(w io.Writer, header http.Header, t *Turn) {
	header.Set("Content-Type", "text/event-stream")
	c := chunkWriter{w}
	c.delta(`"role":"assistant", "content":"", "refusal":null`)
	_, _ = io.WriteString(w, ": keep-alive\n\n")
	calls := 0
	for i := range t.Parts {
		p := &t.Parts[i]
		switch p.Type {
		case model.TypeCall:
			c.call(calls, p)
			calls++
		case model.TypeOpaque:
			c.delta("%s", p.Raw[1:len(p.Raw)-1])
		case model.TypeThinking:
			c.text("reasoning_content", p.Text)
		default:
			member := "content"
			if t.Stop == model.StopRefusal {
				member = "refusal"
			}
			c.text(member, p.Text)
		}
	}
	reason := "stop"
	switch {
	case t.Stop == model.StopLength:
		reason = "length"
	case calls > 0:
		reason = "tool_calls"
	}
	c.choice(`"delta":{}, "logprobs":null, "finish_reason":%q`, reason)
	u := t.Tokens
	_, _ = fmt.Fprintf(w, "data: {%s, \"choices\":[], \"usage\":{\"prompt_tokens\":%d, \"completion_tokens\":%d, \"total_tokens\":%d, "+
		"\"prompt_tokens_details\":{\"cached_tokens\":%d, \"cache_write_tokens\":%d}, \"completion_tokens_details\":{\"reasoning_tokens\":%d}}}\n\n",
		chunkHead, u.Input+u.CacheRead+u.CacheWrite, u.Output, u.Context(), u.CacheRead, u.CacheWrite, u.Reasoning)
	_, _ = io.WriteString(w, "data: [DONE]\n\n")
}

// text writes a text in pieces.
func (c chunkWriter) text(member, text string) {
	for _, piece := range quotedPieces(text) {
		c.delta("%q:%s", member, piece)
	}
}

// call writes a call: its name, then its arguments in pieces.
func (c chunkWriter) call(index int, p *model.Part) {
	c.delta(`"tool_calls":[{"index":%d, "id":%q, "type":"function", "function":{"name":%q, "arguments":""}, "extra_content":{"signature":"s<%d>"}}]`,
		index, p.ID, p.Name, index)
	for _, piece := range quotedPieces(string(p.Arguments)) {
		c.delta(`"tool_calls":[{"index":%d, "function":{"arguments":%s}}]`, index, piece)
	}
}

func failChat(w http.ResponseWriter, f *Failure, text string) {
	if !f.Late {
		failWith(w, f, text)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	c := chunkWriter{w}
	c.delta(`"role":"assistant", "content":"I be"`)
	known, err := json.Marshal(map[string]any{"message": text, "type": openAIFailures()[f.Kind].typ, "code": openAIFailures()[f.Kind].code})
	if err != nil {
		panic(err)
	}
	_, _ = fmt.Fprintf(w, "data: {\"error\": %s}\n\n", known)
}
