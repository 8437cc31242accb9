package wire

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

const validContent = `[{"type":"text","text":"a","annotations":{"audience":["user"]},"_meta":{"x":null}},{"type":"image","data":"AA==","mimeType":"image/png"},` +
	`{"type":"audio","data":"AA==","mimeType":"audio/wav"},{"type":"resource_link","uri":"x:1","name":"n","title":"t","description":"d","size":1,"icons":[{"src":"s"}]},` +
	`{"type":"resource","resource":{"uri":"x:1","mimeType":"m","text":"t","_meta":{}}},{"type":"resource","resource":{"uri":"x:1","blob":""}},{"type":"video","src":null}]`

var validResults = map[string]string{
	"tools/call":          ` {"content":` + validContent + `,"structuredContent":{"a":null},"isError":false,"_meta":{"a":null}} `,
	"prompts/get":         `{"description":"d","messages":[{"role":"user","content":{"type":"text","text":"a"}}],"_meta":{}}`,
	"resources/read":      `{"contents":[{"uri":"x:1","text":"t"},{"uri":"x:2","blob":"","mimeType":"m"}],"ttlMs":0,"cacheScope":"private"}`,
	"completion/complete": `{"completion":{"values":["a"],"total":1,"hasMore":false}}`,
}

func TestMendResultKeepsWhatIsValid(t *testing.T) {
	for method, raw := range validResults {
		raw := json.RawMessage(raw)
		if got := MendResult(raw, method, "x:1", LastSession); &got[0] != &raw[0] || len(got) != len(raw) {
			t.Errorf("%s: got %s", method, got)
		}
	}
	if raw := json.RawMessage(`{"a":null}`); &MendResult(raw, "tasks/get", "", LastSession)[0] != &raw[0] {
		t.Error("a result of another method is changed")
	}
}

