package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/toolpost/toolpost/internal/jsontree"
)

const call = `"jsonrpc":"2.0","id":1,"method":"tools/call"`

func TestParseRefuses(t *testing.T) {
	tests := []struct {
		name, body string
		code       int64
		id         string // that is known in spite of the fault
	}{
		{"empty", "", CodeInvalidRequest, ""},
		{"spaces", " \n", CodeInvalidRequest, ""},
		{"not JSON", "hello", CodeParse, ""},
		{"HTML", "<html></html>", CodeParse, ""},
		{"truncated", `{"jsonrpc":"2.0","id":1,"met`, CodeParse, ""},
		{"trailing garbage", `{` + call + `} x`, CodeParse, "1"},
		{"trailing NUL", `{` + call + "}\x00", CodeParse, "1"},
		{"second object", `{` + call + `}{` + call + `}`, CodeParse, "1"},
		{"trailing comma", `{` + call + `,}`, CodeParse, "1"},
		{"scalar", `1`, CodeInvalidRequest, ""},
		{"null", `null`, CodeInvalidRequest, ""},
		{"empty batch", `[]`, CodeInvalidRequest, ""},
		{"batch of scalars", `[1,2]`, CodeInvalidRequest, ""},
		{"duplicate id in a batch", `[{` + call + `},{` + call + `}]`, CodeInvalidRequest, ""},
		{"large batch", `[` + strings.Repeat(`{"jsonrpc":"2.0","method":"x"},`, maxBatch) + `{"jsonrpc":"2.0","method":"x"}]`, CodeInvalidRequest, ""},
		{"invalid UTF-8", "{" + call + `,"params":{"arguments":{"a":"` + "\xff" + `"}}}`, CodeParse, "1"},
		{"lone surrogate", "{" + call + `,"params":{"arguments":{"a":"\ud800"}}}`, CodeParse, "1"},
		{"byte order mark", "\ufeff{" + call + "}", CodeParse, ""},
		{"control character", "{" + call + `,"params":{"a":"` + "\x01" + `"}}`, CodeParse, "1"},
		{"deep", strings.Repeat("[", 100_000), CodeParse, ""},
		{"deep arguments", "{" + call + `,"params":{"arguments":` + strings.Repeat(`{"a":`, 300) + "1" + strings.Repeat("}", 300) + "}}", CodeParse, "1"},
		{"no version", `{"id":1,"method":"ping"}`, CodeInvalidRequest, "1"},
		{"wrong version", `{"jsonrpc":"1.0","id":1,"method":"ping"}`, CodeInvalidRequest, "1"},
		{"version as a number", `{"jsonrpc":2.0,"id":"a","method":"ping"}`, CodeInvalidRequest, `"a"`},
		{"no method", `{"jsonrpc":"2.0","id":1}`, CodeInvalidRequest, "1"},
		{"method not a string", `{"jsonrpc":"2.0","id":1,"method":5}`, CodeInvalidRequest, "1"},
		{"tool name not a string", "{" + call + `,"params":{"name":{}}}`, CodeInvalidParams, "1"},
		{"null id", `{"jsonrpc":"2.0","id":null,"method":"ping"}`, CodeInvalidRequest, ""},
		{"object id", `{"jsonrpc":"2.0","id":{},"method":"ping"}`, CodeInvalidRequest, ""},
		{"array id", `{"jsonrpc":"2.0","id":[1],"method":"ping"}`, CodeInvalidRequest, ""},
		{"boolean id", `{"jsonrpc":"2.0","id":true,"method":"ping"}`, CodeInvalidRequest, ""},
		{"fractional id", `{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, CodeInvalidRequest, ""},
		{"id 1.0", `{"jsonrpc":"2.0","id":1.0,"method":"ping"}`, CodeInvalidRequest, ""},
		{"id -0", `{"jsonrpc":"2.0","id":-0,"method":"ping"}`, CodeInvalidRequest, ""},
		{"id 2^53+1", `{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`, CodeInvalidRequest, ""},
		{"id of 40 digits", `{"jsonrpc":"2.0","id":` + strings.Repeat("9", 40) + `,"method":"ping"}`, CodeInvalidRequest, ""},
		{"id of 1 MB", `{"jsonrpc":"2.0","id":"` + strings.Repeat("x", 1<<20) + `","method":"ping"}`, CodeInvalidRequest, ""},
		{"duplicate id", `{"id":2,` + call + `}`, CodeInvalidRequest, ""},
		{"duplicate method", `{` + call + `,"method":"ping"}`, CodeInvalidRequest, "1"},
		{"duplicate method, escaped", `{` + call + `,"m\u0065thod":"ping"}`, CodeInvalidRequest, "1"},
		{"duplicate name", `{` + call + `,"params":{"name":"a","name":"b"}}`, CodeInvalidRequest, "1"},
		{"duplicate argument", `{` + call + `,"params":{"name":"a","arguments":{"x":1,"x":2}}}`, CodeInvalidRequest, "1"},
		{"escaped name", `{` + call + `,"params":{"n\u0061me":"a"}}`, CodeInvalidParams, "1"},
		{"method in capitals", `{"jsonrpc":"2.0","id":1,"METHOD":"ping"}`, CodeInvalidRequest, ""},
		{"method with NUL", `{"jsonrpc":"2.0","id":1,"method":"ping","method\u0000":"tools/call"}`, CodeInvalidRequest, "1"},
		{"request and response", `{` + call + `,"result":{}}`, CodeInvalidRequest, "1"},
		{"result and error", `{"jsonrpc":"2.0","id":1,"result":{},"error":{}}`, CodeInvalidRequest, "1"},
		{"response without id", `{"jsonrpc":"2.0","result":{}}`, CodeInvalidRequest, ""},
		{"notification with id", `{"jsonrpc":"2.0","id":1,"method":"notifications/initialized"}`, CodeInvalidRequest, "1"},
		{"tool by uri", `{` + call + `,"params":{"name":"a","uri":"b"}}`, CodeInvalidParams, "1"},
		{"protocol version not a string", `{` + call + `,"params":{"_meta":{"` + MetaVersion + `":1}}}`, CodeInvalidParams, "1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			found, batch, fault := Parse([]byte(tt.body))
			if fault == nil {
				t.Fatalf("accepted as %+v", found)
			}
			if fault.Code != tt.code {
				t.Errorf("code %d (%s), want %d", fault.Code, fault.Message, tt.code)
			}
			id := ""
			if len(found) == 1 && !batch {
				id = string(found[0].ID)
			}
			if id != tt.id {
				t.Errorf("the id is %q, want %q", id, tt.id)
			}
			if len(fault.Message) > 2048 {
				t.Errorf("the error has %d bytes", len(fault.Message))
			}
		})
	}
}

func TestManyMembers(t *testing.T) {
	var b strings.Builder
	for i := range 200_000 { // takes minutes if each name is compared with all
		fmt.Fprintf(&b, `"a%d":1,`, i)
	}
	if _, _, fault := Parse([]byte("{" + call + `,"params":{"arguments":{` + b.String() + `"z":1}}}`)); fault != nil {
		t.Error(fault)
	}
	if _, _, fault := Parse([]byte("{" + call + `,"params":{"arguments":{` + b.String() + `"a7":1}}}`)); fault == nil {
		t.Error("a duplicate was accepted")
	}
}

func TestParse(t *testing.T) {
	const params = `{ "name":"a\u0062", "x-unknown":9007199254740993, "arguments":{"n":9007199254740993}, "_meta":{"k":1, "progressToken":"p", "` +
		MetaVersion + `":"2026-07-28","` + MetaClientInfo + `":{"name":"c"},"` + MetaCapabilities + `":{},"` + MetaLogLevel + `":"info"},"requestState":"s","inputResponses":{} }`
	found, batch, fault := Parse([]byte(` {"jsonrpc":"2.0","id":"\u0031", "params":` + params + `,"method":"tools\/call","extra":[1]}` + "\r\n"))
	if fault != nil || batch || len(found) != 1 {
		t.Fatal(found, batch, fault)
	}
	m := found[0]
	for _, tt := range [][2]string{
		{string(m.ID), `"1"`}, {m.Method, "tools/call"}, {m.Name, "ab"}, {string(m.Params), params},
		{string(m.Arguments), `{"n":9007199254740993}`}, {string(m.ProgressToken), `"p"`}, {m.Version, "2026-07-28"},
		{string(m.ClientInfo), `{"name":"c"}`}, {string(m.Capabilities), "{}"}, {m.LogLevel, "info"},
		{string(m.RequestState), `"s"`}, {string(m.InputResponses), "{}"},
	} {
		if tt[0] != tt[1] {
			t.Errorf("got %s, want %s", tt[0], tt[1])
		}
	}
	found, batch, fault = Parse([]byte(`[{"jsonrpc":"2.0","method":"notifications/initialized"},{` + call + `},{"jsonrpc":"2.0","id":7,"result":{"a":1}}]`))
	if fault != nil || !batch || len(found) != 3 || found[0].ID != nil || string(found[2].Result) != `{"a":1}` {
		t.Errorf("batch: %+v %v", found, fault)
	}
}

// Arguments that are null are none.
func TestNullArguments(t *testing.T) {
	found, _, fault := Parse([]byte(`{` + call + `,"params":{"name":"a","arguments":null}}`))
	if fault != nil || found[0].Arguments != nil {
		t.Errorf("got %s, %v", found[0].Arguments, fault)
	}
}

func TestRead(t *testing.T) {
	found := Read([]byte("\uFEFF " + `{"jsonrpc":"2.0","id":"7","error":null,"result":{"content":[],"content":[{"type":"text","text":"` + "\xff" + `\ud800"}],"isE\u0072ror":true,"structuredContent":{"a":1},"_meta":{"b":2},"resultType":"input_required","inputRequests":{},"requestState":"s"}}` + "\n"))
	if len(found) != 1 {
		t.Fatal(found)
	}
	m := found[0]
	if !m.IsError || string(m.Structured) != `{"a":1}` || string(m.ResultMeta) != `{"b":2}` || m.ResultType != "input_required" ||
		string(m.InputRequests) != "{}" || string(m.ResultState) != `"s"` || string(m.ID) != `"7"` || string(m.Content) != `[{"type":"text","text":"�\ufffd"}]` {
		t.Errorf("got %+v", m)
	}
	if found := Read([]byte(`[{"jsonrpc":"2.0","method":"a"},5,{"jsonrpc":"2.0","id":1,"error":{"code":1}},{"odd":1}]`)); len(found) != 2 || found[0].Method != "a" || found[1].Err == nil {
		t.Errorf("batch: %+v", found)
	}
	for _, odd := range []string{
		"", "ready", `{}`, `{"jsonrpc":"2.0"}`, `{"jsonrpc":"1.0","id":1,"result":{}}`, `{"jsonrpc":"2.0","id":{},"result":{}}`, `{"jsonrpc":"2.0","result":{}}`,
		`{"jsonrpc":"2.0","id":1,"result":{}}}`, `{"jsonrpc":"2.0","id":null,"method":"ping"}`, `{"jsonrpc":"2.0","id":1,"method":"a","result":{}}`, `{"jsonrpc":"2.0","id":1,"result":{}`,
	} {
		if found := Read([]byte(odd)); len(found) > 0 {
			t.Errorf("%s was read as %+v", odd, found)
		}
	}
}

// A client's message that is accepted is read by encoding/json the same way.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`{` + call + `,"params":{"name":"a","arguments":{"b":[1,"\u00e9"]},"_meta":{"progressToken":1}}}`))
	f.Add([]byte(`[{"jsonrpc":"2.0","id":"x","result":{}},{"jsonrpc":"2.0","method":"m","params":[]}]`))
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"x","METHOD":"y"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		found, batch, fault := Parse(bytes.Clone(data))
		read := Read(bytes.Clone(data))
		if fault != nil {
			return
		}
		if len(read) != len(found) {
			t.Errorf("Read finds %d messages, Parse %d", len(read), len(found))
		}
		type shape struct {
			ID, Params, Result json.RawMessage
			Method             string
		}
		var all []shape
		if batch {
			if err := json.Unmarshal(data, &all); err != nil {
				t.Fatal(err)
			}
		} else {
			all = make([]shape, 1)
			if err := json.Unmarshal(data, &all[0]); err != nil {
				t.Fatal(err)
			}
		}
		if len(all) != len(found) {
			t.Fatalf("%d messages, want %d", len(found), len(all))
		}
		for i, want := range all {
			m := found[i]
			if m.Method != want.Method || !bytes.Equal(m.Params, want.Params) || !bytes.Equal(m.Result, want.Result) {
				t.Errorf("got %+v, want %+v", m, want)
			}
			checkParams(t, &m, true)
			if m.Method == "" {
				checkResult(t, &m)
			}
		}
	})
}

