package model_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/toolpost/toolpost/model"
)

// FuzzPart reads a part of a message of a model, writes it, and reads it again:
// nothing changes, and the raw form keeps every byte.
func FuzzPart(f *testing.F) {
	f.Add([]byte(`{"type":"tool_call","id":"c","name":"n","arguments":{"a":[1,2]},"origin":{"provider":"p","api":"a","model":"m"}}`), `{"a" : 1}`)
	f.Add([]byte(`{"type":"tool_result","result":{"tool_call_id":"c","content":[{"type":"image","data":"cG5n","mimeType":"image/png"}]}}`), "")
	f.Add([]byte(`{"type":"image","data":"cG5n","mime_type":"image/png","raw":" [ 1 ,\n2]"}`), "{\"s\":\"\u2028<\"}")
	f.Fuzz(func(t *testing.T, data []byte, raw string) {
		var p model.Part
		if json.Unmarshal(data, &p) != nil {
			return
		}
		if json.Valid([]byte(raw)) {
			p.Raw = json.RawMessage(raw)
		}
		want := string(p.Raw)
		first, err := json.Marshal(p)
		if err != nil {
			t.Fatalf("write: %v", err)
		}
		var again model.Part
		if err := json.Unmarshal(first, &again); err != nil {
			t.Fatalf("read %s: %v", first, err)
		}
		if json.Valid([]byte(want)) && string(again.Raw) != want {
			t.Errorf("the raw form became %q, was %q", again.Raw, want)
		}
		second, err := json.Marshal(again)
		if err != nil || !reflect.DeepEqual(first, second) {
			t.Errorf("written again: %s, %v; first %s", second, err, first)
		}
	})
}
