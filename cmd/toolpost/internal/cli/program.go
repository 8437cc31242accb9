package cli

import (
	"github.com/toolpost/toolpost/serve"
	"os"
	"strings"
)

// DefaultAddress is the address that serve listens on without --addr.
const DefaultAddress = serve.DefaultAddr

// Program is how other programs start this one: they do not have our PATH.
// A build in the folder of temporary files, as of "go run", does not last.
func Program() string {
	path, err := os.Executable()
	if err != nil || strings.HasPrefix(path, os.TempDir()) || strings.Contains(path, "go-build") {
		return "toolpost"
	}
	return path
}
