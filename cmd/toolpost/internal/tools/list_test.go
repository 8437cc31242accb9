package tools

import (
	"bytes"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/schema"
)

func TestWriteDefinitions(t *testing.T) {
	for n, want := range map[int]string{0: "[]\n", 1: "[\n{\"name\":\"a\",\"inputSchema\":{ }}\n]\n", 2: "[\n{\"name\":\"a\",\"inputSchema\":{ }},\n{\"name\":\"a\",\"inputSchema\":{ }}\n]\n"} {
		var out bytes.Buffer
		tool := &toolpost.Tool{Definition: toolpost.Definition{Name: "a", Input: schema.MustParse(`{ }`)}}
		if err := writeDefinitions(&out, []*toolpost.Tool{tool, tool}[:n]); err != nil || out.String() != want {
			t.Errorf("%d: %q, %v", n, out.String(), err)
		}
	}
}
