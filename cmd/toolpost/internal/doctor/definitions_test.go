package doctor_test

import (
	"strings"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/doctor"
	"github.com/toolpost/toolpost/schema"
)

func TestDefinitions(t *testing.T) {
	tool := func(name, input string) *toolpost.Tool {
		return &toolpost.Tool{Definition: toolpost.Definition{Name: name, Input: schema.MustParse(input)}}
	}
	got := doctor.Definitions([]*toolpost.Tool{
		tool("fine", `{"type":"object","properties":{"a":{"type":"object","additionalProperties":{}}},"additionalProperties":false}`),
		tool("java", `{"type":"object","additionalProperties":{"type":"string"}}`),
		tool("null", `{"type":"object","properties":null}`),
	}, &toolpost.Features{
		Prompts: []*toolpost.Prompt{{Name: "p", Definition: []byte(`{"name":"p","description":null}`)}, {Name: "q"}},
		Resources: []*toolpost.Resource{
			{URI: "x://a", Definition: []byte(`{"uri":"x://a","name":"a"}`)},
			{URI: "x://b", Definition: []byte(`{"uri":"x://b","name":"b","annotations":null}`)},
			{URI: "x://{c}", Template: true, Definition: []byte(`{"uriTemplate":"x://{c}","name":"c","icons":5}`)},
			{URI: "git://a:b/", Definition: []byte(`{"uri":"git://a:b/","name":"a"}`)},
		},
	})
	want := []string{
		"java-sdk note additionalProperties", "definition-invalid note properties", `definition-invalid warning prompt "p"`,
		`definition-invalid warning resource "x://b"`, `definition-invalid warning resource template "x://{c}"`, `definition-invalid note resource "git://a:b/"`,
	}
	if len(got) != len(want) {
		t.Fatalf("got %+v", got)
	}
	for i, f := range got {
		id, about, _ := strings.Cut(want[i], " ")
		severity, text, _ := strings.Cut(about, " ")
		if f.ID != id || string(f.Severity) != severity || !strings.Contains(f.Message, text) {
			t.Errorf("got %+v, want %s", f, want[i])
		}
	}
}
