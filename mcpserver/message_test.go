package mcpserver

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

const call = `"jsonrpc":"2.0","id":1,"method":"tools/call"`

func TestParseRefuses(t *testing.T) {
	tests := []struct {
		name, body string
		code       int64
		id         string // of the answer
	}{
		{"empty", "", jsonrpc.CodeInvalidRequest, ""},
		{"spaces", " \n", jsonrpc.CodeInvalidRequest, ""},
		{"no JSON", "hello", jsonrpc.CodeParseError, ""},
		{"HTML", "<html></html>", jsonrpc.CodeParseError, ""},
		{"truncated", `{"jsonrpc":"2.0","id":1,"met`, jsonrpc.CodeParseError, ""},
		{"trailing garbage", `{` + call + `} x`, jsonrpc.CodeParseError, ""},
		{"second object", `{` + call + `}{` + call + `}`, jsonrpc.CodeParseError, ""},
		{"scalar", `1`, jsonrpc.CodeInvalidRequest, ""},
		{"null", `null`, jsonrpc.CodeInvalidRequest, ""},
		{"empty batch", `[]`, jsonrpc.CodeInvalidRequest, ""},
		{"batch of scalars", `[1,2]`, jsonrpc.CodeInvalidRequest, ""},
		{"duplicate id in a batch", `[{` + call + `},{` + call + `}]`, jsonrpc.CodeInvalidRequest, ""},
		{"large batch", `[` + strings.Repeat(`{"jsonrpc":"2.0","method":"x"},`, maxBatch) + `{"jsonrpc":"2.0","method":"x"}]`, jsonrpc.CodeInvalidRequest, ""},
		{"invalid UTF-8", "{" + call + `,"params":{"arguments":{"a":"` + "\xff" + `"}}}`, jsonrpc.CodeParseError, ""},
		{"lone surrogate", "{" + call + `,"params":{"arguments":{"a":"\ud800"}}}`, jsonrpc.CodeParseError, ""},
		{"byte order mark", "\ufeff{" + call + "}", jsonrpc.CodeParseError, ""},
		{"control character", "{" + call + `,"params":{"a":"` + "\x01" + `"}}`, jsonrpc.CodeParseError, ""},
		{"deep", strings.Repeat("[", 100_000), jsonrpc.CodeParseError, ""},
		{"deep arguments", "{" + call + `,"params":{"arguments":` + strings.Repeat(`{"a":`, 300) + "1" + strings.Repeat("}", 300) + "}}", jsonrpc.CodeParseError, ""},
		{"no version", `{"id":1,"method":"ping"}`, jsonrpc.CodeInvalidRequest, "1"},
		{"wrong version", `{"jsonrpc":"1.0","id":1,"method":"ping"}`, jsonrpc.CodeInvalidRequest, "1"},
		{"version as a number", `{"jsonrpc":2.0,"id":"a","method":"ping"}`, jsonrpc.CodeInvalidRequest, `"a"`},
		{"no method", `{"jsonrpc":"2.0","id":1}`, jsonrpc.CodeInvalidRequest, "1"},
		{"method no string", `{"jsonrpc":"2.0","id":1,"method":5}`, jsonrpc.CodeInvalidRequest, ""},
		{"tool name no string", "{" + call + `,"params":{"name":{}}}`, jsonrpc.CodeInvalidParams, ""},
		{"null id", `{"jsonrpc":"2.0","id":null,"method":"ping"}`, jsonrpc.CodeInvalidRequest, ""},
		{"object id", `{"jsonrpc":"2.0","id":{},"method":"ping"}`, jsonrpc.CodeInvalidRequest, ""},
		{"array id", `{"jsonrpc":"2.0","id":[1],"method":"ping"}`, jsonrpc.CodeInvalidRequest, ""},
		{"boolean id", `{"jsonrpc":"2.0","id":true,"method":"ping"}`, jsonrpc.CodeInvalidRequest, ""},
		{"fractional id", `{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, jsonrpc.CodeInvalidRequest, ""},
		{"id 1.0", `{"jsonrpc":"2.0","id":1.0,"method":"ping"}`, jsonrpc.CodeInvalidRequest, ""},
		{"id -0", `{"jsonrpc":"2.0","id":-0,"method":"ping"}`, jsonrpc.CodeInvalidRequest, ""},
		{"id 2^53+1", `{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`, jsonrpc.CodeInvalidRequest, ""},
		{"id of 40 digits", `{"jsonrpc":"2.0","id":` + strings.Repeat("9", 40) + `,"method":"ping"}`, jsonrpc.CodeInvalidRequest, ""},
		{"id of 1 MB", `{"jsonrpc":"2.0","id":"` + strings.Repeat("x", 1<<20) + `","method":"ping"}`, jsonrpc.CodeInvalidRequest, ""},
		{"duplicate id", `{"id":2,` + call + `}`, jsonrpc.CodeInvalidRequest, ""},
		{"duplicate method", `{` + call + `,"method":"ping"}`, jsonrpc.CodeInvalidRequest, ""},
		{"duplicate name", `{` + call + `,"params":{"name":"a","name":"b"}}`, jsonrpc.CodeInvalidRequest, ""},
		{"duplicate argument", `{` + call + `,"params":{"name":"a","arguments":{"x":1,"x":2}}}`, jsonrpc.CodeInvalidRequest, ""},
		{"method in capitals", `{"jsonrpc":"2.0","id":1,"METHOD":"ping"}`, jsonrpc.CodeInvalidRequest, ""},
		{"method with NUL", `{"jsonrpc":"2.0","id":1,"method":"ping","method\u0000":"tools/call"}`, jsonrpc.CodeInvalidRequest, ""},
		{"request and response", `{` + call + `,"result":{}}`, jsonrpc.CodeInvalidRequest, "1"},
		{"result and error", `{"jsonrpc":"2.0","id":1,"result":{},"error":{}}`, jsonrpc.CodeInvalidRequest, ""},
		{"response without id", `{"jsonrpc":"2.0","result":{}}`, jsonrpc.CodeInvalidRequest, ""},
		{"initialize without params", `{"jsonrpc":"2.0","id":1,"method":"initialize"}`, jsonrpc.CodeInvalidParams, "1"},
		{"initialize with an array", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":[]}`, jsonrpc.CodeInvalidParams, "1"},
		{"client name as a number", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"clientInfo":{"name":5}}}`, jsonrpc.CodeInvalidParams, "1"},
		{"log level as a number", `{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":5}}`, jsonrpc.CodeInvalidParams, "1"},
		{"notification with id", `{"jsonrpc":"2.0","id":1,"method":"notifications/initialized"}`, jsonrpc.CodeInvalidRequest, "1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			msgs, _, fault := parse([]byte(tt.body))
			if fault == nil {
				t.Fatalf("accepted as %+v", msgs)
			}
			if fault.Code != tt.code {
				t.Errorf("code %d (%s), want %d", fault.Code, fault.Message, tt.code)
			}
			if id := string(faultID(msgs, fault)); id != tt.id {
				t.Errorf("the answer's id is %q, want %q", id, tt.id)
			}
			if len(fault.Message) > 2048 {
				t.Errorf("the message has %d bytes", len(fault.Message))
			}
		})
	}
}

