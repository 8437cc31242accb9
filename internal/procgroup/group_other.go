//go:build !unix

package procgroup

import (
	"io"
	"os"
	"os/exec"
	"strconv"
)

// Lead does nothing: there are no groups here.
func Lead(*exec.Cmd) {}

// Detach does nothing: there are no groups here.
func Detach(*exec.Cmd) {}

// Terminate cannot ask here.
func Terminate(int) bool { return false }

// Kill kills a process with those that it started; false if it is not there.
func Kill(pid int) bool {
	return exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(pid)).Run() == nil
}

func alive(int) bool { return false }

// readNow cannot know here what there is.
func readNow(*os.File, []byte) (int, error) { return 0, io.EOF }
