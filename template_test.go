package toolpost_test

import (
	"strings"
	"testing"
	"time"

	"github.com/toolpost/toolpost"
)

func TestResourceMatches(t *testing.T) {
	tests := []struct {
		template, uri string
		want          bool
	}{
		{"test://template/{id}/data", "test://template/123/data", true},
		{"test://template/{id}/data", "test://template/1/2/data", false},
		{"test://template/{id}/data", "test://template/123/data/x", false},
		{"file:///{+path}", "file:///a/b.c", true},
		{"db://x{?page,size}", "db://x?page=1", true},
		{"db://x{?page,size}", "db://x", true},
		{"odd://{open", "odd://{open", true},
		{"odd://a.b", "odd://axb", false},
		{"x://{a}{b}/{+c}", "x:///é/ü", true},
		{"x://{a}b{c}b", "x://abbb", true},
		{"x://{a}b{c}b", "x://abbc", false},
		{"", "", true},
	}
	for _, tt := range tests {
		if got := (&toolpost.Resource{URI: tt.template, Template: true}).Matches(tt.uri); got != tt.want {
			t.Errorf("%s matches %s: %v, want %v", tt.template, tt.uri, got, tt.want)
		}
	}
}

// A template of a hostile server neither takes long nor panics.
func TestHostileTemplates(t *testing.T) {
	start := time.Now()
	for _, template := range []string{"a:" + strings.Repeat("{a}", 1_800_000), strings.Repeat("{a}b", 50) + "c", strings.Repeat("{+a}a", 60) + "c"} {
		r := &toolpost.Resource{URI: template, Template: true}
		if r.Matches("a:" + strings.Repeat("ab", 4000)) {
			t.Errorf("%.20s… matches", template)
		}
		if tooLarge := len(template) > 2048; (r.Validate() != nil) != tooLarge {
			t.Errorf("%.20s…: %v", template, r.Validate())
		}
	}
	if took := time.Since(start); took > time.Minute {
		t.Errorf("took %v", took)
	}
}
