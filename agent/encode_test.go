package agent

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/usage"
)

// TestEncodeRecord writes a record whose every member has a value, and one of a turn with
// texts that need escapes: both are read as they were, and neither has a line break.
func TestEncodeRecord(t *testing.T) {
	const odd = "line\nbreak \"<é>\" \u2028 \x00"
	parts := []model.Part{
		{Type: model.TypeText, Text: odd, Origin: &model.Origin{Provider: "p", API: "a", Model: odd}, Raw: json.RawMessage(" { \"a\" :\n1 } ")},
		{Type: model.TypeCall, ID: odd, Name: odd, Arguments: json.RawMessage(`{"a":1.0,"a":"é"}`), Invalid: odd},
		{Type: model.TypeImage, Data: []byte{0, 255}, MIMEType: "image/png", Raw: json.RawMessage("\xff")},
	}
	m := &model.Message{Role: model.RoleAssistant, Parts: parts}
	cost := usage.Dollar
	result := &toolpost.ToolMessage{CallID: odd, Text: odd, IsError: true, OutputRef: odd}
	whole := record{Type: recordResponse, Time: time.Date(2026, 11, 28, 1, 2, 3, 4, time.UTC), Version: 1, ID: odd, Message: m,
		Origin: &model.Origin{Provider: odd}, Stop: StopAnswer, Tokens: &usage.Tokens{Input: 1}, Cost: &cost, Call: 1, Response: 2, Definition: odd,
		Arguments: json.RawMessage(`{"b":"\u003c","b":2}`), Decision: &Decision{Allow: true, Reason: odd}, Result: result, Complete: true,
		Duration: time.Second, Text: odd, Setup: json.RawMessage(`[1]`), Until: 3, Messages: []*model.Message{m}, TakeBack: true,
		Trimmed: []trimmedPart{{Message: 1, Part: 2, Result: result, Note: odd}}}
	for i, v := 0, reflect.ValueOf(whole); i < v.NumField(); i++ {
		if v.Field(i).IsZero() {
			t.Fatalf("%s has no value", v.Type().Field(i).Name)
		}
	}
	for _, want := range []record{whole, {Type: recordIntent}, {Type: recordResponse, Message: &model.Message{}}} {
		raw, err := want.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		var got record
		if err := json.Unmarshal(raw, &got); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%v\n%s\nbecame %+v", err, raw, got)
		}
		for _, c := range raw {
			if c == '\n' {
				t.Errorf("a line break: %s", raw)
			}
		}
	}
	spaced := record{Type: recordIntent, Arguments: json.RawMessage("{ \"a\":\n[ 1.0 ] }")}
	if raw, err := spaced.MarshalJSON(); err != nil || string(raw) != `{"type":"intent","arguments":{"a":[1.0]}}` {
		t.Errorf("%s, %v", raw, err)
	}
	if raw, err := (&record{Setup: json.RawMessage("{")}).MarshalJSON(); err == nil {
		t.Errorf("what is not JSON was written: %s", raw)
	}
}
