package environ_test

import (
	"slices"
	"testing"

	"github.com/toolpost/toolpost/internal/environ"
)

func TestNames(t *testing.T) {
	for entry, want := range map[string]string{"A=b=c": "A", "=C:=C:\\": "=C:", "A": "A", "": "", "A=": "A"} {
		if got := environ.Name(entry); got != want {
			t.Errorf("the name of %q is %q, want %q", entry, got, want)
		}
	}
	names := []string{"PATH", "LC_*", "XDG_*_HOME"}
	for name, want := range map[string]bool{
		"PATH": true, "PATHS": false, "LC_ALL": true, "LC": false, "XDG_DATA_HOME": true, "XDG_HOME": false, "XDG_TOKEN": false, "": false,
	} {
		if environ.Matches(names, name) != want {
			t.Errorf("%s: want %v", name, want)
		}
	}
}

func TestSelect(t *testing.T) {
	t.Setenv("TOOLPOST_TEST", "a=b")
	got := environ.Select(func(name, value string) bool { return name == "TOOLPOST_TEST" && value == "a=b" })
	if !slices.Equal(got, []string{"TOOLPOST_TEST=a=b"}) {
		t.Errorf("got %q", got)
	}
}