func TestParse(t *testing.T) {
	const params = `{ "name":"a\u0062", "x-unknown":9007199254740993, "arguments":{"n":9007199254740993}, "_meta":{"k":1} }`
	msgs, batch, fault := parse([]byte(` {"jsonrpc":"2.0","id":"\u0031", "params":` + params + `,"method":"tools\/call","extra":[1]}` + "\r\n"))
	if fault != nil || batch || len(msgs) != 1 {
		t.Fatal(msgs, batch, fault)
	}
	m := msgs[0]
	for got, want := range map[string]string{
		string(m.id): `"1"`, m.method: "tools/call", m.name: "ab", string(m.params): params,
		string(m.arguments): `{"n":9007199254740993}`, string(m.meta): `{"k":1}`,
	} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	msgs, batch, fault = parse([]byte(`[{"jsonrpc":"2.0","method":"notifications/initialized"},{` + call + `},{"jsonrpc":"2.0","id":7,"result":{"a":1}}]`))
	if fault != nil || !batch || len(msgs) != 3 || msgs[0].id != nil || string(msgs[2].answer) != `{"a":1}` {
		t.Errorf("batch: %+v %v", msgs, fault)
	}
}

// What parse accepts, encoding/json reads the same way.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`{` + call + `,"params":{"name":"a","arguments":{"b":[1,"\u00e9"]},"_meta":{}}}`))
	f.Add([]byte(`[{"jsonrpc":"2.0","id":"x","result":{}},{"jsonrpc":"2.0","method":"m","params":[]}]`))
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"x","METHOD":"y"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		msgs, batch, fault := parse(bytes.Clone(data))
		if fault != nil {
			return
		}
		var all []struct {
			ID     json.RawMessage
			Method string
			Params json.RawMessage
		}
		plain := data
		if !batch {
			plain = append(append([]byte{'['}, data...), ']')
		}
		if err := json.Unmarshal(plain, &all); err != nil || len(all) != len(msgs) {
			t.Fatalf("accepted %q: %v", data, err)
		}
		for i, m := range msgs {
			if m.method != all[i].Method || !bytes.Equal(m.params, all[i].Params) || !bytes.Equal(m.id, all[i].ID) {
				t.Errorf("%q: got %+v, encoding/json %+v", data, m, all[i])
			}
		}
	})
}

