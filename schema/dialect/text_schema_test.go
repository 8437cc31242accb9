package dialect_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/schema"
	"github.com/toolpost/toolpost/schema/dialect"
)

// TestTextInSchemas: every description of a schema is fitted, nothing else.
func TestTextInSchemas(t *testing.T) {
	const was = `{ "description":"a_b", "type":"object",
 "properties":{"description":{"type":"string","description":"c_d","enum":["e_f"],"default":{"description":"g_h"}},
  "list":{"items":{"description":"i_j"},"prefixItems":[{},{"description":"k_l"}]},
  "not":{"not":{"description":"m_n"}},
  "more":{"additionalProperties":{"description":"o_p"},"x-note":{"description":"q_r"},"examples":[{"description":"s_t"}]},
  "u_v":{"default":{"description":"w_x"}}, "a/b~":{"anyOf":[{"description":"c_d"}]}},
 "dependencies":{"a":["description"],"b":{"description":"y_z"}},
 "$defs":{"description":{"description":"1_2"}}, "required":["u_v"] }`
	d := dialect.Make("x", dialect.Form{Text: dialect.Text{Forbid: "_"}})
	tool := &toolpost.Tool{Definition: toolpost.Definition{Name: "n", Input: schema.MustParse(was)}}
	got := d.Adapt([]*toolpost.Tool{tool}, nil).Tools[0]

	want := was
	for _, text := range []string{"a_b", "c_d", "i_j", "k_l", "m_n", "o_p", "y_z", "1_2"} {
		want = strings.ReplaceAll(want, text, strings.Replace(text, "_", " ", 1))
	}
	if string(got.Input.Raw()) != want {
		t.Errorf("got  %s\nwant %s", got.Input.Raw(), want)
	}
	var places []string
	for _, l := range got.Losses {
		places = append(places, l.Pointer)
		if l.Keyword != "description" || l.Kind != "noop" {
			t.Errorf("loss: %v", l)
		}
	}
	wantPlaces := " /properties/description /properties/a~1b~0/anyOf/0 /properties/list/items /properties/list/prefixItems/1" +
		" /properties/not/not /properties/more/additionalProperties /dependencies/b /$defs/description"
	if strings.Join(places, " ") != wantPlaces {
		t.Errorf("losses at %q, want %q", places, wantPlaces)
	}
}

func TestTextInSchemaIsShortened(t *testing.T) {
	d := dialect.Make("x", dialect.Form{Text: dialect.Text{SchemaMax: 10}})
	tool := &toolpost.Tool{Definition: toolpost.Definition{
		Name: "n", Description: "A text of any length.",
		Input: schema.MustParse(`{"type":"object","properties":{"a":{"description":"One here. Two here."}}}`),
	}}
	got := d.Adapt([]*toolpost.Tool{tool}, nil).Tools[0]
	if raw := string(got.Input.Raw()); raw != `{"type":"object","properties":{"a":{"description":"One here."}}}` || got.Description != tool.Description {
		t.Errorf("got %s, %q", raw, got.Description)
	}
	if l := fmt.Sprint(got.Losses); l != "[{/properties/a description dropped the description is shortened by 10 characters}]" {
		t.Errorf("losses: %s", l)
	}
}

func FuzzTextInSchemas(f *testing.F) {
	f.Add(`{"type":"object","description":"a_b","properties":{"description":{"items":[{"description":"c"}]}}}`)
	f.Add(`{"items":[{"description":"\ud800_"},1,null,{"anyOf":[{}]}],"description":"","type":"object"}`)
	f.Fuzz(func(t *testing.T, raw string) {
		s, err := schema.Parse([]byte(raw))
		if err != nil {
			return
		}
		d := dialect.Make("x", dialect.Form{Text: dialect.Text{Forbid: "_("}})
		tool := &toolpost.Tool{Definition: toolpost.Definition{Name: "n", Input: s}}
		if len(dialect.Make("all", dialect.Form{}).Lint([]*toolpost.Tool{tool}, nil)) > 0 {
			return // it is lowered first
		}
		a := d.Adapt([]*toolpost.Tool{tool}, nil)
		if len(a.Tools) != 1 {
			t.Fatalf("withheld: %v", a.Withheld)
		}
		again := d.Adapt(definitions(a), nil)
		if string(again.Tools[0].Input.Raw()) != string(a.Tools[0].Input.Raw()) || len(again.Tools[0].Losses) > 0 {
			t.Errorf("%s becomes %s", a.Tools[0].Input.Raw(), again.Tools[0].Input.Raw())
		}
	})
}
