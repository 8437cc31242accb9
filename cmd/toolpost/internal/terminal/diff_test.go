package terminal

import (
	"strings"
	"testing"
)

func TestDiff(t *testing.T) {
	tests := []struct{ before, after, want string }{
		{"", "", ""},
		{"abc", "abc", " a b c"},
		{"abc", "axc", " a-b+x c"},
		{"abcd", "bd", "-a b-c d"},
		{"ab", "xaby", "+x a b+y"},
		{"abcabba", "cbabac", "-a-b c-a b+a b a+c"},
	}
	split := func(s string) []string { return strings.Split(s, "")[:len(s)] }
	for _, tt := range tests {
		got := ""
		for _, l := range Diff(split(tt.before), split(tt.after)) {
			if l.Mark == '+' {
				got += "+" + l.After
			} else {
				got += string(l.Mark) + l.Before
			}
		}
		if got != tt.want {
			t.Errorf("%s, %s: got %s, want %s", tt.before, tt.after, got, tt.want)
		}
	}
	long := Diff(make([]string, 3000), split(strings.Repeat("x", 3000)))
	if len(long) != 6000 || long[0].Mark != '-' || long[5999].Mark != '+' {
		t.Errorf("of texts that are too long, %d lines", len(long))
	}
}
