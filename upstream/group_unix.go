//go:build unix

package upstream

import "syscall"

// terminateGroup asks a process group to end; false if there is none.
func terminateGroup(pid int) bool { return syscall.Kill(-pid, syscall.SIGTERM) == nil }

func killGroup(pid int) bool { return syscall.Kill(-pid, syscall.SIGKILL) == nil }

func groupAlive(pid int) bool { return syscall.Kill(-pid, 0) == nil }
