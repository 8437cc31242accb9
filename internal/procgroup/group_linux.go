package procgroup

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// Lead makes the command the leader of a group that ends with this process. The
// signal is SIGTERM, which package runners hand on to what they run, and which
// lets the command end what it started; SIGKILL would end only itself.
func Lead(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}

// Detach is Lead for a command without a terminal, where nothing can ask for a
// password.
func Detach(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGTERM}
}

// zombies reports whether all of a group have ended, and only wait for a parent that
// looks late or never, as the first process of a container may.
func zombies(pid int) bool {
	group := strconv.Itoa(pid)
	all, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is right
	for _, name := range all {
		stat, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended meanwhile
		}
		// PID (NAME) STATE PARENT GROUP …, where the name may hold anything.
		fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
		if len(fields) > threadsField && fields[2] == group && !hasEnded(fields) {
			return false
		}
	}
	return len(all) > 0
}

// threadsField is the number of threads among the fields after the name.
const threadsField = 17

// hasEnded reports whether a process can be reaped: its first thread may be a zombie
// while others are still ending.
func hasEnded(fields []string) bool {
	return fields[0] == "X" || fields[0] == "Z" && (fields[threadsField] == "0" || fields[threadsField] == "1")
}
