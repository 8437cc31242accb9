package terminal

import "golang.org/x/sys/windows"

// setEcho does nothing: a console shows keys only while a line is read.
func setEcho(int, bool) (restore func()) { return func() {} }

// dropTyped drops keys that nobody has read yet.
func dropTyped(fd int) { _ = windows.FlushConsoleInputBuffer(windows.Handle(fd)) }
