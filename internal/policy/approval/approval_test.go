package approval_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/policy/approval"
	"github.com/toolpost/toolpost/schema"
)

func compile(t *testing.T, lists ...[]approval.Rule) approval.Policy {
	t.Helper()
	var all []approval.List
	for i, rules := range lists {
		all = append(all, approval.List{Name: string(rune('a' + i)), Rules: rules})
	}
	p, err := approval.Compile(all)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func on(name, pattern string) []approval.Argument {
	return []approval.Argument{{Name: name, Pattern: pattern}}
}

var read = approval.Target{Server: "files", Tool: "read"}

// The first rule of a list decides, and the strictest list.
func TestOrder(t *testing.T) {
	p := compile(t,
		[]approval.Rule{{Action: "allow", Tools: []string{"re*"}, Arguments: on("path", "/home/*")}, {Action: "ask", Tools: []string{"read"}}, {Action: "deny", Servers: []string{"evil?"}}},
		[]approval.Rule{{Action: "allow", Tools: []string{"x"}}, {Action: "deny", Arguments: on("path", "/home/secret")}},
	)
	for _, tt := range []struct {
		server, tool, args string
		want               approval.Action
		rule               string
	}{
		{"files", "read", `{"path":"/home/a"}`, "allow", "a[0]"},
		{"files", "read", `{"path":"/etc/a"}`, "ask", "a[1]"},
		{"files", "read", `{"path":"/home/secret"}`, "deny", "b[1]"},
		{"files", "write", `{}`, "allow", ""},
		{"files", "x", `{}`, "allow", "b[0]"},
		{"evil1", "write", ``, "deny", "a[2]"},
		{"evil", "write", ``, "allow", ""},
		{"evil1", "re\u200bad", `{}`, "ask", "a[1]"},
		{"evil1", "", `{}`, "deny", "a[2]"}, // a method of an extension
	} {
		d := p.Decide(t.Context(), approval.Target{Server: tt.server, Tool: tt.tool}, []byte(tt.args))
		if d.Action != tt.want || d.Rule != tt.rule {
			t.Errorf("%s %q %s: got %+v", tt.server, tt.tool, tt.args, d)
		}
	}
	for tool, want := range map[string]bool{"read": true, "reread": false, "x": false} {
		if got := p.MayAsk(approval.Target{Server: "files", Tool: tool}); got != want {
			t.Errorf("may ask about %s: %v", tool, got)
		}
	}
	never := compile(t, []approval.Rule{{Action: "deny", Tools: []string{"read"}}, {Action: "ask"}})
	if never.MayAsk(read) || !never.MayAsk(approval.Target{Server: "files", Tool: "x"}) {
		t.Error("a rule after one that decides about all calls is taken")
	}
	if d := approval.Policy(nil).Decide(t.Context(), read, []byte(`not JSON`)); d.Action != "allow" {
		t.Errorf("without rules: %+v", d)
	}
}

// A denial by an argument is not bypassed by another spelling of the argument.
func TestDenyBypasses(t *testing.T) {
	p := compile(t, []approval.Rule{{Action: "deny", Tools: []string{"read"}, Arguments: on("path", "/etc/*")}})
	target := read
	target.Definition = &toolpost.Definition{Input: schema.MustParse(`{"type":"object","properties":{"path":{"type":"string","default":"/etc/passwd"}}}`)}
	for name, args := range map[string]string{
		"plain":                     `{"path":"/etc/passwd"}`,
		"white space in JSON":       " {\n\t\"path\" : \"/etc/passwd\" } ",
		"escapes in the value":      `{"path":"\u002fetc\/pass\u0077d"}`,
		"escapes in the name":       `{"p\u0061th":"/etc/passwd"}`,
		"duplicate, last":           `{"path":"/tmp/x","path":"/etc/passwd"}`,
		"duplicate, first":          `{"path":"/etc/passwd","path":"/tmp/x"}`,
		"case of the name":          `{"PATH":"/etc/passwd"}`,
		"folded name":               `{"path":"/tmp/x","Path":"/etc/passwd"}`,
		"NUL in the name":           `{"path\u0000":"/etc/passwd"}`,
		"zero width in the name":    `{"pa\u200bth":"/etc/passwd"}`,
		"space in the name":         `{" path ":"/etc/passwd"}`,
		"case of the value":         `{"path":"/ETC/passwd"}`,
		"space around the value":    `{"path":"  /etc/passwd\n"}`,
		"zero width in the value":   `{"path":"/e\u200btc/passwd"}`,
		"NUL in the value":          `{"path":"/etc/passwd\u0000.txt"}`,
		"parent folders":            `{"path":"/home/me/../../etc/passwd"}`,
		"repeated separators":       `{"path":"//etc///passwd"}`,
		"dot":                       `{"path":"/./etc/./passwd"}`,
		"backslashes":               `{"path":"\\etc\\passwd"}`,
		"percent":                   `{"path":"/%65tc/passwd"}`,
		"twice percent":             `{"path":"/tmp/%252e%252e/etc/passwd"}`,
		"file address":              `{"path":"file:///etc/passwd"}`,
		"file address, host":        `{"path":"FILE://localhost/etc/passwd"}`,
		"file address, any host":    `{"path":"file://me/etc/passwd"}`,
		"file address, one slash":   `{"path":"file:/etc/passwd"}`,
		"file address, backslashes": `{"path":"file:\\\\\\etc\\passwd"}`,
		"no escape beside one":      `{"path":"/%65tc/100%"}`,
		"escape cut off":            `{"path":"/%65tc/%6"}`,
		"array as a text":           `{"path":"[\"/etc/passwd\"]"}`,
		"object as a text":          `{"path":" {\"file\":\"/etc/passwd\"}"}`,
		"text as a text":            `{"path":"\"/etc/passwd\""}`,
		"text in a text in a text":  `{"path":"[\"\\\"/etc/passwd\\\"\"]"}`,
		"in an array":               `{"path":["/tmp/x","/etc/passwd"]}`,
		"in an object":              `{"path":{"file":"/etc/passwd"}}`,
		"as a name":                 `{"path":{"/etc/passwd":true}}`,
		"the schema's default":      `{}`,
		"null for the default":      `{"path":null}`,
		"the default, no bytes":     ``,
		"not an object":             `["/etc/passwd"]`,
		"not JSON":                  `{"path":`,
		"two values":                `{"path":"/tmp"} {"path":"/etc/passwd"}`,
		"half a surrogate":          `{"path":"/etc/\ud800"}`,
		"not UTF-8":                 "{\"path\":\"/etc/\xff\"}",
		"nested without end":        `{"path":` + strings.Repeat("[", 100_000),
		"duplicate, deep elsewhere": `{"path":"/tmp/x","o":{"a":1,"a":2}}`,
		"file address, query":       `{"path":"file:///etc/passwd?x"}`,
		"file address, fragment":    `{"path":"file:///etc/passwd#x"}`,
		"file address, parameters":  `{"path":"file:///etc/passwd;x=/y"}`,
		"NUL behind an escape":      `{"path":"/etc/passwd%00.png"}`,
		"NUL behind two escapes":    `{"path":"%2fetc%2fpasswd%2500"}`,
		"escapes before a NUL":      `{"path":"%2fetc%2fpasswd\u0000"}`,
		"space behind an escape":    `{"path":"%20/etc/passwd%0a"}`,
		"hidden behind an escape":   `{"path":"/e%E2%80%8Btc/passwd"}`,
		"address in escapes":        `{"path":"file%3A%2F%2Fme%2F%2565tc%2Fpasswd"}`,
		"escapes without end":       `{"path":"%` + strings.Repeat("25", 100) + `2fetc"}`,
	} {
		if d := p.Decide(t.Context(), target, []byte(args)); d.Action != "deny" {
			t.Errorf("%s: %.80s is not denied: %+v", name, args, d)
		}
	}
	for _, args := range []string{`{"path":"/tmp/x"}`, `{"path":"/etcetera/x"}`, `{"path":"/tmp/x","note":"/etc/passwd"}`, `{"path":5}`} {
		if d := p.Decide(t.Context(), target, []byte(args)); d.Action != "allow" {
			t.Errorf("%s is not allowed: %+v", args, d)
		}
	}
}

// A default that a server may fill in counts wherever the schema declares it.
func TestDenyBypassesOfDefaults(t *testing.T) {
	p := compile(t, []approval.Rule{{Action: "deny", Arguments: on("mode", "force")}, {Action: "deny", Arguments: on("/options/mode", "force")}})
	const mode = `{"properties":{"mode":{"default":"force"}}}`
	for name, s := range map[string]string{
		"allOf":                 `{"allOf":[` + mode + `]}`,
		"oneOf":                 `{"oneOf":[{"required":["x"]},` + mode + `]}`,
		"anyOf in allOf":        `{"allOf":[{"anyOf":[` + mode + `]}]}`,
		"reference in allOf":    `{"allOf":[{"$ref":"#/$defs/m"}],"$defs":{"m":` + mode + `}}`,
		"then":                  `{"if":{},"then":` + mode + `}`,
		"dependent":             `{"dependentSchemas":{"x":` + mode + `}}`,
		"alternatives of it":    `{"properties":{"mode":{"anyOf":[{"type":"null"},{"default":"force"}]}}}`,
		"another default first": `{"properties":{"mode":{"default":"soft"}},"allOf":[` + mode + `]}`,
		"in an object":          `{"properties":{"options":{"allOf":[` + mode + `]}}}`,
		"in a default":          `{"properties":{"options":{"default":{},"anyOf":[` + mode + `]}}}`,
		"itself":                `{"$ref":"#","allOf":[{"$ref":"#"},` + mode + `]}`,
		"by an anchor":          `{"allOf":[{"$ref":"#m"}],"$defs":{"x":{"$anchor":"m","properties":{"mode":{"default":"force"}}}}}`,
		"escaped":               `{"allOf":[{"properties":{"mode":{"d\u0065fault":"force"}}}]}`,
	} {
		target := read
		target.Definition = &toolpost.Definition{Input: schema.MustParse(s)}
		if d := p.Decide(t.Context(), target, []byte(`{"options":{}}`)); d.Action != "deny" && name != "in a default" {
			t.Errorf("%s: %+v", name, d)
		}
		if d := p.Decide(t.Context(), target, []byte(`{}`)); d.Action != "deny" && name != "in an object" {
			t.Errorf("%s, no arguments: %+v", name, d)
		}
		if d := p.Decide(t.Context(), target, []byte(`{"mode":"soft","options":{"mode":"soft"}}`)); d.Action != "allow" {
			t.Errorf("%s, given: %+v", name, d)
		}
	}
}

// No caller keeps the rules busy: what is too much to be decided about is denied, and so
// is a call whose caller has left.
func TestWorkIsBounded(t *testing.T) {
	var rules []approval.Rule
	for range approval.MaxRules { // work is counted in bytes, so long texts and a quick expression do it soonest
		rules = append(rules, approval.Rule{Action: "deny", Arguments: []approval.Argument{{Name: "*", Pattern: `\$x.*b.*c`, Regexp: true}, {Name: "*", Pattern: "*b*c"}}})
	}
	p := compile(t, rules)
	long := func(text string, n int) string { return strings.Repeat(text, n/len(text)) }
	for name, args := range map[string]string{
		"one text":     `{"p":"` + long(`a%25\\/`, 12<<20) + `"}`,
		"many texts":   `{"p":[` + long(`"`+long(`a%25\\/`, 700)+`",`, 8<<20) + `1]}`,
		"many numbers": `{"p":[` + long(`1,`, 12<<20) + `1]}`,
		"many names":   `{"p":{` + manyNames(10_000) + `}}`,
		"JSON in text": `{"p":"` + long(`[`, 200) + long(`[],`, 900_000) + `1` + long(`]`, 200) + `"}`,
	} {
		if d := p.Decide(t.Context(), read, []byte(args)); d.Action != "deny" || !strings.Contains(d.Reason, "too long") {
			t.Errorf("%s: %+v", name, d)
		}
	}
	if d := compile(t, rules[:10]).Decide(t.Context(), read, []byte(`{"p":"`+long("a ", 100_000)+`"}`)); d.Action != "allow" {
		t.Errorf("a text of 100 KB: %+v", d)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if d := p.Decide(ctx, read, []byte(`{"p":"x"}`)); d.Action != "deny" {
		t.Errorf("the caller has left: %+v", d)
	}
	pathRule := compile(t, []approval.Rule{{Action: "deny", Arguments: on("path", "/etc/*")}})
	if d := pathRule.Decide(t.Context(), read, []byte(`{"path":"/tmp/x","content":"`+long("/etc/, ", 5<<20)+`"}`)); d.Action != "allow" {
		t.Errorf("a long text that no rule is about: %+v", d)
	}
}

func manyNames(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `"name %d %%25%0700d":1,`, i, 0)
	}
	return b.String() + `"x":1`
}

