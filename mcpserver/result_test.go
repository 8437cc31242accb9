package mcpserver

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/hidden"
	"github.com/toolpost/toolpost/internal/wire"
)

// A server cannot forge the reference of a stored output, however it writes
// the name. Other bytes stay.
func TestForgedReferences(t *testing.T) {
	for _, tt := range []struct{ name, result, want string }{
		{"none", `{ "_meta":{"a":"output_ref"} }`, `{ "_meta":{"a":"output_ref"} }`},
		{"one", `{"c": [1] , "_meta": {"toolpost/output_ref":"x", "b" : 2} }`, `{"c": [1] , "_meta": { "b" : 2} }`},
		{"several", `{"_meta":{"toolpost\/output_ref":1,"toolpost/\u006futput_ref":2},"_met\u0061":{"toolpost/output_ref":3}}`, `{"_meta":{},"_met\u0061":{}}`},
		{"elsewhere", `{"toolpost/output_ref":1,"x":{"_meta":{"toolpost/output_ref":1}}}`, `{"toolpost/output_ref":1,"x":{"_meta":{"toolpost/output_ref":1}}}`},
	} {
		if raw, _ := withRef([]byte(tt.result), &wire.Answer{OddMeta: true}, ""); string(raw) != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, raw, tt.want)
		}
	}
}

// A result is adapted the same way whether or not the scan of its message is
// known, and whether or not it is in one piece.
func TestEncodeOfScannedResults(t *testing.T) {
	c := &core{info: json.RawMessage(`{"name":"s"}`)}
	for _, raw := range []string{
		`{"content":[]}`, `{"content":[{"type":"text","text":"\u00e9 \"_meta\" resultType"}]}`, `{"content":[],"structuredContent":[1]}`,
		`{"content":[],"_meta":{"toolpost/output_ref":"x","b":2}}`, `{"content":[],"_met\u0061":{"toolpost/output\u005fref":"x"}}`,
		`{"_meta":{},"content":[],"_meta":{"toolpost/output_ref":"x"}}`, `{"_meta":{"toolpost/output_ref":"x"},"content":[],"_meta":{}}`, `{"content":[],"resultType":"task","_meta":null}`,
	} {
		m := wire.Read([]byte(`{"jsonrpc":"2.0","id":1,"result":` + raw + `}`))
		if len(m) != 1 {
			t.Fatalf("%s is not a message", raw)
		}
		for _, version := range []string{wire.LastSession, wire.Stateless} {
			for _, ref := range []string{"", "own"} {
				r := &request{Message: &wire.Message{}, peer: &peer{version: version}}
				one, err := c.encode(r, toolpost.RawResult(json.RawMessage(raw)).WithOutputRef(ref), nil)
				other, err2 := c.encode(r, hidden.NewResult(hidden.Encoded{Raw: m[0].Result, Scan: &m[0].Answer}).(*toolpost.Result).WithOutputRef(ref), nil)
				plain, scanned := one.bytes(), other.bytes()
				if err != nil || err2 != nil || !bytes.Equal(plain, scanned) {
					t.Errorf("%s: %s %v, scanned: %s %v", version, plain, err, scanned, err2)
				}
				if o := longResult(t, `{"jsonrpc":"2.0","id":1,"result":`+raw+`}`); o != nil {
					long, err := c.encode(r, hidden.NewResult(hidden.Encoded{Long: o, Scan: &m[0].Answer}).(*toolpost.Result).WithOutputRef(ref), nil)
					var spliced bytes.Buffer
					if err2 := (framing{}).write(&spliced, long, func() {}); err != nil || err2 != nil || !bytes.Equal(spliced.Bytes(), plain) {
						t.Errorf("%s: %s, in pieces: %s %v %v", version, plain, &spliced, err, err2)
					}
				}
				if refs := strings.Count(string(scanned), "output_ref") + strings.Count(string(scanned), `output\u005fref`); refs != min(len(ref), 1) {
					t.Errorf("%s: %d references in %s", version, refs, scanned)
				}
				if types := bytes.Count(scanned, []byte(`"resultType":`)); version == wire.Stateless && types != 1 {
					t.Errorf("%d result types in %s", types, scanned)
				}
			}
		}
	}
}

// A resource gets its other URI in a result that is not in memory, unless that part of
// the result is removed.
func TestRenamedURIs(t *testing.T) {
	c := &core{info: json.RawMessage(`{"name":"s"}`)}
	for _, test := range []struct{ raw, want string }{
		{`{"content":[{"type":"resource_link","uri":"x://a"},{"uri":"x://b"}],"_meta":{"ui":{"resourceUri":"x://a"}}}`,
			`{"content":[{"type":"resource_link","uri":"x://s/a"},{"uri":"x://b"}],"_meta":{"ui":{"resourceUri":"x://s/a"}}}`},
		{`{"_meta":{"toolpost/output_ref":"r","uri":"x://a"},"structuredContent":{"uri":"x://a"},"content":[{"uri":"x://a"}]}`,
			`{"_meta":{"uri":"x://s/a"},"structuredContent":{"uri":"x://a"},"content":[{"uri":"x://s/a"}]}`},
	} {
		o := longResult(t, `{"jsonrpc":"2.0","id":1,"result":`+test.raw+`}`)
		o.Rename(func(uri string) string { return strings.Replace(uri, "x://a", "x://s/a", 1) })
		meta := []byte(strings.Replace(string(wire.Get([]byte(test.raw), "_meta")), "x://a", "x://s/a", 1))
		r := &request{Message: &wire.Message{}, peer: &peer{version: wire.LastSession}}
		p, err := c.encode(r, hidden.NewResult(hidden.Encoded{Long: o, Scan: &wire.Answer{ResultMeta: meta}}).(*toolpost.Result), nil)
		var got bytes.Buffer
		if err2 := (framing{}).write(&got, p, func() {}); err != nil || err2 != nil || got.String() != test.want {
			t.Errorf("got  %s %v %v\nwant %s", &got, err, err2, test.want)
		}
	}
}

