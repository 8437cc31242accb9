package cli

import (
	"os"
	"path/filepath"
	"strings"
)

// Program returns the command line with which other programs start this one: they do not
// have our PATH.
func Program() []string {
	path, err := os.Executable()
	if err != nil || strings.HasPrefix(path, os.TempDir()) {
		return []string{"toolpost"}
	}
	return commandLine(path)
}

// commandLine returns a command line that starts the program at a path also after an
// upgrade: a build of "go run" and what npx and uvx keep in their caches do not last, and
// Homebrew has a folder for each version, with a link to the newest one.
func commandLine(path string) []string {
	slashes := filepath.ToSlash(path)
	prefix, _, isHomebrew := strings.Cut(slashes, "/Cellar/")
	switch {
	case strings.Contains(slashes, "/_npx/"):
		return []string{"npx", "--yes", "toolpost"}
	case strings.Contains(slashes, "/uv/archive-"):
		return []string{"uvx", "toolpost"}
	case isHomebrew:
		return []string{prefix + "/bin/toolpost"}
	case strings.Contains(slashes, "go-build"):
		return []string{"toolpost"}
	}
	return []string{path}
}
