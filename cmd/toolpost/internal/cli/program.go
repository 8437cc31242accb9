package cli

import (
	"os"
	"strings"
)

// DefaultAddress is where serve listens, unless it is told otherwise.
const DefaultAddress = "127.0.0.1:7717"

// Program is how other programs start this one: they do not have our PATH.
// A build in the folder of temporary files, as of "go run", does not last.
func Program() string {
	path, err := os.Executable()
	if err != nil || strings.HasPrefix(path, os.TempDir()) || strings.Contains(path, "go-build") {
		return "toolpost"
	}
	return path
}
