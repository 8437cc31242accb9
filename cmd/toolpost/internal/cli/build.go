package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
)

// released is the version of a release; its build sets it with -ldflags -X.
var released string

// A Build describes how a program was built.
type Build struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`
	Time     string `json:"time,omitempty"`
	Modified bool   `json:"modified,omitempty"` // built with changes that are not in the commit
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// ReadBuild returns what this program was built from.
var ReadBuild = sync.OnceValue(func() Build {
	info, _ := debug.ReadBuildInfo()
	return versionOf(released, info)
})

// versionOf returns the version of a build: of a release, else of the module, such
// as of go install …@v1.2.3, else that of the checkout it was built from.
func versionOf(released string, info *debug.BuildInfo) Build {
	v := Build{Version: "(devel)", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	if info != nil && info.Main.Version != "" {
		v.Version = info.Main.Version
	}
	if released != "" {
		v.Version = released
	}
	if info == nil {
		return v
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Commit = s.Value
		case "vcs.time":
			v.Time = s.Value
		case "vcs.modified":
			v.Modified = s.Value == "true"
		}
	}
	return v
}

// String returns the build in one line.
func (v Build) String() string {
	s := "toolpost " + v.Version
	switch {
	case v.Commit != "" && v.Modified:
		s += fmt.Sprintf(" (commit %.12s with changes)", v.Commit)
	case v.Commit != "":
		s += fmt.Sprintf(" (commit %.12s)", v.Commit)
	}
	return s + " " + v.Go + " " + v.Platform
}
