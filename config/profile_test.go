package config_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/toolpost/toolpost/config"
)

const profileFile = `{
	"mcpServers": {"a": {"command": "x", "include_tags": ["t"], "tools": {
		"deny": ["rm"],
		"allow": {"enabled": false},
		"search": {"name": "find", "title": null, "description": "Finds.", "tags": ["t"], "annotations": {"readOnlyHint": true}, "meta": {"x": [1,]}, "serializer": 1,
			"arguments": {"q": {"name": "query", "examples": ["a"]}, "n": {"hide": true, "default": null}, "m": {"required": true, "type": ["string", "null"]}}},
	}}},
	"profiles": {"p": {"servers": ["a"], "include": ["a__*"], "exclude": ["a__x"], "readOnly": true, "budget": 5, "pin": ["a__y"], "dialect": "claude-desktop",
		"clients": [{"name": "c", "since": "2"}], "token": "${T}", "tools": {"a__find": {"title": "T"}}}},
}`

// tokenVariable looks up the variable of a token.
func tokenVariable(name string) (string, bool) { return strings.Repeat("t", 40), name == "T" }

func TestProfiles(t *testing.T) {
	cfg, err := config.Parse("toolpost.json", []byte(profileFile), tokenVariable)
	if err != nil {
		t.Fatal(err)
	}
	s := cfg.Servers[0]
	if s.Err != nil || !slices.Equal(s.Deny, []string{"rm"}) || s.Allow != nil || len(s.Tools.Tools) != 2 || !s.Tools.Tools[0].Disabled {
		t.Fatalf("%v: %+v", s.Err, s)
	}
	c := s.Tools.Tools[1]
	if c.Name != "find" || *c.Title != "" || *c.Description != "Finds." || !*c.Annotations.ReadOnly || string(c.Meta) != `{"x":[1]}` {
		t.Errorf("%+v", c)
	}
	if a := c.Arguments; a[0].Name != "query" || string(a[0].Examples) != `["a"]` || string(a[1].Default) != "null" || !a[1].Hide || !a[2].Required || string(a[2].Type) != `["string","null"]` {
		t.Errorf("%+v", a)
	}
	if len(cfg.Findings) != 1 || !strings.Contains(cfg.Findings[0].Message, "serializer has no effect here") {
		t.Errorf("findings: %v", cfg.Findings)
	}
	if p := cfg.Profiles[0]; p.Err != nil || p.Token != strings.Repeat("t", 40) || !p.ReadOnly || p.Budget != 5 || p.Dialect != "claude-desktop" || p.Clients[0].Since != "2" || p.Tools.Tools[0].Tool != "a__find" {
		t.Errorf("%+v", p)
	}
}

func TestProfileMistakes(t *testing.T) {
	long := strings.Repeat("s", 40)
	for text, want := range map[string]string{
		`"P": {}`:                            "cannot be the name of a profile",
		`"claude-desktop": {}`:               `a dialect is called "claude-desktop" too`,
		`"none": {}`:                         `a dialect is called "none" too`,
		`"p": {"dialect": "claude-desktpo"}`: `did you mean "claude-desktop"?`,
		`"p": {"inclde": []}`:                `did you mean "include"?`,
		`"p": {"clients": [{"name": "("}]}`:  "profiles.p.clients[0]: name: error parsing",
		`"p": {"token": "` + long + `"}, "q": {"token": "` + long + `"}`: "have the same token",
	} {
		_, err := config.Parse("toolpost.json", []byte(`{"mcpServers": {}, "profiles": {`+text+`}}`), tokenVariable)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), long) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	for token, want := range map[string]string{"${NOT_SET}": "NOT_SET", "too-short": "has 9 characters"} {
		cfg, err := config.Parse("toolpost.json", []byte(`{"mcpServers": {}, "profiles": {"p": {"token": "`+token+`"}}}`), tokenVariable)
		if err != nil || cfg.Profiles[0].Err == nil || !strings.Contains(cfg.Profiles[0].Err.Error(), want) || cfg.Profiles[0].Token != "" || len(cfg.Findings) != 1 {
			t.Errorf("%s: %v, %+v", token, err, cfg)
		}
	}
}

// Whatever a tools block and a profile hold, reading them ends with mistakes or with
// JSON that can be used.
func FuzzProfiles(f *testing.F) {
	f.Add(`{"search": {"arguments": {"q": {"default": {"a": [1,] /* x */}}}}}`, `{"token": "${T}"}`)
	f.Add(`{"allow": ["a"], "deny": {"meta": null}}`, `{"clients": [{"name": "("}], "tools": {"a": {"annotations": {"title": 1}}}}`)
	f.Fuzz(func(t *testing.T, tools, profile string) {
		cfg, err := config.Parse("toolpost.json", []byte(`{"mcpServers": {"a": {"command": "x", "tools": `+tools+`}}, "profiles": {"p": `+profile+`}}`), tokenVariable)
		if err != nil {
			return
		}
		for _, s := range cfg.Servers {
			for _, c := range s.Tools.Tools {
				for _, a := range c.Arguments {
					if a.Default != nil && !json.Valid(a.Default) || a.Examples != nil && !json.Valid(a.Examples) {
						t.Errorf("%s: %s, %s", tools, a.Default, a.Examples)
					}
				}
				if c.Meta != nil && !json.Valid(c.Meta) {
					t.Errorf("%s: %s", tools, c.Meta)
				}
			}
		}
	})
}