// A denial of an address or of a nested member is not bypassed by another spelling.
func TestDenyBypassesOfAddresses(t *testing.T) {
	p := compile(t, []approval.Rule{{Action: "deny", Arguments: on("url", "https://evil.example/*")}, {Action: "deny", Arguments: on("/options/mode", "force")}})
	for _, url := range []string{
		"https://evil.example", "https://evil.example/", "https://evil.example/a", "https://evil.example./a", "https://me@evil.example/a", "https://me:pw@evil.example/",
		"https://evil.example:443/a", "https://evil.example:/a", "HTTPS://EVIL.example/a", "https:/evil.example/a", "https:evil.example/a", "https:////evil.example/a",
		`https:\\\\evil.example\\a`, "https://evil.example?a=b", "https://evil.example#a", `ht\ttps://evil\n.example/`, "https://a.example@evil.example/", "https://%65vil.example/", "https://evil.example/%",
	} {
		if d := p.Decide(t.Context(), read, []byte(`{"url":"`+url+`"}`)); d.Action != "deny" {
			t.Errorf("%s is not denied: %+v", url, d)
		}
	}
	for _, args := range []string{`{"options":{"mode":"force"}}`, `{"options":"{\"mode\":\"force\"}"}`, `{"options":["{\"Mode\":[\"force\"]}"]}`} {
		if d := p.Decide(t.Context(), read, []byte(args)); d.Action != "deny" {
			t.Errorf("%s is not denied: %+v", args, d)
		}
	}
	for _, args := range []string{`{"url":"https://good.example/evil.example/"}`, `{"url":"https://evil.example.good/"}`, `{"options":"{mode: force}"}`, `{"options":"force"}`} {
		if d := p.Decide(t.Context(), read, []byte(args)); d.Action != "allow" {
			t.Errorf("%s is not allowed: %+v", args, d)
		}
	}
}