// A tree is an object as encoding/json reads it: the last member of a name counts.
type tree map[string]json.RawMessage

func object(raw json.RawMessage) (o tree) {
	_ = json.Unmarshal(raw, &o)
	return o
}

func (o tree) text(name string) (s string) {
	_ = json.Unmarshal(o[name], &s)
	return s
}

// known returns a member that is not null.
func (o tree) known(name string) json.RawMessage { return unlessNull(o[name]) }

// checkParams and checkResult compare what a scan found with encoding/json. Texts
// of a lenient scan may be those of an earlier member.
func checkParams(t *testing.T, m *Message, texts bool) {
	params := object(m.Params)
	meta := object(params["_meta"])
	for name, pair := range map[string][2]json.RawMessage{
		"arguments": {m.Arguments, params["arguments"]}, "inputResponses": {m.InputResponses, params["inputResponses"]}, "requestState": {m.RequestState, params["requestState"]},
		"_meta": {m.Meta, params["_meta"]}, MetaClientInfo: {m.ClientInfo, meta.known(MetaClientInfo)}, MetaCapabilities: {m.Capabilities, meta.known(MetaCapabilities)},
	} {
		if !bytes.Equal(pair[0], pair[1]) {
			t.Errorf("%s of %s is %s, want %s", name, m.Params, pair[0], pair[1])
		}
	}
	if token := m.ProgressToken; !bytes.Equal(token, params["progressToken"]) && !bytes.Equal(token, meta["progressToken"]) {
		t.Errorf("the progress token of %s is %s", m.Params, token)
	}
	if m.HasName != (params["name"] != nil) || m.HasURI != (params["uri"] != nil) {
		t.Errorf("got %+v of %s", m.Call, m.Params)
	}
	for name, pair := range map[string][2]string{
		"name": {m.Name, params.text("name")}, "uri": {m.URI, params.text("uri")}, MetaVersion: {m.Version, meta.text(MetaVersion)}, MetaLogLevel: {m.LogLevel, meta.text(MetaLogLevel)},
	} {
		if texts && pair[0] != pair[1] {
			t.Errorf("%s of %s is %q, want %q", name, m.Params, pair[0], pair[1])
		}
	}
}

