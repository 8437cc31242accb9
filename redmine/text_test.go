package redmine

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/toolpost/toolpost/internal/wire"
)

func TestSecretsInJSON(t *testing.T) {
	s := newSecrets("s3cret-key", `pass"<word>`)
	for raw, want := range map[string]string{
		`{"a":"s3cret-key","b":12}`:       `{"a":"[secret]","b":12}`,
		`{"s3cret-key":["x s3cret-key"]}`: `{"[secret]":["x [secret]"]}`,
		`"s3cret\u002dkey"`:               `"[secret]"`,
		`"pass\"\u003cword>"`:             `"[secret]"`,
		`"a\/b\n"`:                        `"a\/b\n"`,
		`"\\"`:                            `"\\"`,
		`"s3cret-key`:                     `"[secret]`,
		`"\`:                              `"\`,
		`"\x s3cret-key"`:                 `"\x [secret]"`,
	} {
		if got := string(s.inJSON([]byte(raw))); got != want {
			t.Errorf("%s: %s, want %s", raw, got, want)
		}
	}
}

// FuzzSecretsInJSON: no string of valid JSON has the secret, and it stays valid.
// Broken JSON does not panic.
func FuzzSecretsInJSON(f *testing.F) {
	for _, raw := range []string{`{"a":"s3cret-key"}`, `"s3cret\u002dkey"`, `"\`, `"`, `["\\"]`} {
		f.Add([]byte(raw), "s3cret-key")
	}
	f.Fuzz(func(t *testing.T, raw []byte, secret string) {
		s := newSecrets(secret)
		got := s.inJSON(raw)
		if !json.Valid(raw) {
			return
		}
		if !json.Valid(got) {
			t.Fatalf("%s became %s", raw, got)
		}
		// Text beside the mark could complete a secret that contains a part of it.
		if len(secret) < 6 || !utf8.ValidString(secret) || strings.ContainsAny(secret, "[]") || strings.Contains("[secret]", secret) {
			return
		}
		for _, quoted := range jsonString.FindAllString(string(got), -1) {
			var text string
			if json.Unmarshal([]byte(quoted), &text) == nil && strings.Contains(text, secret) {
				t.Fatalf("%s still has %q: %s", raw, secret, got)
			}
		}
	})
}

func TestFiltersByCustomField(t *testing.T) {
	for raw, want := range map[string]string{
		`{"cf_1":"a|b"}`:                   `{"filters":[{"field":"cf_1","values":["a","b"]}]}`,
		`{"cf_1":12}`:                      `{"filters":[{"field":"cf_1","values":["12"]}]}`,
		`{"cf_1":"","x":1}`:                `{"x":1}`,
		`{"cf_1":null}`:                    `{}`,
		`{"cf_1":[1]}`:                     `{"cf_1":[1]}`,
		`{"cf_2":"b","filters":[{"a":1}]}`: `{"filters":[{"a":1},{"field":"cf_2","values":["b"]}]}`,
		`{"cf_x":"a"}`:                     `{"cf_x":"a"}`,
		`[1]`:                              `[1]`,
		`{`:                                `{`,
	} {
		if got := string(asFilters([]byte(raw))); got != want {
			t.Errorf("%s: %s, want %s", raw, got, want)
		}
	}
}

func TestNumbersAsText(t *testing.T) {
	text := &shape{Type: "string"}
	sh := &shape{Properties: map[string]*shape{"id": text, "ids": {Items: text}, "n": {Type: "integer"}, "fields": {Items: &shape{Properties: map[string]*shape{"name": text, "value": text, "values": {Items: text}}}}}}
	for raw, want := range map[string]string{
		`{"id":12,"n":3}`:             `{"id":"12","n":3}`,
		`{"ids":[1,"2",1.0]}`:         `{"ids":["1","2","1.0"]}`,
		`{"id":12345678901234567890}`: `{"id":"12345678901234567890"}`,
		`{"fields":[{"id":7}]}`:       `{"fields":[{"name":"7"}]}`,
		`{"id": "x", "n": null}`:      `{"id":"x"}`,
		`{"id":[1],"other":{"a":1}}`:  `{"id":[1],"other":{"a":1}}`,
		`{"id":`:                      `{"id":`,
	} {
		if got := string(asText([]byte(raw), sh)); got != want {
			t.Errorf("%s: %s, want %s", raw, got, want)
		}
	}
}

