package main

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

func TestKeepPrivate(t *testing.T) {
	cmd := exec.Command("/proc/self/exe")
	cmd.Args, cmd.Env = []string{"private"}, []string{"PATH=" + os.Getenv("PATH"), "MARK=seen"}
	if os.Geteuid() == 0 { // who may look at everything
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	out, err := cmd.CombinedOutput()
	before, after, _ := strings.Cut(string(out), "\n")
	if err != nil || !strings.Contains(before, "MARK=seen") || !strings.Contains(after, "ermission denied") {
		t.Errorf("before: %q, after: %q (%v)", before, after, err)
	}
}
