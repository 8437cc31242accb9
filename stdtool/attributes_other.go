//go:build !linux

package stdtool

import "os"

// keepAttributes keeps none: extended attributes are not carried over here.
func keepAttributes(_, _ *os.File) error { return nil }
