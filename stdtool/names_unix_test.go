//go:build unix

package stdtool_test

import (
	"strings"
	"testing"
)

// TestNames checks that a name cannot look like another line of a result, or
// reach a terminal as an escape.
func TestNames(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a\nb.go:1: needle", "esc\x1b[2J", "bad\xff", "rtl\u202egpj.exe", "名前\u3000é.txt"} {
		write(t, dir, name, []byte("needle\n"))
	}
	set := folder(t, dir)
	for tool, arguments := range map[string]string{"list": `{}`, "glob": `{"pattern":"*"}`, "grep": `{"pattern":"needle"}`} {
		text := call(t, set, tool, arguments)
		for _, want := range []string{`"a\nb.go:1: needle"`, `"esc\x1b[2J"`, `"bad\xff"`, `"rtl\u202egpj.exe"`, "\n名前\u3000é.txt"} {
			if !strings.Contains("\n"+text, want) {
				t.Errorf("%s has no %s: %q", tool, want, text)
			}
		}
		if strings.Count(text, "\n") != 5 {
			t.Errorf("%s: %q", tool, text)
		}
	}
}
