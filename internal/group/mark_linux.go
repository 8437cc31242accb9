package group

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
)

// signal sends a signal to all that are marked; false if there is none. Zombies
// have no environment.
func (m Mark) signal(s syscall.Signal) (some bool) {
	proc, err := os.Open("/proc")
	if err != nil {
		return false
	}
	defer proc.Close()
	names, _ := proc.Readdirnames(-1) // what was read counts
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			some = m.reach(pid, s) || some
		}
	}
	return some
}

// reach signals a process that has the mark. It is held before it is looked at
// again: the number may be that of another by then.
func (m Mark) reach(pid int, s syscall.Signal) bool {
	if !m.on(pid) {
		return false
	}
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	defer func() { _ = p.Release() }() // it is no child that must be waited for
	return m.on(pid) && p.Signal(s) == nil
}

func (m Mark) on(pid int) bool {
	env, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	return err == nil && bytes.Contains(append([]byte{0}, env...), []byte("\x00"+m+"\x00"))
}
