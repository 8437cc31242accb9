//go:build !windows

package procgroup

import "os/exec"

// quoteForBatch does nothing: batch files are of Windows.
func quoteForBatch(*exec.Cmd) error { return nil }