// FuzzArguments: what is made of arguments stays JSON, and making it twice changes nothing.
func FuzzArguments(f *testing.F) {
	f.Add([]byte(`{"cf_1":"a|b","id":12}`))
	f.Add([]byte(`{"cf_1":null,"filters":7}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if !json.Valid(raw) {
			return
		}
		text := &shape{Type: "string"}
		sh := &shape{Properties: map[string]*shape{"id": text, "a": {Items: &shape{Properties: map[string]*shape{"name": text, "value": text, "values": {Items: text}}}}}}
		prepare := func(raw json.RawMessage) json.RawMessage { return asFilters(asText(raw, sh)) }
		once := prepare(raw)
		if again := prepare(once); !json.Valid(once) || string(again) != string(once) {
			t.Errorf("%s: %s, then %s", raw, once, again)
		}
	})
}

func TestIDAsWritten(t *testing.T) {
	for text, want := range map[string]int{
		"12": 12, " #12 ": 12, "12.0": 12, "12.0 ": 12, "１２": 12, "https://r.test/issues/12": 12, "http://r.test/x/issues/12.json?a#b ": 12,
	} {
		if got, err := id("an issue", text); got != want || err != nil {
			t.Errorf("%q: %d %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "0", "-1", "1.5", "1.0.0", "x", "##1", "99999999999999999999", "ftp://r.test/issues/1", "/issues/1"} {
		if got, err := id("an issue", text); err == nil {
			t.Errorf("%q is %d", text, got)
		}
	}
}

func TestDateAsWritten(t *testing.T) {
	for _, text := range []string{"2026-01-02", " 2026-1-2 ", "2026/1/2", "2026.1.2", "2026年1月2日", "２０２６-０１-０２", "2.1.2026", "Jan 2, 2026", "2 January 2026", "20260102"} {
		if got, err := date(text); got != "2026-01-02" || err != nil {
			t.Errorf("%q: %q %v", text, got, err)
		}
	}
	for _, text := range []string{"", "2026-02-30", "2026-13-01", "1/2/2026", "someday", "in x days", "2 fortnights ago", "2026-01-02T00:00"} {
		if got, err := date(text); err == nil {
			t.Errorf("%q is %q", text, got)
		}
	}
}

func TestFilterSplit(t *testing.T) {
	for _, c := range []struct {
		kind                 filterKind
		text, operator, rest string
	}{
		{kindNumber, ">=5", ">=", "5"}, {kindNumber, "5", "=", "5"}, {kindNumber, ">=", "=", ">="},
		{kindStatus, "o", "o", ""}, {kindStatus, "open", "=", "open"}, {kindList, "!*", "!*", ""}, {kindList, "!a", "!", "a"},
		{kindDate, "><2026-01-01|2026-02-01", "><", "2026-01-01|2026-02-01"}, {kindDate, "t", "t", ""}, {kindDate, "t-3", "t-", "3"},
		{kindLine, "!~x", "!~", "x"}, {kindLine, "", "=", ""},
	} {
		if operator, rest := c.kind.split(c.text); operator != c.operator || rest != c.rest {
			t.Errorf("%q of %q: %q %q, want %q %q", c.text, c.kind, operator, rest, c.operator, c.rest)
		}
	}
}

// FuzzFilterSplit: a condition loses nothing but its operator.
func FuzzFilterSplit(f *testing.F) {
	f.Add(">=5")
	f.Add("!*")
	f.Fuzz(func(t *testing.T, text string) {
		for _, kind := range []filterKind{kindList, kindStatus, kindDate, kindLine, kindRelation} {
			operator, rest := kind.split(text)
			if operator+rest != text && (operator != "=" || rest != text) {
				t.Errorf("%q of %q: %q %q", text, kind, operator, rest)
			}
		}
	})
}

func TestSearchWords(t *testing.T) {
	for _, c := range []struct{ q, used, unused string }{
		{`one "two words" one`, "one,two words", ""}, {"a 設 bc", "設,bc", "a"}, {"aa bb cc dd ee ff", "aa,bb,cc,dd,ee", "ff"}, {`" "`, "", ""}, {`"ab`, "ab", ""},
	} {
		used, unused := searchWords(c.q)
		if strings.Join(used, ",") != c.used || strings.Join(unused, ",") != c.unused {
			t.Errorf("%s: %q %q", c.q, used, unused)
		}
	}
}

// FuzzExcerpt: an excerpt is one short line of whole letters.
func FuzzExcerpt(f *testing.F) {
	f.Add("a text\nwith the word"+strings.Repeat(" more", 90), "word")
	f.Add("İİİ ẞ word\xff", "WORD i")
	f.Fuzz(func(t *testing.T, text, q string) {
		used, _ := searchWords(q)
		if len(used) > 5 || slices.Contains(used, "") {
			t.Errorf("%q: %q", q, used)
		}
		line := excerpt(text, used)
		if utf8.RuneCountInString(line) > 202 || !utf8.ValidString(line) || strings.ContainsFunc(line, unsafeInLine) {
			t.Errorf("%q in %q: %q", q, text, line)
		}
		if !json.Valid(wire.Quote(line)) {
			t.Errorf("%q", line)
		}
	})
}