// An exception from a denial holds only if every reading of every value is in it.
func TestAllowIsExact(t *testing.T) {
	p := compile(t, []approval.Rule{{Action: "allow", Arguments: on("path", "/srv/*")}, {Action: "deny"}})
	for args, want := range map[string]approval.Action{
		`{"path":"/srv/a"}`:                      "allow",
		`{"path":["/srv/a","/srv/b"]}`:           "allow",
		`{"path":"/srv/a","other":1}`:            "allow",
		`{"path":"/srv/../etc/passwd"}`:          "deny",
		`{"path":"/srv/%2e%2e/etc/passwd"}`:      "deny",
		`{"path":"/srv/..\\..\\etc"}`:            "deny",
		`{"path":"/WORK/a"}`:                     "deny",
		`{"path":["/srv/a","/etc/b"]}`:           "deny",
		`{"path":[]}`:                            "deny",
		`{"path":{"a":"/srv/a","b":"/etc"}}`:     "deny",
		`{"path":"/srv/a","Path":"/etc/passwd"}`: "deny",
		`{"path":"/srv/a","path":"/srv/b"}`:      "deny",
		`{"Path":"/srv/a"}`:                      "deny",
		`{}`:                                     "deny",
		`{"path":true}`:                          "deny",
	} {
		if d := p.Decide(t.Context(), read, []byte(args)); d.Action != want {
			t.Errorf("%s: got %+v, want %s", args, d, want)
		}
	}
	// A default that the schema declares does not allow a call.
	target := read
	target.Definition = &toolpost.Definition{Input: schema.MustParse(`{"type":"object","properties":{"path":{"type":"string","default":"/srv/a"}}}`)}
	if d := p.Decide(t.Context(), target, []byte(`{}`)); d.Action != "deny" {
		t.Errorf("a default: %+v", d)
	}
	urls := compile(t, []approval.Rule{{Action: "allow", Arguments: on("url", "https://a.example/*")}, {Action: "deny"}})
	for url, want := range map[string]approval.Action{"https://a.example/x//y": "allow", "https://a.example.evil/x": "deny", "https://a.example@evil/": "deny", `https://evil\\@a.example/`: "deny", "https://a.example/x?u=a/../b": "allow", "https://a.example:80/": "deny"} {
		if d := urls.Decide(t.Context(), read, []byte(`{"url":"`+url+`"}`)); d.Action != want {
			t.Errorf("%s: got %+v, want %s", url, d, want)
		}
	}
}