func checkResult(t *testing.T, m *Message) {
	result := object(m.Result)
	for name, pair := range map[string][2]json.RawMessage{
		"content": {m.Content, result["content"]}, "structuredContent": {m.Structured, result["structuredContent"]}, "inputRequests": {m.InputRequests, result["inputRequests"]},
		"requestState": {m.ResultState, result["requestState"]}, "_meta": {m.ResultMeta, result["_meta"]},
	} {
		if !bytes.Equal(pair[0], pair[1]) {
			t.Errorf("%s of %s is %s, want %s", name, m.Result, pair[0], pair[1])
		}
	}
	if m.IsError != (string(result["isError"]) == "true") || m.ResultType != result.text("resultType") || m.Typed != (result["resultType"] != nil) {
		t.Errorf("got %+v of %s", m.Answer, m.Result)
	}
}

// A server's message is read as encoding/json reads it, duplicates included.
func FuzzRead(f *testing.F) {
	for _, s := range []string{
		`{"jsonrpc":"2.0","id":"7","error":null,"result":{"content":[],"content":[{"type":"text","text":"` + "\xff" + `\ud800"}],"isE\u0072ror":true,"structuredContent":{"a":1},"_meta":{"b":2},"resultType":"input_required","inputRequests":{},"requestState":"s"}}`,
		`{"jsonrpc":"2.0","id":1,"result":{"structuredContent":1,"isError":true},"result":{"content":[]}}`, `{"jsonrpc":"2.0","id":1,"result":{"isError":true},"result":7}`,
		`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"a","_meta":{"progressToken":1,"` + MetaVersion + `":"x"},"name":"n","uri":"u"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"a","params":{"name":"a","_meta":{"` + MetaLogLevel + `":"x","` + MetaClientInfo + `":null}},"params":{"_meta":7}}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		whole := bytes.Map(func(r rune) rune { return r }, data)
		jsontree.ReplaceHalves(whole)
		found, want := Read(bytes.Clone(data)), object(whole)
		if want == nil || len(found) != 1 {
			return
		}
		m, once := found[0], jsontext.Value(data).IsValid(jsontext.AllowInvalidUTF8(true))
		if !bytes.Equal(m.ID, want.known("id")) || !bytes.Equal(m.Params, want["params"]) || !bytes.Equal(m.Err, want.known("error")) ||
			!bytes.Equal(m.Result, want["result"]) && !bytes.Equal(m.Result, want.known("result")) || once && m.Method != want.text("method") {
			t.Errorf("got %+v of %q", m, data)
		}
		checkParams(t, &m, once)
		if m.Result != nil {
			checkResult(t, &m)
		}
	})
}

// The scanner accepts what other readers accept, in both modes.
func FuzzScan(f *testing.F) {
	for _, s := range []string{
		`{"a":[1,-0.5e+7,true,false,null,"x\u00e9\ud83d\ude00\n"],"b":{}}`, `[1,]`, `{"a":1,"a":2}`, "\"\xff\"", `"\ud800"`, `01`, `1.`, `-`, `"` + strings.Repeat("abcdefg", 9) + `\"` + `"`, "\"12345678\x01\"", "\"\x7f12345678é\"",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		deep := bytes.Count(data, []byte{'['})+bytes.Count(data, []byte{'{'}) > strictDepth
		strict := scanner{Scanner: jsontree.Scanner{Data: data}}
		_, err := strict.value()
		if err == nil {
			err = strict.end()
		}
		if want := jsontext.Value(data).IsValid(); !deep && want != (err == nil) {
			t.Errorf("strict: %v, jsontext accepts: %v", err, want)
		}
		if want := json.Valid(data); !deep && want != Valid(data) {
			t.Errorf("lenient: %v, encoding/json: %v", Valid(data), want)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	small := []byte(`{` + call + `,"params":{"name":"echo","arguments":{"text":"hello"},"_meta":{"progressToken":7}}}`)
	large := []byte(`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"` + strings.Repeat("some words in a line\\n", 50_000) + `"}],"isError":false}}`)
	b.Run("request", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			Parse(small)
		}
	})
	b.Run("result of 1 MB", func(b *testing.B) {
		b.SetBytes(int64(len(large)))
		for b.Loop() {
			Read(large)
		}
	})
}

// A response without result and error answers its request all the same, and a
// result that asks for input is found in whatever member says so.
func TestReadOdd(t *testing.T) {
	if found := Read([]byte(`{"jsonrpc":"2.0","id":1}`)); len(found) != 1 || string(found[0].ID) != "1" || found[0].Result != nil {
		t.Errorf("got %+v", found)
	}
	if found := Read([]byte(`{"jsonrpc":"2.0"}`)); len(found) > 0 {
		t.Errorf("got %+v", found)
	}
	for result, asks := range map[string]bool{
		`{"resultType":"input_required","resultType":"complete"}`: true, `{"result\u0054ype":"\u0069nput_required"}`: true,
		`{"resultType":"complete"}`: false, `{"content":"input_required"}`: false,
	} {
		if found := Read([]byte(`{"jsonrpc":"2.0","id":1,"result":` + result + `}`)); len(found) != 1 || found[0].Asks != asks {
			t.Errorf("%s: got %+v", result, found)
		}
	}
}

// A scan reports that there is a resultType, whatever it is.
func TestReadResultType(t *testing.T) {
	for result, typed := range map[string]bool{`{"resultType":"task"}`: true, `{"resultType":7}`: true, `{"content":["resultType"]}`: false} {
		if found := Read([]byte(`{"jsonrpc":"2.0","id":1,"result":` + result + `}`)); len(found) != 1 || found[0].Typed != typed {
			t.Errorf("%s: got %+v", result, found)
		}
	}
}

// A message takes much more memory than the bytes of a small one.
func TestReadLargeBatch(t *testing.T) {
	batch := "[" + strings.Repeat(`{"jsonrpc":"2.0","method":"a"},`, 3*maxRead) + "1]"
	if found := Read([]byte(batch)); len(found) != maxRead {
		t.Errorf("got %d messages", len(found))
	}
}
