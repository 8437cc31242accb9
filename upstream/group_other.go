//go:build !unix

package upstream

import (
	"os/exec"
	"strconv"
)

func ownGroup(*exec.Cmd) {}

// terminateGroup cannot ask here; the child has seen the end of its input.
func terminateGroup(int) bool { return false }

func killGroup(pid int) bool {
	return exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(pid)).Run() == nil
}

func groupAlive(int) bool { return false }