// Names that begin with a slash are JSON pointers, * means all arguments, and numbers
// match in each notation.
func TestArgumentNames(t *testing.T) {
	for _, tt := range []struct {
		name, pattern, args string
		regexp, matches     bool
	}{
		{"/options/mode", "rw", `{"options":{"mode":"rw"}}`, false, true},
		{"/options/mode", "rw", `{"options":[{"mode":"r"},{"Mode":"RW"}]}`, false, true},
		{"/options/mode", "rw", `{"options":{"mode":"r"},"mode":"rw"}`, false, false},
		{"/a~1b", "x", `{"a/b":"x"}`, false, true},
		{"*", "*secret*", `{"x":{"y":["a secret"]}}`, false, true},
		{"*", "*secret*", `{"secret":"x"}`, false, false},
		{"n", "100", `{"n":1e2}`, false, true},
		{"n", "100", `{"n":100.0}`, false, true},
		{"n", "true", `{"n":true}`, false, true},
		{"n", "null", `{"n":null}`, false, true},
		{"cmd", `\brm\b`, `{"cmd":"ls; RM -rf /"}`, true, true},
		{"cmd", `^rm`, `{"cmd":"ls; rm"}`, true, false},
		{"n", "0", `{"n":-0}`, false, true},
		{"n", "0", `{"n":-0.0}`, false, true},
		{"n", "0", `{"n":-0e1}`, false, true},
		{"n", "0", `{"n":"-0"}`, false, true},
		{"n", "100", `{"n":" 1e2 "}`, false, true},
		{"n", "9007199254740992", `{"n":9007199254740993}`, false, true},
		{"p", "*.env", `{"p":"file:///srv/.env#"}`, false, true},
		{"p", "*.env", `{"p":"/srv/a#.environment"}`, false, false},
		{"u", "https://evil.example/*", `{"u":"https://evil.example:0443/"}`, false, true},
		{"u", "https://evil.example/*", `{"u":"https://evil.example:8443/"}`, false, false},
		{"u", "https://evil.example/a", `{"u":"https://evil.example/a#b"}`, false, true},
		{"w", "\u212a?y", `{"w":"kEY"}`, false, true}, // the Kelvin sign
	} {
		p := compile(t, []approval.Rule{{Action: "deny", Arguments: []approval.Argument{{Name: tt.name, Pattern: tt.pattern, Regexp: tt.regexp}}}})
		if d := p.Decide(t.Context(), read, []byte(tt.args)); (d.Action == "deny") != tt.matches {
			t.Errorf("%s %s: %s: got %+v", tt.name, tt.pattern, tt.args, d)
		}
	}
}

