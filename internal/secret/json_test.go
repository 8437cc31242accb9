package secret_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolpost/toolpost/internal/secret"
)

// A known secret is hidden as a whole, although its beginning also has the form of a
// token.
func TestKnownSecretWithForm(t *testing.T) {
	const known = "sk-abcdefgh12345678/tail+of/it"
	hide := secret.Hider([]string{known}, nil)
	for _, text := range []string{known, "use " + known + ".", "token=" + known, "Bearer " + known} {
		raw, err := json.Marshal(map[string]any{"a": []string{text}})
		if err != nil {
			t.Fatal(err)
		}
		clear, hidden := secret.RedactJSON(raw, &secret.JSONOptions{Text: hide})
		if hidden != 1 || strings.Contains(string(clear), "tail") || strings.Contains(string(clear), "abcdefgh") || !json.Valid(clear) {
			t.Errorf("%s became %s, %d hidden", raw, clear, hidden)
		}
	}
}

// FuzzRedactJSON checks that what is left of JSON is JSON, without the known secret.
func FuzzRedactJSON(f *testing.F) {
	const known = "sk-sesame-1234/tail"
	for _, seed := range []string{`{"password":["x",{"y":1}],"a":"` + known + `"}`, `["\u0073k-sesame-1234/tail", null, 1e9]`, `"token=` + known + `&x"`, `{"a":{"b":{}}}`} {
		f.Add(seed)
	}
	hide := secret.Hider([]string{known}, nil)
	f.Fuzz(func(t *testing.T, raw string) {
		clear, _ := secret.RedactJSON([]byte(raw), &secret.JSONOptions{Text: hide})
		if json.Valid([]byte(raw)) && !json.Valid(clear) {
			t.Fatalf("%q became %q", raw, clear)
		}
		var v any
		if json.Unmarshal(clear, &v) == nil && hasText(v, known) {
			t.Fatalf("%q became %q", raw, clear)
		}
	})
}

// hasText reports whether a string value of v contains text. Member names are ignored.
func hasText(v any, text string) bool {
	switch v := v.(type) {
	case string:
		return strings.Contains(v, text)
	case []any:
		for _, item := range v {
			if hasText(item, text) {
				return true
			}
		}
	case map[string]any:
		for _, item := range v {
			if hasText(item, text) {
				return true
			}
		}
	}
	return false
}

func TestRedactJSON(t *testing.T) {
	long := strings.Repeat("x", 10_000)
	for in, want := range map[string]string{
		`{"type":"odd","list":[1,{"a":null}],"text":"` + long + `"}`:                           `{"type":"odd","list":[1,{"a":null}],"text":"` + long + `"}`,
		`{"account":{"email":"a@b"},"Authorization":["x"],"a":1}`:                              `{"account":{"[secret]":null},"Authorization":["[secret]"],"a":1}`,
		`{"max_tokens":7,"api_key":"x","t":"use sk-ant-12345678 é"}`:                           `{"max_tokens":7,"api_key":"[secret]","t":"use [secret] é"}`,
		`{"password":12345678,"input_tokens":12,"session_key":"x","pwd":"x","token":true}`:     `{"password":0,"input_tokens":12,"session_key":"[secret]","pwd":"[secret]","token":true}`,
		`["github_pat_11AAAAAAA0aaaaaaaaaaaa","AKIAIOSFODNN7EXAMPLE","xoxb-123456789012-abc"]`: `["[secret]","[secret]","[secret]"]`,
		`["DB_PASSWORD=hunter2 x","{\"password\": \"hunter2\",\"a\":1}","a token described"]`:  `["[secret] x","{[secret],\"a\":1}","a token described"]`,
	} {
		if got, _ := secret.RedactJSON([]byte(in), nil); string(got) != want {
			t.Errorf("%s became %s, want %s", in, got, want)
		}
	}
}
