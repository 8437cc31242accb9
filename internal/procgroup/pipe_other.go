//go:build !linux

package procgroup

import "os"

// enlarge leaves a pipe as it is.
func enlarge(*os.File) {}
