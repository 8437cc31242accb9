package approval

import (
	"regexp"
	"strings"
	"testing"
)

// A glob matches what the regular expression that it stands for does.
func FuzzGlob(f *testing.F) {
	for _, pattern := range []string{"", "*", "?", "a*", "*a", "*a?b*c?", "a**b", "**", "é?*ß", "*??", "*?"} {
		for _, text := range []string{"", "a", "ab", "aXbYcZ", "xaab", "é–ß", "a\nb", "\xffa", "kK\u212a"} {
			f.Add(pattern, text)
		}
	}
	f.Fuzz(func(t *testing.T, pattern, text string) {
		pattern, text = strings.ToValidUTF8(pattern, "\ufffd"), strings.ToValidUTF8(text, "\ufffd")
		if len(pattern) > 100 {
			return
		}
		source := `^(?:` + strings.NewReplacer(`\*`, `.*`, `\?`, `.`).Replace(regexp.QuoteMeta(pattern)) + `)$`
		if got, want := newGlob(pattern).match(text), regexp.MustCompile(`(?s)`+source).MatchString(text); got != want {
			t.Errorf("%q matches %q: got %v, want %v", pattern, text, got, want)
		}
		if got, want := newGlob(foldCase(pattern)).match(foldCase(text)), regexp.MustCompile(`(?si)`+source).MatchString(text); got != want {
			t.Errorf("%q matches %q in any case: got %v, want %v", pattern, text, got, want)
		}
	})
}
