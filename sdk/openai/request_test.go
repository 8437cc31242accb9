package openai_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/responses"

	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/openai"
	"github.com/toolpost/toolpost/sdk/internal/offertest"
)

// TestRequests checks that the SDK's types represent the whole of every request that the
// tests of package model/openai record.
func TestRequests(t *testing.T) {
	for file, params := range map[string]any{
		"responses.json":  new(responses.ResponseNewParams),
		"chat.json":       new(sdk.ChatCompletionNewParams),
		"compatible.json": new(sdk.ChatCompletionNewParams),
	} {
		body, err := os.ReadFile("../../model/openai/testdata/" + file)
		if err != nil {
			t.Fatal(err)
		}
		var request map[string]json.RawMessage
		if err := json.Unmarshal(body, &request); err != nil {
			t.Fatal(err)
		}
		delete(request, "stream") // the SDK adds it by itself
		if input := request["input"]; input != nil {
			request["input"] = withoutMessages(t, input)
		}
		body = offertest.Marshal(t, request)
		if err := json.Unmarshal(body, params); err != nil {
			t.Fatal(err)
		}
		offertest.Equal(t, file, offertest.Marshal(t, params), string(body))
	}
}

// withoutMessages compares the messages that the model wrote with the SDK's type, and
// removes from them what the SDK's union does not have: it decodes every message as the
// simplest of three types.
func withoutMessages(t *testing.T, input json.RawMessage) json.RawMessage {
	t.Helper()
	var items []map[string]json.RawMessage
	if err := json.Unmarshal(input, &items); err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, item := range items {
		if string(item["type"]) != `"message"` || item["id"] == nil {
			continue
		}
		raw := offertest.Marshal(t, item)
		var m responses.ResponseOutputMessageParam
		if err := json.Unmarshal(raw, &m); err != nil {
			t.Fatal(err)
		}
		offertest.Equal(t, "message", offertest.Marshal(t, m), string(raw))
		delete(item, "id")
		delete(item, "status")
		compared++
	}
	if compared == 0 {
		t.Errorf("no message of the model in %s", input)
	}
	return offertest.Marshal(t, items)
}

// TestOddNumbers checks that package model/openai reads numbers that servers write in odd
// ways as the SDK does, within the limits of a count.
func TestOddNumbers(t *testing.T) {
	const maxCount = 1 << 40
	for _, raw := range []string{
		`0`, `7`, `-7`, `7.0`, `7.9`, `-7.9`, `1e3`, `0.5`, `-0`,
		`"7"`, `"-7"`, `""`, `"seven"`, `"0x7"`, `null`, `false`, `{}`, `{"a":7}`, `[7]`, `[]`, `9007199254740991`,
	} {
		var want responses.ResponseUsage
		if err := json.Unmarshal([]byte(`{"input_tokens":`+raw+`}`), &want); err != nil {
			t.Fatalf("the SDK cannot read %s: %v", raw, err)
		}
		web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, fmt.Sprintf("data: {\"type\":\"response.completed\",\"response\":{\"id\":\"r\",\"status\":\"completed\",\"output\":[],\"usage\":{\"input_tokens\":%s}}}\n\n", raw))
		}))
		m := openai.New("gpt-test", &openai.Options{APIKey: "none", BaseURL: web.URL})
		for delta, err := range m.Stream(t.Context(), &model.Request{Messages: []*model.Message{model.UserText("Hello.")}}) {
			if err != nil {
				t.Fatal(err)
			}
			if delta.Response != nil && int64(delta.Response.Usage.Input) != min(max(0, want.InputTokens), maxCount) {
				t.Errorf("%s: %d, and the SDK reads %d", raw, delta.Response.Usage.Input, want.InputTokens)
			}
		}
		web.Close()
	}
}
