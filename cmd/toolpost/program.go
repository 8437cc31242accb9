package main

import (
	"os"
	"strings"
)

// defaultAddr is where serve listens, unless it is told otherwise.
const defaultAddr = "127.0.0.1:7717"

// program is how other programs start this one: they do not have our PATH.
// A build in the folder of temporary files, as of "go run", does not last.
func program() string {
	path, err := os.Executable()
	if err != nil || strings.HasPrefix(path, os.TempDir()) || strings.Contains(path, "go-build") {
		return "toolpost"
	}
	return path
}