// A result in a file of which all is removed is still JSON.
func TestSpliceOfNothing(t *testing.T) {
	c := &core{info: json.RawMessage(`{"name":"s"}`)}
	for raw, want := range map[string]string{
		`{"structuredContent":[1]}`:            `{"content":[]}`,
		`{ "structuredContent" : [1] }`:        `{ "content":[]}`,
		`{"structuredContent":[1],"x":1}`:      `{"x":1,"content":[]}`,
		`{"x":1,"structuredContent":[1]}`:      `{"x":1,"content":[]}`,
		`{"structuredContent":[1],"_meta":{}}`: `{"_meta":{},"content":[]}`,
	} {
		r := &request{Message: &wire.Message{Method: callTool}, peer: &peer{version: wire.LastSession}}
		found := &wire.Answer{ResultMeta: wire.Get([]byte(raw), "_meta")}
		p := c.splice(r, longResult(t, `{"jsonrpc":"2.0","id":1,"result":`+raw+`}`), found, "")
		var got bytes.Buffer
		if err := (framing{}).write(&got, p, func() {}); err != nil || got.String() != want {
			t.Errorf("got  %s %v\nwant %s", &got, err, want)
		}
	}
}

// A client gets content with each result of a tool, in whatever piece it comes.
func TestMissingContent(t *testing.T) {
	c := &core{info: json.RawMessage(`{"name":"s"}`)}
	for raw, want := range map[string]string{
		`{"isError":true}`:                       `[]`,
		`{"structuredContent":{"a":1}}`:          `[{"type":"text","text":"{\"a\":1}"}]`,
		`{"structuredContent":[1]}`:              `[{"type":"text","text":"[1]"}]`,
		`{"content":[],"structuredContent":{}}`:  `[]`,
		`{"task":{"taskId":"1"}}`:                ``,
		`{"content":null,"structuredContent":5}`: `[{"type":"text","text":"5"}]`,
	} {
		m := wire.Read([]byte(`{"jsonrpc":"2.0","id":1,"result":` + raw + `}`))
		for _, version := range []string{"2024-11-05", "2025-06-18", wire.LastSession, wire.Stateless} {
			r := &request{Message: &wire.Message{Method: callTool}, peer: &peer{version: version}, view: &view{}}
			for i, result := range []*toolpost.Result{
				toolpost.RawResult(json.RawMessage(raw)), hidden.NewResult(hidden.Encoded{Raw: m[0].Result, Scan: &m[0].Answer}).(*toolpost.Result),
			} {
				got, err := c.encode(r, result, nil)
				if content := string(wire.Get(got.bytes(), "content")); err != nil || content != want && version < wire.Stateless {
					t.Errorf("%s, %s, %d: got %s %v", version, raw, i, got.bytes(), err)
				}
			}
			o := longResult(t, `{"jsonrpc":"2.0","id":1,"result":`+raw+`}`)
			long, err := c.encode(r, hidden.NewResult(hidden.Encoded{Long: o, Scan: &m[0].Answer}).(*toolpost.Result), nil)
			var spliced bytes.Buffer
			if err2 := (framing{}).write(&spliced, long, func() {}); err != nil || err2 != nil || (wire.Get(spliced.Bytes(), "content") == nil) != (want == "") {
				t.Errorf("%s, %s in pieces: %s %v %v", version, raw, &spliced, err, err2)
			}
		}
	}
}

// Questions to clients of 2026-07-28 have nothing that these would refuse, whoever asks.
func TestQuestionsAreMended(t *testing.T) {
	asked := `{"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create","params":{"mode":null,"message":"m"}}, "b" : {"method":"roots/list","params":null}},"requestState":"s"}`
	want := strings.Replace(asked, `"mode":null,`, "", 1)
	if got := mendInputs(json.RawMessage(asked), wire.Stateless); string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	f := &parkedCall{asks: make(chan *ask)}
	go func() {
		_, _ = f.Request(t.Context(), "sampling/createMessage", json.RawMessage(`{"messages":[],"maxTokens":5.0,"temperature":null}`))
	}()
	a := <-f.asks
	if a.answer <- (outcome[json.RawMessage]{}); string(a.params) != `{"messages":[],"maxTokens":5}` {
		t.Errorf("asked %s", a.params)
	}
}
