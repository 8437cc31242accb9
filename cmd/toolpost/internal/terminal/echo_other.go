//go:build !windows && !linux && !darwin && !freebsd && !netbsd && !openbsd && !dragonfly

package terminal

// setEcho does nothing.
func setEcho(int, bool) (restore func()) { return func() {} }

// dropTyped does nothing.
func dropTyped(int) {}
