package toolpost_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/hidden"
	message "github.com/toolpost/toolpost/internal/wire"
)

func mustJSON(t *testing.T, v any) *toolpost.Result {
	t.Helper()
	r, err := toolpost.JSONResult(v)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestResultOnTheWire(t *testing.T) {
	type point struct {
		X    int            `json:"x"`
		Tags []string       `json:"tags"`
		M    map[string]int `json:"m,omitempty"`
		N    int            `json:"n,omitempty"`
	}
	raw := `{"content":[{"type":"video","uri":"x","n":9007199254740993},{"type":"text","text":""}],"isError":false,"more":[1.0]}`
	for _, tt := range []struct {
		name string
		r    *toolpost.Result
		want string
	}{
		{"text", toolpost.TextResult("a<b>&\"c\""), `{"content":[{"type":"text","text":"a<b>&\"c\""}]}`},
		{"empty text", toolpost.TextResult(""), `{"content":[{"type":"text","text":""}]}`},
		{"nothing", toolpost.NewResult(), `{"content":[]}`},
		{"error", toolpost.Failed.Resultf("no %s", "way"), `{"content":[{"type":"text","text":"no way"}],"isError":true}`},
		{"json", mustJSON(t, point{X: 1, M: map[string]int{"b": 2, "a": 1}}),
			`{"content":[{"type":"text","text":"{\"x\":1,\"tags\":[],\"m\":{\"a\":1,\"b\":2}}"}],"structuredContent":{"x":1,"tags":[],"m":{"a":1,"b":2}}}`},
		{"html", mustJSON(t, "<&>"), `{"content":[{"type":"text","text":"\"<&>\""}],"structuredContent":"<&>"}`},
		{"image", toolpost.NewResult(toolpost.Part{Type: "image", Data: []byte{0, 1}, MIMEType: "image/png"}),
			`{"content":[{"type":"image","data":"AAE=","mimeType":"image/png"}]}`},
		{"image of nothing", toolpost.NewResult(toolpost.Part{Type: "image", MIMEType: "image/png"}),
			`{"content":[{"type":"image","data":"","mimeType":"image/png"}]}`},
		{"resource", toolpost.NewResult(toolpost.Part{Type: "resource", URI: "a://b", Text: "t"}),
			`{"content":[{"type":"resource","resource":{"uri":"a://b","text":"t"}}]}`},
		{"empty resource", toolpost.NewResult(toolpost.Part{Type: "resource", URI: "file:///empty.txt"}),
			`{"content":[{"type":"resource","resource":{"uri":"file:///empty.txt","text":""}}]}`},
		{"binary resource", toolpost.NewResult(toolpost.Part{Type: "resource", URI: "a://b", Data: []byte{1}}),
			`{"content":[{"type":"resource","resource":{"uri":"a://b","blob":"AQ=="}}]}`},
		{"link without a name", toolpost.NewResult(toolpost.Part{Type: "resource_link", URI: "a:b"}),
			`{"content":[{"type":"resource_link","uri":"a:b","name":"a:b"}]}`},
		{"raw part", toolpost.NewResult(toolpost.Part{Raw: json.RawMessage(`{"type":"resource","resource":{"uri":"a"}}`)}),
			`{"content":[{"type":"resource","resource":{"uri":"a"}}]}`},
		{"raw", toolpost.RawResult(json.RawMessage(raw)), raw},
	} {
		got, err := tt.r.MarshalJSON()
		if err != nil || string(got) != tt.want {
			t.Errorf("%s: %v\ngot  %s\nwant %s", tt.name, err, got, tt.want)
		}
	}
	if _, err := toolpost.JSONResult(make(chan int)); err == nil {
		t.Error("a channel is no JSON: no error")
	}
}

func TestRawResultIsDecodedOnlyByThoseWhoLook(t *testing.T) {
	r := toolpost.RawResult([]byte(`{"content":[{"type":"video","uri":"x","n":9007199254740993},{"type":"image","data":"!"},{"type":"text","text":"t"}],"structuredContent":{"n":1.0},"isError":true,"_meta":{"a":1}}`))
	parts := r.Parts()
	if len(parts) != 3 || parts[0].Type != "video" || parts[0].URI != "x" || parts[1].Type != "image" || parts[1].Data != nil {
		t.Errorf("parts %+v", parts)
	}
	if string(parts[0].Raw) != `{"type":"video","uri":"x","n":9007199254740993}` {
		t.Errorf("raw part %s", parts[0].Raw)
	}
	if !r.IsError() || string(r.Structured()) != `{"n":1.0}` || string(r.Meta()) != `{"a":1}` {
		t.Errorf("error %v, structured %s, meta %s", r.IsError(), r.Structured(), r.Meta())
	}
	in := toolpost.RawResult([]byte(`{"content":[{"type":"resource","resource":{"uri":"a://b","mimeType":"m","blob":"AAE="}}],"is\u0045rror":true}`))
	if p := in.Parts()[0]; p.URI != "a://b" || p.MIMEType != "m" || string(p.Data) != "\x00\x01" || !in.IsError() {
		t.Errorf("resource %+v, error %v", p, in.IsError())
	}
	odd := toolpost.RawResult([]byte(`{"content":"none"}`))
	if text(odd) != `{"content":"none"}` || odd.IsError() {
		t.Errorf("a result of another shape is shown whole: %q", text(odd))
	}
}

func TestMessage(t *testing.T) {
	image := toolpost.Part{Type: "image", Data: []byte{0}, MIMEType: "image/png"}
	for _, tt := range []struct {
		name string
		m    *toolpost.ToolMessage
		want string
	}{
		{"text", toolpost.TextResult("hi").Message("c1"), `{"tool_call_id":"c1","content":"hi"}`},
		{"json", mustJSON(t, map[string]int{"b": 1, "a": 2}).Message("c1"), `{"tool_call_id":"c1","content":"{\"a\":2,\"b\":1}"}`},
		{"structured only", toolpost.RawResult([]byte(`{"content":[],"structuredContent":{"a":1}}`)).Message("c1"), `{"tool_call_id":"c1","content":"{\"a\":1}"}`},
		{"parts", toolpost.NewResult(image).Message("c1"), `{"tool_call_id":"c1","content":[{"type":"image","data":"AA==","mimeType":"image/png"}]}`},
		{"error", toolpost.Failed.Resultf("no").Message("c1"), `{"tool_call_id":"c1","content":"Error executing tool: no","is_error":true}`},
		{"error in parts", toolpost.RawResult([]byte(`{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}],"isError":true}`)).Message("c1"),
			`{"tool_call_id":"c1","content":[{"type":"text","text":"Error executing tool: "},{"type":"text","text":"a"},{"type":"text","text":"b"}],"is_error":true}`},
		{"did not run", toolpost.Failed.Resultf("lost").Message("c1"), `{"tool_call_id":"c1","content":"Error executing tool: lost","is_error":true}`},
		{"output ref", toolpost.TextResult("head").WithOutputRef("r1").Message("c1"), `{"tool_call_id":"c1","content":"head","output_ref":"r1"}`},
	} {
		got, err := json.Marshal(tt.m)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, string(got)); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
}

// However it is read, a result has the parts that its JSON says.
func TestPartsOfRawResults(t *testing.T) {
	long := strings.Repeat(`a\n\"\\\/\b\f\r\t\u00e9\ud83d\ude00\ud83d x\u0000é😀`, 100)
	for _, raw := range []string{
		`{"content":[]}`,
		`{"content":[{"type":"text","text":"a"}]}`,
		` { "_meta" : {"a":1}, "content" : [ { "text" : "a" , "type" : "text", "x":[1] } ,{"type":"text","text":"` + long + `"}], "isError" : true, "structuredContent": {"a": 1} } `,
		`{"content":[{"type":"text","text":"a"},{"type":"image","data":"AAAA","mimeType":"image/png"}]}`,
		`{"content":[{"type":"text","text":"a","text":"b"}]}`,
		`{"content":[{"type":"text","type":"image","text":"b"}]}`,
		`{"content":[{"type":"text"}]}`,
		`{"content":[{"type":"text","text":null}]}`,
		`{"content":[{"type":"text","text":1}]}`,
		`{"content":[{"t\u0079pe":"text","text":"a"}]}`,
		`{"content":[{"type":"te\u0078t","text":"a"}]}`,
		`{"content":[{"type":"text","text":"a","uri":"b"}]}`,
		`{"content":[null]}`,
		`{"content":null}`,
		`{"content":[{"type":"text","text":"a"}],"content":[]}`,
		`{"content":[{"type":"text","text":"a"}],"isError":null}`,
		`{"content":[{"type":"text","text":"a"}],"isError":true,"isError":false}`,
		`{"structuredContent":1}`,
		`{"content":[{"type":"text","text":"` + strings.Repeat("\xff", 2000) + `"}]}`,
	} {
		var want struct {
			Content    []toolpost.Part
			Structured json.RawMessage `json:"structuredContent"`
			IsError    bool            `json:"isError"`
			Meta       json.RawMessage `json:"_meta"`
		}
		if err := json.Unmarshal([]byte(raw), &want); err != nil {
			t.Fatal(err)
		}
		r := toolpost.RawResult(json.RawMessage(raw))
		if diff := cmp.Diff(want.Content, r.Parts()); diff != "" {
			t.Errorf("%.100s: %s", raw, diff)
		}
		for i := range want.Content { // the scan replaces bytes that are not UTF-8, and halves of surrogate pairs
			text := strings.Map(func(r rune) rune { return r }, string(want.Content[i].Raw))
			want.Content[i].Raw = []byte(strings.ReplaceAll(text, `\ud83d x`, `\ufffd x`))
		}
		scanned := encoded(&message.Read([]byte(`{"jsonrpc":"2.0","id":1,"result":` + raw + "}"))[0])
		if diff := cmp.Diff(want.Content, scanned.Parts()); diff != "" {
			t.Errorf("scanned %.100s: %s", raw, diff)
		}
		if string(r.Structured()) != string(want.Structured) || r.IsError() != want.IsError || string(r.Meta()) != string(want.Meta) {
			t.Errorf("%.100s: structured %s, error %v, meta %s", raw, r.Structured(), r.IsError(), r.Meta())
		}
	}
}

func TestWithContent(t *testing.T) {
	sent := toolpost.RawResult(json.RawMessage(`{"x":[1],"content":[{"type":"text","text":"a"}],"isError":true,"structuredContent":{"n":1},"_meta":{"big":12345678901234567890}}`)).WithNotes("n")
	other, err := sent.WithContent([]toolpost.Part{{Type: "text", Text: "b"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := other.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(raw), `{"content":[{"type":"text","text":"b"}],"x":[1],"isError":true,"_meta":{"big":12345678901234567890}}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if !other.IsError() || len(other.Notes()) != 1 || sent.Structured() == nil {
		t.Error("what else there was is lost, or the result changed")
	}
	made, err := toolpost.JSONResult(map[string]int{"n": 1})
	if err != nil {
		t.Fatal(err)
	}
	if made, err = made.WithContent([]toolpost.Part{{Type: "text", Text: "c"}}, json.RawMessage(`{"n":2}`)); err != nil {
		t.Fatal(err)
	}
	if raw, err = made.MarshalJSON(); err != nil || string(raw) != `{"content":[{"type":"text","text":"c"}],"structuredContent":{"n":2}}` {
		t.Errorf("got %s, %v", raw, err)
	}
}

// The other members stay, wherever they are, also if the content was found by a
// scan; what the scan found stays too.
func TestWithContentOfMessages(t *testing.T) {
	const part = `{"type":"text","text":"a"}`
	parts := []toolpost.Part{{Type: "text", Text: "b"}}
	for raw, want := range map[string]string{
		`{"content":[` + part + `]}`:                                            `{"content":[C],"structuredContent":2}`,
		`{"content":[` + part + `],"isError":true,"x":1}`:                       `{"content":[C],"structuredContent":2,"isError":true,"x":1}`,
		"{\"content\":[" + part + "] \n, \"isError\":true , \"x\" : 1 } ":       `{"content":[C],"structuredContent":2,"isError":true,"x":1}`,
		`{"x":1,"content":[` + part + `],"structuredContent":1}`:                `{"content":[C],"structuredContent":2,"x":1}`,
		`{"_meta":{"content":[` + part + `]},"content":[` + part + `]}`:         `{"content":[C],"structuredContent":2,"_meta":{"content":[` + part + `]}}`,
		`{"content":[` + part + `],"content":[` + part + `,1],"isError":false}`: `{"content":[C],"structuredContent":2,"isError":false}`,
		`{"content":12,"x":1,"content":1,"isError":false}`:                      `{"content":[C],"structuredContent":2,"x":1,"isError":false}`,
		`{"x":1}`: `{"content":[C],"structuredContent":2,"x":1}`,
	} {
		want = strings.Replace(want, "C", `{"type":"text","text":"b"}`, 1)
		sent := encoded(&message.Read([]byte(`{"jsonrpc":"2.0","id":1,"result":` + raw + "}"))[0])
		for range 2 { // also of what was made
			made, err := sent.WithContent(parts, json.RawMessage("2"))
			if err != nil {
				t.Fatal(err)
			}
			if got := string(hidden.EncodedOf(made).Raw); got != want {
				t.Errorf("%s becomes %s, want %s", raw, got, want)
			}
			if got := hidden.EncodedOf(made).Scan; string(got.Content) != `[{"type":"text","text":"b"}]` || string(got.Structured) != "2" || got.IsError != sent.IsError() {
				t.Errorf("%s: the scan is %+v", raw, got)
			}
			sent = made
		}
	}
}

// A result of which the scan of its message is known says the same as one that is
// decoded.
func TestRawMessage(t *testing.T) {
	for _, raw := range []string{
		`{}`, `{"content":[{"type":"text","text":"a"}],"isError":true}`, `{"content":[],"isError":false,"structuredContent":{"n":9007199254740993},"_meta":{"k":1}}`,
		`{"structuredContent":null,"_meta":null,"content":[]}`, `{"\u0069sError":true,"content":[]}`, `{"content":[],"isError":true,"isError":false}`,
		`{"content":[{"type":"text","text":"\"isError\":true \u0061"}]}`,
	} {
		found := message.Read([]byte(`{"jsonrpc":"2.0","id":1,"result":` + raw + "}"))
		scanned, decoded := encoded(&found[0]), toolpost.RawResult(json.RawMessage(raw))
		if hidden.EncodedOf(scanned).Scan == nil || hidden.EncodedOf(decoded).Scan != nil {
			t.Errorf("%s: the scan is lost", raw)
		}
		for _, r := range []*toolpost.Result{scanned, scanned.WithNotes("n").WithOutputRef("o")} {
			if r.IsError() != decoded.IsError() || string(r.Structured()) != string(decoded.Structured()) || string(r.Meta()) != string(decoded.Meta()) ||
				len(r.Parts()) != len(decoded.Parts()) {
				t.Errorf("%s: scanned %v %s %s, decoded %v %s %s", raw, r.IsError(), r.Structured(), r.Meta(), decoded.IsError(), decoded.Structured(), decoded.Meta())
			}
			if sent, _ := r.MarshalJSON(); string(sent) != raw {
				t.Errorf("got %s, want %s", sent, raw)
			}
		}
	}
}

func encoded(m *message.Message) *toolpost.Result {
	return hidden.NewResult(hidden.Encoded{Raw: m.Result, Scan: &m.Answer}).(*toolpost.Result)
}