func TestMendResult(t *testing.T) {
	const before = "2024-11-05"
	longText := strings.Repeat("l", maxShown)
	for _, tt := range []struct{ method, version, raw, want string }{
		{"tools/call", LastSession, `{"content":[{"type":"text","text":"a","annotations":null,"_meta":[]}],"isError":null,"_meta":null}`, `{"content":[{"type":"text","text":"a"}]}`},
		{"tools/call", LastSession, `{"content":[{"type":"text","text":null},{"type":"image","data":"AA==","mimeType":null},null,"b"]}`,
			`{"content":[{"type":"text","text":"{\"type\":\"text\",\"text\":null}"},{"type":"image","data":"AA==","mimeType":"application/octet-stream"},{"type":"text","text":"b"}]}`},
		{"tools/call", LastSession, `{"content":[{"type":"resource_link","uri":"x:1","name":null,"description":null,"mimeType":null,"size":"1"}]}`, `{"content":[{"type":"resource_link","uri":"x:1","name":"x:1"}]}`},
		{"tools/call", LastSession, `{"content":[{"type":"resource","resource":{"uri":"x:1","text":"t","blob":null,"mimeType":null}}]}`, `{"content":[{"type":"resource","resource":{"uri":"x:1","text":"t"}}]}`},
		{"tools/call", LastSession, `{"content":null}`, `{"content":[]}`},
		{"tools/call", LastSession, `{"content":{"type":"text","text":"a"},"content":[]}`, `{"content":[{"type":"text","text":"a"}]}`},
		{"tools/call", LastSession, `{"task":{"taskId":"1"}}`, `{"task":{"taskId":"1"}}`},
		{"tools/call", LastSession, `{"task":{"taskId":"1"},"isError":null}`, `{"task":{"taskId":"1"}}`},
		{"tools/call", LastSession, `{}`, `{"content":[]}`},
		{"tools/call", LastSession, `{"content":5,"task":null}`, `{"task":null,"content":[]}`},
		{"tools/call", before, `{"isError":true,"structuredContent":{"a":"é\"" }}`, `{"isError":true,"structuredContent":{"a":"é\"" },"content":[{"type":"text","text":"{\"a\":\"é\\\"\" }"}]}`},
		{"tools/call", Stateless, `{"structuredContent":null}`, `{"structuredContent":null,"content":[]}`},
		{"tools/call", LastSession, `{"toolResult":[1]}`, `{"toolResult":[1],"content":[{"type":"text","text":"[1]"}]}`},
		{"tools/call", before, `{"content":[{"type":"resource_link","uri":"x:1","name":"n"},{"type":"audio","data":"AA==","mimeType":"audio/wav"}]}`,
			`{"content":[{"type":"text","text":"n: x:1"},{"type":"text","text":"[content of type \"audio\" and 53 bytes, which this client cannot take]"}]}`},
		{"tools/call", LastBatch, `{"content":[{"type":"audio","data":"AA==","mimeType":"audio/wav"}]}`, `{"content":[{"type":"audio","data":"AA==","mimeType":"audio/wav"}]}`},
		{"prompts/get", LastSession, `{"description":null,"messages":[{"role":"system","content":"a"},{"role":"user","content":{"type":"text","text":"b","_meta":null}}]}`,
			`{"messages":[{"content":{"type":"text","text":"a"},"role":"user"},{"role":"user","content":{"type":"text","text":"b"}}]}`},
		{"prompts/get", LastSession, `{"messages":null}`, `{"messages":[]}`},
		{"resources/read", LastSession, `{"contents":[{"text":"t","mimeType":null},{"uri":"x:2","text":null}]}`, `{"contents":[{"text":"t","uri":"x:9"}]}`},
		{"resources/read", LastSession, `{"contents":{"uri":"x:1","blob":""}}`, `{"contents":[{"uri":"x:1","blob":""}]}`},
		{"tools/call", LastSession, `{"content":[{"type":"resource_link","uri":"git://a:b/","name":"n"},{"type":"resource","resource":{"uri":"","text":"t"}},{"type":"resource","resource":{"uri":"a b","text":"t"}}]}`,
			`{"content":[{"type":"resource_link","uri":"toolpost-uri:git://a:b/","name":"n"},{"type":"resource","resource":{"text":"t","uri":"toolpost-uri:"}},{"type":"resource","resource":{"uri":"toolpost-uri:a%20b","text":"t"}}]}`},
		{"tools/call", LastSession, `{"content":[{"type":"resource","resource":{"uri":"","text":"` + longText + `"}}]}`, `{"content":[{"type":"resource","resource":{"text":"` + longText + `","uri":"toolpost-uri:"}}]}`},
		{"tools/call", LastSession, `{"content":[{"type":"resource","resource":{"blob":"` + longText + `"}}]}`, `{"content":[{"type":"resource","resource":{"blob":"` + longText + `","uri":"toolpost-uri:"}}]}`},
		{"tools/call", Stateless, `{"content":[{"type":"resource","resource":{"uri":"","text":"t"}}]}`, `{"content":[{"type":"resource","resource":{"uri":"","text":"t"}}]}`},
		{"prompts/get", LastSession, `{"messages":[{"role":"user","content":{"type":"resource","resource":{"uri":"","text":"t"}}}]}`, `{"messages":[{"role":"user","content":{"type":"resource","resource":{"text":"t","uri":"toolpost-uri:"}}}]}`},
		{"resources/read", LastSession, `{"contents":[{"uri":"","text":"t"}]}`, `{"contents":[{"text":"t","uri":"x:9"}]}`},
		{"tools/call", Stateless, `{"content":[{"type":"resource_link","uri":"git://a:b/","name":"n"}]}`, `{"content":[{"type":"resource_link","uri":"git://a:b/","name":"n"}]}`},
		{"resources/read", LastSession, `{"contents":[{"uri":"http://","text":"t"}]}`, `{"contents":[{"uri":"toolpost-uri:http://","text":"t"}]}`},
		{"completion/complete", LastSession, `{"completion":{"values":["a",null],"total":null,"hasMore":0}}`, `{"completion":{"values":["a"]}}`},
		{"completion/complete", LastSession, `{"completion":{"values":[` + strings.Repeat(`"a",`, 100) + `"b"]}}`, `{"completion":{"values":[` + strings.Repeat(`"a",`, 99) + `"a"]}}`},
		{"completion/complete", LastSession, `{}`, `{"completion":{"values":[]}}`},
	} {
		if got := string(MendResult(json.RawMessage(tt.raw), tt.method, "x:9", tt.version)); got != tt.want {
			t.Errorf("%s, %s: %s is mended as\n%s, want\n%s", tt.method, tt.version, tt.raw, got, tt.want)
		}
	}
}

