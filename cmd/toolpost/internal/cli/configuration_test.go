package cli

import (
	"strings"
	"testing"
)

// A text whose beginning has left the screen comes with a warning, also if it has
// few lines.
func TestWarnLong(t *testing.T) {
	tests := map[string]struct{ text, want string }{
		"short":                {strings.Repeat("a\n", 10), ""},
		"as high as screen":    {strings.Repeat("a\n", 22), ""},
		"many lines":           {strings.Repeat("a\n", 23), "scroll up"},
		"one long line":        {strings.Repeat("a", 30*80) + "\n", "scroll up"},
		"wide characters":      {strings.Repeat("日", 15*80) + "\n", "scroll up"},
		"longer than scrolled": {strings.Repeat("a", 2000*80) + "\n", "read the file itself"},
	}
	for name, tt := range tests {
		if got := warnLong(tt.text, 80, 24); (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}
