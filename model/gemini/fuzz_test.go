package gemini_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/toolpost/toolpost/model"
)

// FuzzStream reads any stream. It ends with an error of the provider or with a
// response whose message the provider accepts again, with the raw forms in it.
func FuzzStream(f *testing.F) {
	for _, p := range received() {
		f.Add(data(`{"content":{"parts":[` + p + `]},"finishReason":"STOP"}`))
	}
	f.Add(data(`{"content":{"parts":[`+strings.Join(received(), ",")+`]}}`, `{"finishReason":"MAX_TOKENS"}`))
	f.Add(data(`{"content":{"parts":[{"text":"a"},{"text":"b","thought":true}]}}`, `{"content":{"parts":[{"text":"\ud800"}]},"finishReason":"SAFETY"}`))
	f.Add("data: {\"promptFeedback\":{\"blockReason\":\"SAFETY\"}}\n\n")
	f.Add("data: {\"error\":{\"code\":429,\"details\":[{\"retryDelay\":\"1s\"}]}}\r\n\r\n")
	f.Add("{\n\"candidates\":\n[5]}")
	r := hello()
	r.Tools = weatherSet(f)
	f.Fuzz(func(t *testing.T, stream string) {
		w := streams(stream)
		m := w.open(t, "gemini-2.5-pro")
		got, err := ask(t, m, r)
		var failed *model.Error
		switch {
		case errors.As(err, &failed):
			return
		case err != nil || got == nil:
			t.Fatalf("the stream ended with %v, %v", got, err)
		case len(got.Message.Parts) == 0:
			if got.Stop == model.StopEnd || got.Stop == model.StopCalls {
				t.Fatalf("an empty message ends with %q", got.Stop)
			}
			return
		}
		next := *r
		next.Messages = append(next.Messages[:1:1], got.Message)
		answer := model.UserText("Go on.")
		for i, c := range got.Message.Calls() {
			if i == 0 {
				answer.Parts = nil
			}
			answer.Parts = append(answer.Parts, result(c.ID, "Done."))
		}
		next.Messages = append(next.Messages, answer)
		if err := m.Check(&next); err != nil {
			t.Fatalf("the message is refused: %v\n%+v", err, got.Message)
		}
		_, _ = ask(t, m, &next)
		var raws []string
		for _, p := range got.Message.Parts {
			raws = append(raws, string(p.Raw))
		}
		if !strings.Contains(w.bodies[1], `{"role":"model","parts":[`+strings.Join(raws, ",")+`]}`) {
			t.Fatalf("the raw forms %q are not in the request\n%s", raws, w.bodies[1])
		}
	})
}
