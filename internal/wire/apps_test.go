package wire_test

import (
	"testing"

	"github.com/toolpost/toolpost/internal/wire"
)

func TestForAppsOnly(t *testing.T) {
	for meta, want := range map[string]bool{
		`{"ui":{"visibility":["app"]}}`:                true,
		`{"x":1,"ui":{"a":[],"visibility":[ "app" ]}}`: true,
		`{"ui":{"visibility":[]}}`:                     true,
		`{"ui":{"visibility":["app","model"]}}`:        false,
		`{"ui":{"visibility":["m\u006fdel"]}}`:         false,
		`{"ui":{"visibility":"app"}}`:                  false,
		`{"ui":{"visibility":null}}`:                   false,
		`{"ui":{}}`:                                    false,
		`{"ui":["visibility"]}`:                        false,
		`{}`:                                           false,
		`null`:                                         false,
		``:                                             false,
	} {
		if got := wire.ForAppsOnly([]byte(meta)); got != want {
			t.Errorf("%s: got %v", meta, got)
		}
	}
}
