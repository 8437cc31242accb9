//go:build !linux && !darwin && !freebsd && !netbsd && !openbsd && !dragonfly

package terminal

// setEcho does nothing: a console shows keys only while a line is read.
func setEcho(int, bool) (restore func()) { return func() {} }

// dropTyped does nothing.
func dropTyped(int) {}
