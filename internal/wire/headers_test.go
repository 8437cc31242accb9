package wire_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolpost/toolpost/internal/wire"
)

func TestBindings(t *testing.T) {
	tests := []struct{ schema, want string }{
		{`{"properties":{"a":{"type":"string"}}}`, ""},
		{`{"properties":{"a":{"type":"string","x-mcp-header":"A"},"b":{"properties":{"c":{"type":"integer","x-mcp-header":"C"}}}}}`, "a=Mcp-Param-A b.c=Mcp-Param-C"},
		{`{"properties":{"a":{"type":"number","x-mcp-header":"A"}}}`, `x-mcp-header of property a: the property's type is "number", want string, integer or boolean`},
		{`{"properties":{"a":{"type":"string","x-mcp-header":""}}}`, `x-mcp-header of property a: "" is not a header name`},
		{`{"properties":{"a":{"type":"string","x-mcp-header":"A b"}}}`, `x-mcp-header of property a: "A b" is not a header name`},
		{`{"properties":{"a":{"type":"string","x-mcp-header":"A"},"b":{"type":"string","x-mcp-header":"a"}}}`, `x-mcp-header of property b: the header "a" is used twice`},
		{strings.Repeat(`{"properties":{"a":`, 65) + `{"x-mcp-header":"A"}` + strings.Repeat(`}}`, 65), "properties nest more than 64 levels deep"},
	}
	for _, test := range tests {
		found, err := wire.Bindings([]byte(test.schema))
		var got []string
		for _, b := range found {
			got = append(got, strings.Join(b.Path, ".")+"="+b.Header)
		}
		if err != nil {
			got = []string{err.Error()}
		}
		if s := strings.Join(got, " "); s != test.want {
			t.Errorf("%s: got %s, want %s", test.schema, s, test.want)
		}
	}
}

func TestHeaderValues(t *testing.T) {
	for in, want := range map[string]string{
		`"plain text"`: "plain text", `true`: "true", `42`: "42", `42.0`: "42", `9007199254740993`: "none", `1.5`: "none", `null`: "none", ``: "none", `{}`: "none",
		`"ä"`: "=?base64?w6Q=?=", `" x"`: "=?base64?IHg=?=", `"a\nb"`: "=?base64?YQpi?=", `"=?base64?x?="`: "=?base64?PT9iYXNlNjQ/eD89?=",
	} {
		got, ok := wire.HeaderText(json.RawMessage(in))
		if !ok {
			got = "none"
		}
		header := wire.EncodeHeader(got)
		if back, ok := wire.DecodeHeader(header); !ok || back != got {
			t.Errorf("%s: header %q is decoded as %q", in, header, back)
		}
		if header != want {
			t.Errorf("%s: got %q, want %q", in, header, want)
		}
	}
}