// The scan of a message notes all results in which something is mended, and few
// others.
func FuzzOddResults(f *testing.F) {
	for _, raw := range validResults {
		f.Add([]byte(strings.TrimSpace(raw)))
	}
	f.Add([]byte(`{"content":[{"type":"text","type":"text","text":"a"},{"type":"resource","resource":{"uri":5}}],"isError":0}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if !IsObject(raw) || !Valid(raw) {
			return
		}
		found := Read([]byte(`{"jsonrpc":"2.0","id":1,"result":` + string(raw) + `}`))
		if len(found) != 1 {
			return
		}
		m := &found[0]
		before := bytes.Clone(m.Result)
		for _, version := range Versions {
			got := MendResult(m.Result, "tools/call", "", version)
			if !bytes.Equal(before, m.Result) || !jsontext.Value(got).IsValid(jsontext.AllowDuplicateNames(true)) {
				t.Fatalf("%q is mended as %q", before, got)
			}
			changed := !bytes.Equal(got, m.Result)
			if odd := m.Odd || m.Newer && LacksContent(version); changed && !odd && jsontext.Value(raw).IsValid() {
				t.Fatalf("%s: %q is mended as %q, and the scan does not say so", version, m.Result, got)
			}
			if again := MendResult(got, "tools/call", "", version); !bytes.Equal(again, got) {
				t.Fatalf("%q is mended as %q, and that as %q", m.Result, got, again)
			}
		}
	})
}

func TestOddResults(t *testing.T) {
	for raw, want := range map[string][2]bool{
		`{"content":[{"type":"text","text":"a"},{"type":"image","data":"","mimeType":""},{"type":"resource","resource":{"uri":"x:1","text":""}},{"type":"video"}],"isError":true,"_meta":{"a":null},"structuredContent":[null]}`: {},
		`{"content":[{"type":"audio","data":"","mimeType":""}]}`:        {false, true},
		`{"content":[{"type":"resource_link","uri":"x:1","name":"n"}]}`: {false, true},
		`{"content":[{"type":"text","text":"a","_meta":null}]}`:         {true, false},
		`{"content":[{"text":"a"}]}`:                                    {true, false},
		`{"content":null}`:                                              {true, false},
		`{"content":[],"isError":"true"}`:                               {true, false},
		`{}`:                                                            {true, false},
		`{"structuredContent":{}}`:                                      {true, false},
		`{"content":[{"type":"text","text":"a","annotations":{"audience":["user"],"priority":0.5,"lastModified":"2026-01-01T00:00:00Z"}}]}`:          {},
		`{"content":[{"type":"text","text":"a","annotations":{"priority":"high"}}]}`:                                                                 {true, false},
		`{"content":[{"type":"text","text":"a","annotations":{}},{"type":"text","text":"a","annotations":{},"annotations":{}}]}`:                     {true, false},
		`{"content":[{"type":"resource_link","uri":"x:1","name":"n","size":1,"icons":[{"src":"s","sizes":["any"]}],"annotations":{"audience":[]}}]}`: {false, true},
		`{"content":[{"type":"resource_link","uri":"x:1","name":"n","size":"1"}]}`:                                                                   {true, true},
		`{"content":[{"type":"resource_link","uri":"x:1","name":"n","icons":[{}]}]}`:                                                                 {true, true},
		`{"content":[],"_meta":[]}`:                                              {true, false},
		`{"content":[{"type":"resource","resource":{"uri":"x:1"}}]}`:             {true, false},
		`{"content":[{"type":"resource_link","uri":"x:1:a","name":"n"}]}`:        {false, true},
		`{"content":[{"type":"resource_link","uri":"x://a:b","name":"n"}]}`:      {true, true},
		`{"content":[{"type":"resource","resource":{"uri":"http:","text":""}}]}`: {true, false},
	} {
		odd, newer := Look([]byte(raw))
		if got := [2]bool{odd, newer}; got != want {
			t.Errorf("%s: got %v, want %v", raw, got, want)
		}
	}
}

func TestMendParams(t *testing.T) {
	for _, tt := range [][3]string{
		{"sampling/createMessage", `{"messages":[],"maxTokens":5.0,"systemPrompt":null,"temperature":null,"modelPreferences":{"hints":null,"costPriority":7},"stopSequences":null}`, `{"messages":[],"maxTokens":5,"modelPreferences":{}}`},
		{"elicitation/create", `{"mode":null,"message":"m","_meta":null}`, `{"message":"m"}`},
		{"notifications/progress", `{"progressToken":1,"progress":1,"total":null,"message":null}`, `{"progressToken":1,"progress":1}`},
		{"notifications/message", `{"level":"info","logger":null,"data":null}`, `{"level":"info","data":null}`},
		{"notifications/x", `{"a":null}`, `{"a":null}`},
	} {
		if got := string(MendParams(json.RawMessage(tt[1]), tt[0], LastSession)); got != tt[2] {
			t.Errorf("%s: got %s, want %s", tt[0], got, tt[2])
		}
	}
}