func TestSplice(t *testing.T) {
	tests := []struct{ name, got, want string }{
		{"get", string(get([]byte(`{"a":{"b":1},"b": 2 }`), "b")), "2"},
		{"get nothing", string(get([]byte(`{"a":{"b":1}}`), "b")), ""},
		{"put in place", string(put([]byte(`{"a":1, "b":2}`), "a", []byte(`"x"`))), `{"a":"x", "b":2}`},
		{"put at the end", string(put([]byte(`{"a":1 } `), "b", []byte("2"))), `{"a":1,"b":2}`},
		{"put into nothing", string(put([]byte(`{ }`), "b", []byte("2"))), `{"b":2}`},
		{"drop first", string(drop([]byte(`{ "a":1 , "b":2}`), "a")), `{ "b":2}`},
		{"drop last", string(drop([]byte(`{"a":1, "b":2 }`), "b")), `{"a":1 }`},
		{"drop only", string(drop([]byte(`{"a":1}`), "a")), `{}`},
		{"drop between", string(drop([]byte(`{"a":1,"b":[2],"c":3}`), "b")), `{"a":1,"c":3}`},
		{"no reference", string(withoutRef([]byte(`{ "_meta":{"a":"output_ref"} }`))), `{ "_meta":{"a":"output_ref"} }`},
		{"a reference", string(withoutRef([]byte(`{"c": [1] , "_meta": {"toolpost/output_ref":"x", "b" : 2} }`))), `{"c":[1],"_meta":{"b":2}}`},
		{"references", string(withoutRef([]byte(`{"_meta":{"toolpost\/output_ref":1,"toolpost/\u006futput_ref":2},"_met\u0061":{"toolpost/output_ref":3}}`))), `{"_meta":{},"_met\u0061":{}}`},
		{"references elsewhere", string(withoutRef([]byte(`{"toolpost/output_ref":1,"x":{"_meta":{"toolpost/output_ref":1}}}`))), `{"toolpost/output_ref":1,"x":{"_meta":{"toolpost/output_ref":1}}}`},
	}
	for _, tt := range tests {
		if tt.got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, tt.got, tt.want)
		}
	}
}

func TestListingPages(t *testing.T) {
	var keys []string
	var items []json.RawMessage
	for i := range 2*pageSize + 1 {
		keys = append(keys, strings.Repeat("k", i+1))
		items = append(items, json.RawMessage("1"))
	}
	l := newListing("tools", keys, items)
	seen, at := 0, ""
	for {
		body := l.page(at)
		if body == nil {
			t.Fatalf("no page at %q", at)
		}
		var page struct {
			Tools      []int
			NextCursor string
		}
		if err := json.Unmarshal(append(body[:len(body):len(body)], '}'), &page); err != nil {
			t.Fatal(err)
		}
		seen += len(page.Tools)
		if at = page.NextCursor; at == "" {
			break
		}
	}
	if seen != len(items) {
		t.Errorf("saw %d items, want %d", seen, len(items))
	}
	if l.page("nonsense") != nil {
		t.Error("a page at a cursor that nobody gave")
	}
	if empty := newListing("tools", nil, nil); string(empty.page("")) != `{"tools":[]` {
		t.Errorf("empty list: %s", empty.page(""))
	}
}
