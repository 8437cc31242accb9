//go:build !unix

package stdtool

import (
	"io"
	"os"
	"os/exec"
	"strconv"
)

func ownGroup(*exec.Cmd) {}

// terminateGroup cannot ask here.
func terminateGroup(int) bool { return false }

func killGroup(pid int) bool {
	return exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(pid)).Run() == nil
}

func groupAlive(int) bool { return false }

// readNow cannot know here what is there.
func readNow(*os.File, []byte) (int, error) { return 0, io.EOF }
