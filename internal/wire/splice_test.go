package wire

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode"
)

func TestSplice(t *testing.T) {
	const object = ` { "a" : 1 , "b\u0063":{"x":[ ]}, "d":"e" } `
	for _, tt := range []struct{ name, got, want string }{
		{"get", string(Get([]byte(object), "bc")), `{"x":[ ]}`},
		{"get none", string(Get([]byte(object), "x")), ""},
		{"get of an array", string(Get([]byte(`["a"]`), "a")), ""},
		{"set", string(Set([]byte(object), "a", []byte("22"))), ` { "a" : 22 , "b\u0063":{"x":[ ]}, "d":"e" } `},
		{"set another", string(Set([]byte(`{"a":1}`), "b", []byte("2"))), `{"a":1,"b":2}`},
		{"set in nothing", string(Set(nil, "b", []byte("2"))), `{"b":2}`},
		{"delete the first", string(Delete([]byte(`{"a":1,"b":2}`), "a")), `{"b":2}`},
		{"delete the last", string(Delete([]byte(`{"a":1,"b":2}`), "b")), `{"a":1}`},
		{"delete all of a name", string(Delete([]byte(`{"a":1,"b":2,"\u0061":3}`), "a")), `{"b":2}`},
		{"delete the only one", string(Delete([]byte(`{ "a":1 }`), "a")), `{ }`},
		{"delete none", string(Delete([]byte(object), "z")), object},
		{"append", string(Append([]byte(`{"a":1} `), `"b":2`, "", `"c":3`)), `{"a":1,"b":2,"c":3}`},
		{"append nothing", string(Append([]byte(`{"a":1 } `), "")), `{"a":1 } `},
		{"append to an empty one", string(Append([]byte(`{ }`), `"b":2`)), `{"b":2}`},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, tt.got, tt.want)
		}
	}
}

// Spliced objects are what encoding/json reads.
func FuzzSplice(f *testing.F) {
	f.Add([]byte(` { "a" : 1 , "b":{"x":[ ]}, "d":"e" } `), "a")
	f.Add([]byte(`{"\u0061":1,"a":2}`), "a")
	f.Fuzz(func(t *testing.T, object []byte, name string) {
		name = Unquote(Quote(name))
		var want map[string]json.RawMessage
		if json.Unmarshal(object, &want) != nil || want == nil {
			return
		}
		var set, deleted map[string]json.RawMessage
		if err := json.Unmarshal(Set(bytes.Clone(object), name, []byte("[7]")), &set); err != nil || Get(object, name) == nil && string(set[name]) != "[7]" {
			t.Errorf("set: %v %s", err, set[name])
		}
		if err := json.Unmarshal(Delete(bytes.Clone(object), name), &deleted); err != nil || deleted[name] != nil {
			t.Errorf("delete: %v %s", err, deleted[name])
		}
		if got := Get(object, name); (got != nil) != (want[name] != nil) {
			t.Errorf("get: %s, want %s", got, want[name])
		}
	})
}

func TestElements(t *testing.T) {
	for array, want := range map[string]string{
		` [1, "a" ,{"b":[2]}] `: `1|"a"|{"b":[2]}|`, `[]`: "", `{}`: "", `7`: "", ``: "", `[1,]`: "1|", `[1,2`: "1|2|",
	} {
		got := ""
		for e := range Elements([]byte(array)) {
			got += string(e) + "|"
		}
		if got != want {
			t.Errorf("%s: got %s, want %s", array, got, want)
		}
	}
}

func TestLine(t *testing.T) {
	for message, want := range map[string]string{"{}": "{}\n", "{\r\n\"a\":\n1}\n": "{  \"a\": 1} \n", "": "\n", "\r": " \n"} {
		if got := string(Line([]byte(message))); got != want {
			t.Errorf("%q: got %q, want %q", message, got, want)
		}
	}
}

// Only a block of a type and a text is one.
func TestTextBlock(t *testing.T) {
	for block, want := range map[string]string{
		`{"type":"text","text":""}`:                             `""`,
		`{"type":"text","text":"a"}`:                            `"a"`,
		`{"type":"text","text":"a\"b\\\\"}`:                     `"a\"b\\\\"`,
		`{"type":"text","text":"a\\","text":"b"}`:               "",
		`{"type":"text","text":"a","_meta":{"x":"y"}}`:          "",
		`{"type":"text","text":"a","annotations":"x"}`:          "",
		`{"type":"text","text":"a\"}`:                           "",
		`{"type":"text","text":{"b":"c"}}`:                      "",
		`{"text":"a","type":"text"}`:                            "",
		`{"type":"text","text": "a"}`:                           "",
		`{"type":"text","text":"a"},{"type":"text","text":"b"}`: "",
		"": "",
	} {
		if got, ok := TextBlock([]byte(block)); ok != (want != "") || ok && string(got) != want {
			t.Errorf("%s: %s, %v", block, got, ok)
		}
	}
}

// FuzzAlike: a name is alike if it is the known one in another case, without its control
// characters.
func FuzzAlike(f *testing.F) {
	f.Add("progressToken", "progressToken")
	f.Add("\x00PROGRESSTOKE\u200bn", "progressToken")
	f.Add("\u212aey\x7f\u0085", "key")
	f.Add("ke", "key")
	f.Add("\xff", "\ufffd")
	f.Fuzz(func(t *testing.T, name, known string) {
		bare := strings.Map(func(r rune) rune {
			if unicode.IsControl(r) {
				return -1
			}
			return r
		}, name)
		if got, want := Alike(name, known), strings.EqualFold(bare, known); got != want {
			t.Errorf("%q is alike %q: %v", name, known, got)
		}
	})
}
