package dialect

import (
	"regexp"
	"testing"
)

// FuzzClientPattern: a pattern matches what the regular expression matches.
func FuzzClientPattern(f *testing.F) {
	for _, pattern := range []string{"zed", "zed( .*)?", "codex.*", "@cline/.*", "lm.?studio.*", ".*", "a.b", "Straße.*", "k", "a|b", "x.*.*", `a\.b`, "\xff.*", "\ufffd"} {
		for _, text := range []string{"", "Zed", "zed preview", "CODEX\n2", "@Cline/x", "LM Studio", "STRASSE", "\u212a", "b", "x", "a.b", "\xff", "\ufffd1"} {
			f.Add(pattern, text)
		}
	}
	f.Fuzz(func(t *testing.T, text, name string) {
		if text == "" {
			t.Skip("asks for nothing")
		}
		_, alone := regexp.Compile(text) // fails for a)(b
		re, err := regexp.Compile("(?is)^(?:" + text + ")$")
		p, failed := newClientPattern(text)
		if (alone == nil && err == nil) != (failed == nil) {
			t.Fatalf("%q: %v, but the regular expression %v, %v", text, failed, alone, err)
		}
		if failed == nil && p.matches(name) != re.MatchString(name) {
			t.Errorf("%q matches %q: %v", text, name, p.matches(name))
		}
	})
}