// A tool that claims nothing is taken for one that changes and destroys.
func TestAnnotations(t *testing.T) {
	no, yes := false, true
	for _, tt := range []struct {
		rule    approval.Annotations
		claims  toolpost.Annotations
		matches bool
	}{
		{approval.Annotations{ReadOnly: &no}, toolpost.Annotations{}, true},
		{approval.Annotations{ReadOnly: &yes}, toolpost.Annotations{}, false},
		{approval.Annotations{ReadOnly: &yes}, toolpost.Annotations{ReadOnly: &yes}, true},
		{approval.Annotations{Destructive: &yes}, toolpost.Annotations{}, true},
		{approval.Annotations{Destructive: &yes}, toolpost.Annotations{ReadOnly: &yes}, false},
		{approval.Annotations{Destructive: &yes}, toolpost.Annotations{ReadOnly: &yes, Destructive: &yes}, true},
		{approval.Annotations{OpenWorld: &yes}, toolpost.Annotations{}, true},
		{approval.Annotations{OpenWorld: &no, ReadOnly: &yes}, toolpost.Annotations{OpenWorld: &no}, false},
		{approval.Annotations{Idempotent: &no}, toolpost.Annotations{}, true},
	} {
		p := compile(t, []approval.Rule{{Action: "deny", Annotations: tt.rule}})
		target := approval.Target{Server: "s", Tool: "t", Definition: &toolpost.Definition{Annotations: tt.claims}}
		if d := p.Decide(t.Context(), target, nil); (d.Action == "deny") != tt.matches {
			t.Errorf("%+v of %+v: got %+v", tt.rule, tt.claims, d)
		}
	}
}

