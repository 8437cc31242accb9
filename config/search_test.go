package config

import (
	"reflect"
	"testing"
)

func TestSearch(t *testing.T) {
	for text, want := range map[string]Search{
		`false`:                         {Off: true},
		`true`:                          {},
		`{}`:                            {},
		`{"budget":900,"pin":["a__*"]}`: {Budget: 900, Pin: []string{"a__*"}},
	} {
		cfg, err := Parse("toolpost.json", []byte(`{"mcpServers":{},"search":`+text+`}`), nil)
		if err != nil || !reflect.DeepEqual(cfg.Search, want) {
			t.Errorf("%s is %+v, want %+v (%v)", text, cfg.Search, want, err)
		}
	}
	for text, want := range map[string]string{
		`{"buget":1}`:  `toolpost.json:1:28: unknown key "buget" in search; did you mean "budget"?`,
		`{"budget":0}`: `toolpost.json:1:37: search.budget is not a number from 1 to 2147483647`,
		`"no"`:         `toolpost.json:1:27: search is a string; want an object`,
	} {
		if _, err := Parse("toolpost.json", []byte(`{"mcpServers":{},"search":`+text+`}`), nil); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
