package redminetest

import (
	"strings"
	"testing"
)

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

// TestEveryStepIsSpecific checks that a script is refused if an answer that only
// repeats the call would pass.
func TestEveryStepIsSpecific(t *testing.T) {
	for text, fine := range map[string]bool{
		"> list_issues {}":                                     false,
		"> list_issues {}\n! Closed":                           false,
		"> list_issues {}\nerror":                              false,
		"> list_issues {}\n= issues":                           false,
		"> list_issues {\"colour\":\"red\"}\nerror\n= Colour":  false,
		"> list_issues {\"limit\":1}\n= #4":                    false,
		"> list_issues {}\n= issues\n= Flaky test":             true,
		"> create_issue {\"subject\":\"x\"}\n$id issue (\\d+)": true,
	} {
		_, err := parse("a.script", "> list_users {}\n= Alice\n"+text)
		if (err == nil) != fine || err != nil && !strings.Contains(err.Error(), "a.script:3: add a line with =") {
			t.Errorf("%q: %v", text, err)
		}
	}
}
