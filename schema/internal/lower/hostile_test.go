package lower_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/toolpost/toolpost/schema"
	"github.com/toolpost/toolpost/schema/internal/lower"
)

// TestHostileValues: what a value costs is linear in its size, whatever it is.
func TestHostileValues(t *testing.T) {
	tree := schema.MustParse(`{"$ref":"#/$defs/t","$defs":{"t":{"type":"object","properties":{
		"o":{"$ref":"#/$defs/t"},"n":{"anyOf":[{"$ref":"#/$defs/t"},{"type":"null"}]},"s":{"type":["string","null"]},
		"l":{"type":"array","items":{"$ref":"#/$defs/t"}},"m":{"type":"object","additionalProperties":{"$ref":"#/$defs/t"}}},
		"additionalProperties":{"$ref":"#/$defs/t"}}}}`)
	const size = 1 << 19 / share
	repeat := func(s string) string { return strings.Repeat(s, size/len(s)) }
	long := repeat("k")
	for name, rules := range map[string]*lower.Rules{
		"pairs": {Object: lower.Object{Closed: true, AllRequired: true, Maps: "pairs"}},
		"json":  {Object: lower.Object{AllRequired: true, Maps: "json"}, Null: "none", Untyped: "json"},
		"rest":  {Object: lower.Object{AllRequired: true}},
		"names": {Object: lower.Object{NameAll: true}, Union: lower.Union{None: true}},
	} {
		codec := lower.Schema(tree, rules).Codec
		for what, v := range map[string]string{
			"open objects":      repeat(`{"o":`),
			"open lists":        repeat(`{"l":[`),
			"open wrappers":     repeat(`{"n":{"value":`),
			"objects":           strings.Repeat(`{"o":`, size/6) + "1" + strings.Repeat("}", size/6),
			"wrappers":          strings.Repeat(`{"n":{"value":`, size/16) + "null" + strings.Repeat("}}", size/16),
			"other members":     strings.Repeat(`{"more":{"x":`, size/16) + "{}" + strings.Repeat("}}", size/16),
			"quotes":            `{"s":"` + repeat(`\"`) + `"}`,
			"backslashes":       `{"s":"` + repeat(`\\`) + `"}`,
			"no end":            `{"s":"` + repeat(`\"`),
			"texts":             `{"x":[` + repeat(`"\\",`) + `""]}`,
			"notes of one name": `{"` + long + `":{"l":[` + repeat(`{"s":""},`) + `{}]}}`,
			"notes far inside":  strings.Repeat(`{"o":`, 500) + `{"l":[` + repeat(`{"s":""},`) + `{}]}` + strings.Repeat("}", 500),
		} {
			start := time.Now()
			_, notes := codec.Decode(json.RawMessage(v))
			codec.Encode(json.RawMessage(v))
			if took := time.Since(start); took > time.Minute {
				t.Errorf("%s: %s take %v", name, what, took)
			}
			told := 0
			for _, n := range notes {
				told += len(n)
			}
			if told > 1<<20+len(v)+100 {
				t.Errorf("%s: %s: %d bytes of notes", name, what, told)
			}
		}
	}
}
