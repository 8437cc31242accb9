package gemini_test

import (
	"strings"
	"testing"

	"github.com/toolpost/toolpost/model"
)

// received are parts as Google may send them: with signatures in many places,
// with bytes that an encoder would change, with members of tomorrow.
func received() []string {
	return []string{
		`{"text": "I <think> \u0026 plan.", "thought": true, "thoughtSignature": "dGhpbms="}`,
		`{"text":"","thoughtSignature":"ZW1wdHk="}`,
		`{"text": "Signed & sealed.",   "thoughtSignature": "dGV4dA=="}`,
		`{"text": "With more.", "partMetadata": {"a": 1.50}}`,
		`{"executableCode": {"language": "PYTHON", "code": "1/3"}, "id": 12345678901234567890}`,
		`{"inlineData": {"mimeType": "image/png", "data": "cG5n"}}`,
		`{"thoughtSignature": "YWxvbmU="}`,
		`{"functionCall": {"name": "weather", "args": {"city": "Oslo", "n": 1e2}, "future": [ ]}, "thoughtSignature": "Y2FsbA=="}`,
		`{"functionCall": {"name": "weather", "args": {"city": "Bergen"}}}`,
		`{"functionCall": {"id": "g1", "name": "weather", "args": {"city": "Bodø"}}}`,
		`{"functionCall": {"id": "g1", "name": "mail_send"}}`,
	}
}

// TestRaw sends what was received back: byte for byte and in place, also when the
// conversation continues with another model of Google.
func TestRaw(t *testing.T) {
	parts := received()
	stream := data(`{"content":{"parts":[`+strings.Join(parts[:4], ",")+`]}}`,
		`{"content":{"parts":[`+strings.Join(parts[4:], " , ")+`]},"finishReason":"STOP"}`)
	w := streams(stream)
	r := hello()
	r.Tools = weatherSet(t)
	first, err := ask(t, w.open(t, "gemini-3-pro-preview"), r)
	if err != nil {
		t.Fatal(err)
	}
	want := []model.PartType{model.TypeThinking, model.TypeText, model.TypeText, model.TypeText, model.TypeOpaque, model.TypeImage, model.TypeOpaque,
		model.TypeCall, model.TypeCall, model.TypeCall, model.TypeCall}
	ids := map[string]bool{}
	for i, p := range first.Message.Parts {
		if p.Type != want[i] || string(p.Raw) != parts[i] {
			t.Errorf("part %d is %s %s", i, p.Type, p.Raw)
		}
		if p.Type == model.TypeCall {
			ids[p.ID] = true
		}
	}
	if len(ids) != 4 || ids[""] || !ids["g1"] {
		t.Errorf("the ids are %v", ids)
	}
	results := user()
	for _, c := range first.Message.Calls() {
		results.Parts = append([]model.Part{result(c.ID, c.ID)}, results.Parts...) // in another order
	}
	r.Messages = append(r.Messages, first.Message, results)
	for _, name := range []string{"gemini-3-pro-preview", "gemini-2.5-flash", "gemini-flash-latest"} {
		second, err := ask(t, w.open(t, name), r)
		if err != nil {
			t.Fatal(err)
		}
		body := w.bodies[len(w.bodies)-1]
		if model := `{"role":"model","parts":[` + strings.Join(parts, ",") + `]}`; !strings.Contains(body, model) {
			t.Errorf("%s: the parts have changed\n%s", name, body)
		}
		if len(second.Losses) > 0 {
			t.Errorf("%s: %v", name, second.Losses)
		}
	}
	calls := first.Message.Calls()
	responses := `"parts":[{"functionResponse":{"name":"weather","response":{"output":"` + calls[0].ID + `"}}},` +
		`{"functionResponse":{"name":"weather","response":{"output":"` + calls[1].ID + `"}}},` +
		`{"functionResponse":{"id":"g1","name":"weather","response":{"output":"g1"}}},` +
		`{"functionResponse":{"id":"g1","name":"mail_send","response":{"output":"` + calls[3].ID + `"}}}]`
	if !strings.Contains(w.bodies[1], responses) {
		t.Errorf("the responses are not in the order of the calls, or have ids that the provider did not send\nwant %s\nbody %s", responses, w.bodies[1])
	}
}

// TestOwnIDs: ids that this package makes are the same for the same request, and
// others in another request.
func TestOwnIDs(t *testing.T) {
	m := streams(data(`{"content":{"parts":[{"functionCall":{"name":"weather","args":{"city":"Oslo"}}}]},"finishReason":"STOP"}`)).open(t, "gemini-2.5-pro")
	r := hello()
	r.Tools = weatherSet(t)
	seen := map[string]int{}
	for range 3 {
		for range 2 {
			got, err := ask(t, m, r)
			if err != nil {
				t.Fatal(err)
			}
			seen[got.Message.Calls()[0].ID]++
		}
		got, err := ask(t, m, r)
		if err != nil {
			t.Fatal(err)
		}
		r.Messages = append(r.Messages, got.Message, user(result(got.Message.Calls()[0].ID, "Sunny.")))
	}
	if len(seen) != 3 {
		t.Errorf("ids: %v", seen)
	}
	for id, n := range seen {
		if n != 2 {
			t.Errorf("the id %s was given %d times", id, n)
		}
	}
}

// TestMerged merges texts that follow each other, but none that is signed.
func TestMerged(t *testing.T) {
	m := streams(data(
		`{"content":{"parts":[{"text":"a","thought":true},{"text":"b","thought":true}]}}`,
		`{"content":{"parts":[{"text":""},{"text":"c"}]}}`,
		`{"content":{"parts":[{"text":"<d>"},{"text":"e","thoughtSignature":"eA=="},{"text":"f"},{"text":"g"}]},"finishReason":"STOP"}`)).open(t, "gemini-3-flash-preview")
	got, err := ask(t, m, hello())
	if err != nil {
		t.Fatal(err)
	}
	want := []string{`{"text":"ab","thought":true}`, `{"text":"c<d>"}`, `{"text":"e","thoughtSignature":"eA=="}`, `{"text":"fg"}`}
	if len(got.Message.Parts) != len(want) {
		t.Fatalf("the parts are %+v", got.Message.Parts)
	}
	for i, p := range got.Message.Parts {
		if string(p.Raw) != want[i] {
			t.Errorf("part %d is %s, want %s", i, p.Raw, want[i])
		}
	}
	if text := got.Message.Text(); text != "c<d>efg" {
		t.Errorf("the text is %q", text)
	}
}
