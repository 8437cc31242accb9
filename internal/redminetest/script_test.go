package redminetest

import "testing"

func TestSuits(t *testing.T) {
	for _, c := range []struct {
		since, until, version string
		want                  bool
	}{
		{"", "", "5.0", true},
		{"5.1", "", "5.0", false},
		{"5.1", "", "5.1", true},
		{"5.1", "", "10.0", true},
		{"", "5.1", "10.0", false},
		{"", "10.0", "5.1", true},
		{"6.1", "7.0", "6.1.5", true},
	} {
		if got := (&step{since: c.since, until: c.until}).suits(c.version); got != c.want {
			t.Errorf("since %q until %q: %q suits: %v", c.since, c.until, c.version, got)
		}
	}
}
