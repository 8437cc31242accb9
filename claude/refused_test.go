package claude

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/schema"
)

// What the CLI drops without a word is adapted, or refused by a rule.
func TestNewServerAdaptsOrRefuses(t *testing.T) {
	long := strings.Repeat("k", 65)
	for _, c := range []struct {
		name, input string
		rule        string // "" if it is adapted
	}{
		{"good", `{"type":"object"}`, ""},
		{"empty", `{}`, ""},
		{"anyof_root", `{"anyOf":[{"type":"object","properties":{"a":{"type":"string"}}},{"type":"object","properties":{"b":{"type":"string"}}}]}`, ""},
		{"oneof_root", `{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"oneOf":[{"required":["a"]},{"required":["b"]}]}`, ""},
		{"ref_root", `{"$ref":"#/$defs/P","$defs":{"P":{"type":"object","properties":{"x":{"type":"integer"}}}}}`, ""},
		{"array_root", `{"type":"array","items":{"type":"string"}}`, "all/poison-root-type"},
		{"string_root", `{"type":"string"}`, "all/poison-root-type"},
		{"typelist_root", `{"type":["object"]}`, ""},
		{"required_text", `{"type":"object","properties":{"a":{"type":"string"}},"required":"a"}`, ""},
		{"required_null", `{"type":"object","required":null}`, ""},
		{"properties_null", `{"type":"object","properties":null}`, ""},
		{"property_names", `{"type":"object","properties":{"a b":{"type":"string"},"$x":{"type":"string"},"日本語":{"type":"string"},"` + long + `":{"type":"string"}}}`, ""},
		{"bad_type", `{"type":"object","properties":{"a":{"type":"strin"}}}`, ""},
		{"bool_property", `{"type":"object","properties":{"a":true,"b":false}}`, ""},
		{"never", `{"type":"object","properties":{"a":false},"required":["a"]}`, "all/unsatisfiable"},
		{"with.dot", `{"type":"object"}`, ""},
		{"", `{"type":"object"}`, "claude-code/name"},
		{strings.Repeat("n", 140), `{"type":"object"}`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			parsed, err := schema.Parse([]byte(c.input))
			if err != nil {
				t.Fatal(err)
			}
			tool := &toolpost.Tool{Definition: toolpost.Definition{Name: c.name, Input: parsed}, Handler: textHandler("ok")}
			s, err := NewServer(t.Context(), "sch", toolpost.Tools{tool}, nil)
			if c.rule == "" {
				if err != nil {
					t.Fatal(err)
				}
				defer s.Close()
				m := newFakeCLI(t, t.Context(), &Options{Servers: []*Server{s}}).tools.port("sch").manifest
				t.Logf("%s", m.List.Tools)
				if got := string(m.List.Tools[0]); !strings.Contains(got, `"inputSchema":{`) || !strings.Contains(got, `"type":"object"`) {
					t.Errorf("listed as %s", got)
				}
				return
			}
			var refused *ToolsRefusedError
			if !errors.As(err, &refused) || len(refused.Tools) != 1 {
				t.Fatalf("error %v, want a refusal", err)
			}
			if r := refused.Tools[0]; r.Name != c.name || r.Rule != c.rule || r.Why == "" {
				t.Errorf("refused as %+v, want the rule %s", r, c.rule)
			}
			for _, want := range []string{c.rule, "SkipRefused", fmt.Sprintf("%q", c.name)} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q lacks %s", err, want)
				}
			}
		})
	}
}

func TestNewServerSkipRefused(t *testing.T) {
	var log bytes.Buffer
	tools := toolpost.Tools{rawTool("bad", `{"type":"array"}`, textHandler("")), addTool()}
	s, err := NewServer(t.Context(), "", tools, &ServerOptions{SkipRefused: true, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	c := newFakeCLI(t, t.Context(), &Options{Servers: []*Server{s}})
	if got := fmt.Sprint(c.tools.port("tools").listed); got != "[add]" {
		t.Errorf("served: %s", got)
	}
	if !strings.Contains(log.String(), "tool=bad") || !strings.Contains(log.String(), "poison-root-type") {
		t.Errorf("log: %s", &log)
	}
}

// Names that the CLI takes for one are told apart, and reach the right tool.
func TestNewServerNamesThatCollide(t *testing.T) {
	tools := toolpost.Tools{
		rawTool("a.b", `{"type":"object"}`, textHandler("dot")), rawTool("a_b", `{"type":"object"}`, textHandler("line")),
		rawTool("日本語", `{"type":"object"}`, textHandler("three")),
	}
	c := newFakeCLI(t, t.Context(), &Options{Toolset: tools})
	var names []string
	for _, tool := range c.tools.port("tools").listed {
		names = append(names, ToolName("tools", tool))
	}
	slices.Sort(names)
	if names = slices.Compact(names); len(names) != 3 {
		t.Errorf("names: %s", names)
	}
	c.open("tools")
	for i, p := range c.tools.port("tools").listed {
		want := []string{"dot", "line", "three"}[i]
		if got := c.ask("tools", callLine(i+2, p, `{}`)); !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", p, got, want)
		}
	}
}

func TestNewServerRefusesLists(t *testing.T) {
	for name, ts := range map[string]toolpost.Toolset{
		"no toolset":      nil,
		"two tools":       toolpost.Tools{addTool(), addTool()},
		"has no handler":  toolpost.Tools{rawTool("x", `{"type":"object"}`, nil)},
		"the source says": toolpost.ToolsetFunc(func(context.Context) ([]*toolpost.Tool, error) { return nil, errors.New("the source says no") }),
	} {
		if _, err := NewServer(t.Context(), "", ts, nil); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range []string{"my srv", "a.b", "ü", "😀", "a__b", "a_", "ide"} {
		if _, err := NewServer(t.Context(), name, toolpost.Tools{}, nil); err == nil {
			t.Errorf("server %q: no error", name)
		}
	}
}

func TestToolName(t *testing.T) {
	for _, c := range [][3]string{
		{"calc", "add", "mcp__calc__add"}, {"my srv.x", "with.dot", "mcp__my_srv_x__with_dot"},
		{"s", "日本語", "mcp__s_____"}, {"s", "😀", "mcp__s____"}, {"s", "A-z_9", "mcp__s__A-z_9"},
	} {
		if got := ToolName(c[0], c[1]); got != c[2] {
			t.Errorf("%q of %q is %s, want %s", c[1], c[0], got, c[2])
		}
	}
}
