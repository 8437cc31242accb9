package accept_test

import (
	"encoding/json"
	"testing"

	"github.com/toolpost/toolpost/dev/accept"
)

func TestCorpora(t *testing.T) {
	t.Parallel()
	if n := len(accept.Schemas()); n < 70 {
		t.Errorf("%d schemas", n)
	}
	tools := accept.Tools()
	if len(tools) < 280 {
		t.Errorf("%d tools of servers", len(tools))
	}
	for _, s := range append(tools, accept.Torture()...) {
		if s.License != "MIT" && s.License != "Apache-2.0" {
			t.Errorf("%s: license %q", s.Name(), s.License)
		}
		if s.Name() == "" || s.Server == "" {
			t.Errorf("%s: no name", s.Raw)
		}
	}
	for _, s := range accept.Torture() {
		if s.Why == "" {
			t.Errorf("%s: nothing tells what is odd", s.Name())
		}
	}
	names := map[string]bool{}
	for _, b := range accept.Hostile() {
		if names[b.Name] || !json.Valid(b.Schema) && len(b.Schema) < 50_000 {
			t.Errorf("%s: twice, or no JSON", b.Name)
		}
		names[b.Name] = true
	}
}