// Only a tool none of whose calls can run is removed from lists.
func TestDenies(t *testing.T) {
	for name, tt := range map[string]struct {
		rules []approval.Rule
		want  string
	}{
		"none":                {nil, ""},
		"all":                 {[]approval.Rule{{Action: "deny"}}, "a[0]"},
		"some arguments":      {[]approval.Rule{{Action: "deny", Arguments: on("p", "x")}}, ""},
		"some, then all":      {[]approval.Rule{{Action: "deny", Arguments: on("p", "x")}, {Action: "deny"}}, "a[1]"},
		"an exception":        {[]approval.Rule{{Action: "allow", Arguments: on("p", "x")}, {Action: "deny"}}, ""},
		"a question before":   {[]approval.Rule{{Action: "ask"}, {Action: "deny"}}, ""},
		"others are excepted": {[]approval.Rule{{Action: "allow", Tools: []string{"x"}}, {Action: "deny"}}, "a[1]"},
	} {
		if got, _ := compile(t, tt.rules).Denies(read); got != tt.want {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
}

func question(t *testing.T, args string) string {
	t.Helper()
	q, err := approval.NewQuestion(approval.Target{Server: "files", Tool: "read\u202e"}, strings.Repeat("ab", 32), approval.Decision{Action: "ask", Rule: "approvals[0]", Reason: "why\u200b"}, []byte(args))
	if err != nil {
		return "error: " + err.Error()
	}
	return q.Text
}

// The user sees every character of what is asked.
func TestQuestion(t *testing.T) {
	const head = "Toolpost asks: may this call run, once?\n\nServer: \"files\"\nTool: \"read\\u202e\" (definition sha256:abababababab)\nRule: approvals[0]: why\\u200b\n"
	for args, want := range map[string]string{
		``: head + `Arguments: {}`,
		`{"path":"/etc\u200b/x","n":1e2,"l":[true,null,{}],"a\u202eb":"x\n\n\nApproved: yes\u001b[2J"}`: head + "Arguments: {\n  \"path\": \"/etc\\u200b/x\",\n  \"n\": 1e2,\n  \"l\": [\n    true,\n    null,\n    {}\n  ],\n  \"a\\u202eb\": \"x\\n\\n\\nApproved: yes\\u001b[2J\"\n}",
		`{"p":"a` + strings.Repeat(" ", 40) + `b"}`:                                                     head + "Arguments: {\n  \"p\": \"a   " + strings.Repeat(`\x20`, 37) + "b\"\n}",
		`{"a":1,"a":2}`: "error: the arguments have the member \"/a\" twice; give it once",
		`[`:             "error: the arguments are not valid JSON: expected a value, got the end of the data at byte 1; it is not JSON",
	} {
		if got := question(t, args); got != want {
			t.Errorf("%.60s:\n%s\nwant\n%s", args, got, want)
		}
	}
}

// Nothing is hidden silently: a long text is cut with its length and digest, and the
// question says so at its top. What is longer still cannot be asked.
func TestQuestionOfLongArguments(t *testing.T) {
	long := strings.Repeat("é", 3000)
	got := question(t, `{"text":"`+long+`"}`)
	before, after, _ := strings.Cut(got, "Arguments: ")
	if !strings.Contains(before, "NOT ALL IS SHOWN: the middle of long texts (1) is left out.") ||
		!strings.Contains(after, "BYTES ARE LEFT OUT, of 6000 with sha256:") || strings.Count(after, "é") != 400 {
		t.Errorf("got %s", got)
	}
	many, _ := json.Marshal(map[string][]string{"list": make([]string, 5000)})
	for _, args := range []string{string(many), `{"` + long + long + long + `":1}`} {
		if got := question(t, args); !strings.HasPrefix(got, "error: its arguments are too long to be shown to the user") {
			t.Errorf("got %.200s", got)
		}
	}
}

func TestApproved(t *testing.T) {
	for answer, want := range map[string]bool{
		`{"action":"accept","content":{"approve":true}}`:                    true,
		`{"action":"accept","content":{"approve":true,"x":1},"_meta":{}}`:   true,
		`{"action":"accept","content":{"approve":false}}`:                   false,
		`{"action":"accept","content":{"approve":"true"}}`:                  false,
		`{"action":"accept","content":{"approve":1}}`:                       false,
		`{"action":"accept","content":{"Approve":true}}`:                    false,
		`{"action":"accept","content":{"approve":false,"approve":true}}`:    false,
		`{"action":"accept"}`:                                               false,
		`{"action":"decline","content":{"approve":true}}`:                   false,
		`{"action":"cancel"}`:                                               false,
		`{"action":"decline","action":"accept","content":{"approve":true}}`: false,
		`null`: false,
		`{`:    false,
	} {
		if got, _ := approval.Approved([]byte(answer)); got != want {
			t.Errorf("%s: got %v", answer, got)
		}
	}
}

func FuzzDecide(f *testing.F) {
	f.Add(`{"path":"/etc/passwd"}`)
	f.Add(`{"path":"%2e%2e/%"}`)
	p, err := approval.Compile([]approval.List{{Name: "a", Rules: []approval.Rule{
		{Action: "allow", Arguments: on("path", "/srv/*")}, {Action: "deny", Arguments: on("*", "*etc*")}, {Action: "ask"},
	}}})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, args string) {
		d := p.Decide(t.Context(), read, []byte(args))
		if d.Action == "ask" {
			if _, err := approval.NewQuestion(read, "", d, []byte(args)); err != nil && !strings.Contains(err.Error(), "too long") {
				t.Errorf("%q: %v", args, err)
			}
		}
	})
}
