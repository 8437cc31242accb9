package schema_test

import (
	"strings"
	"testing"

	"github.com/toolpost/toolpost/schema"
)

func TestIsObject(t *testing.T) {
	for raw, want := range map[string]bool{
		`{"type":"object"}`: true, `{"type":["object","null"]}`: false, `{"type":"array"}`: false, `{}`: false, `true`: false,
		`{"properties":{"type":{"type":"object"}}}`: false, `{"type":"object","x":` + strings.Repeat("1", 2000) + `}`: false,
	} {
		if got := schema.MustParse(raw).IsObject(); got != want {
			t.Errorf("%s: got %v", raw, got)
		}
	}
}
