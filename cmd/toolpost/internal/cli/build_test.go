package cli

import (
	"runtime"
	"runtime/debug"
	"testing"
)

func TestVersion(t *testing.T) {
	build := func(version string, settings ...debug.BuildSetting) *debug.BuildInfo {
		return &debug.BuildInfo{Main: debug.Module{Version: version}, Settings: settings}
	}
	revision := debug.BuildSetting{Key: "vcs.revision", Value: "0123456789abcdef0123"}
	for _, test := range []struct {
		name, released string
		info           *debug.BuildInfo
		want           string
	}{
		{"a release", "v1.2.3", build("(devel)"), "v1.2.3"},
		{"a release from a checkout", "v1.2.3", build("v1.2.4-pseudo", revision), "v1.2.3 (commit 0123456789ab)"},
		{"go install", "", build("v1.2.3"), "v1.2.3"},
		{"a checkout", "", build("v0.0.0-20260101000000-0123456789ab", revision), "v0.0.0-20260101000000-0123456789ab (commit 0123456789ab)"},
		{"a checkout with changes", "", build("(devel)", revision, debug.BuildSetting{Key: "vcs.modified", Value: "true"}), "(devel) (commit 0123456789ab with changes)"},
		{"nothing is known", "", nil, "(devel)"},
		{"no version", "", build(""), "(devel)"},
	} {
		want := "toolpost " + test.want + " " + runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH
		if got := versionOf(test.released, test.info).String(); got != want {
			t.Errorf("%s: %q, want %q", test.name, got, want)
		}
	}
}
