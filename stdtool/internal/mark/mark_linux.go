package mark

import (
	"bytes"
	"os"
	"strconv"
	"syscall"
	"time"
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

// Found reports whether a process certainly has the mark. Ends and End also wait
// for processes that may have it, because they are changing to another program.
func (m Mark) Found() bool {
	names, err := os.ReadDir("/proc")
	if err != nil {
		return false
	}
	for _, name := range names {
		if pid, err := strconv.Atoi(name.Name()); err == nil {
			if marked, _ := m.on(pid); marked {
				return true
			}
		}
	}
	return false
}

// reach signals a process that has the mark. It is held before it is looked at
// again: the number may be that of another by then.
func (m Mark) reach(pid int, s syscall.Signal) (some bool) {
	if marked, unsure := m.on(pid); !marked {
		return unsure
	}
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	defer func() { _ = p.Release() }() // it is not a child process: nothing to wait for
	marked, unsure := m.on(pid)
	return unsure || marked && p.Signal(s) == nil
}

// on reports whether a process has the mark. While it changes to another program,
// it shows no environment: it is looked at again then, some times, as there are
// processes that have none. Threads of the kernel have no program either.
func (m Mark) on(pid int) (marked, unsure bool) {
	dir := "/proc/" + strconv.Itoa(pid)
	for range 5 {
		env, err := os.ReadFile(dir + "/environ")
		if err != nil || len(env) > 0 {
			return bytes.Contains(append([]byte{0}, env...), []byte("\x00"+m+"\x00")), false
		}
		if _, err := os.Readlink(dir + "/exe"); err != nil {
			return false, false
		}
		time.Sleep(time.Millisecond)
	}
	args, err := os.ReadFile(dir + "/cmdline")
	return false, err == nil && len(args) == 0
}
