package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// descriptors returns how many file descriptors a process has open.
func descriptors(t *testing.T, pid int) int {
	t.Helper()
	open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		t.Fatal(err)
	}
	return len(open)
}

// until waits for a condition.
func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("after %v: not %s", patience, what)
		}
	}
}

// childOf returns a process that pid has started, 0 if there is none.
func childOf(pid int) (child int) {
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, list := range lists {
		text, _ := os.ReadFile(list) // a thread may have ended
		if _, err := fmt.Sscan(string(text), &child); err == nil {
			return child
		}
	}
	return 0
}

// When clients have used up all file descriptors and a server must be started again,
// toolpost does not end. When there are free ones again, it serves as before.
func TestNoFreeDescriptors(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "toolpost.json")
	if err := os.WriteFile(file, []byte(`{"mcpServers": {"one": {"command": "fixture"}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	home := append(ownFolders(t), "TOOLPOST_TOKEN=", "GORACE=atexit_sleep_ms=0")
	b := &background{more: make(chan struct{}, 1)}
	serve := exec.Command("toolpost", "serve", "--addr", "127.0.0.1:0", "--config", file)
	serve.Env, serve.Stdout, serve.Stderr = home, b, b
	if err := serve.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = serve.Process.Kill()
		_ = serve.Wait()
	})
	pid := serve.Process.Pid
	address := regexp.MustCompile(`url=http://([0-9.:]+)/mcp`)
	until(t, "serving", func() bool { return address.MatchString(b.String()) && strings.Contains(b.String(), "server is ready") })
	to := address.FindStringSubmatch(b.String())[1]
	var answer string
	answers := func() bool {
		call := exec.Command("toolpost", "call", "http://"+to+"/mcp", "one__show", "n=1")
		call.Env = home
		out, err := call.CombinedOutput()
		answer = string(out)
		return err == nil
	}
	until(t, "answering", answers)

	most := descriptors(t, pid) + 10
	if err := unix.Prlimit(pid, unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: uint64(most), Max: uint64(most)}, nil); err != nil {
		t.Fatal(err)
	}
	var crowd []net.Conn
	for range 100 {
		conn, err := net.Dial("tcp", to)
		if err != nil {
			t.Fatal(err)
		}
		crowd = append(crowd, conn)
	}
	until(t, "out of descriptors", func() bool { return descriptors(t, pid) >= most })
	if child := childOf(pid); child == 0 {
		t.Error("the server has no process")
	} else if err := syscall.Kill(child, syscall.SIGKILL); err != nil {
		t.Error(err)
	}
	until(t, "reporting that there are no descriptors", func() bool { return strings.Contains(b.String(), "too many open files") })
	for _, conn := range crowd {
		conn.Close()
	}
	until(t, "answering again", answers)
	if !strings.Contains(answer, "1") {
		t.Errorf("the answer is %q", answer)
	}
	if err := serve.Process.Signal(syscall.Signal(0)); err != nil {
		t.Errorf("toolpost has ended: %v", err)
	}
}
