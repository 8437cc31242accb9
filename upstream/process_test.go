//go:build linux

package upstream_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/toolpost/toolpost/upstream"
)

// alive says whether a process runs; one that only waits to be reaped does not.
func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, after, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(after, "Z")
}

// children returns the processes that this one started and that run.
func children(t *testing.T) []int {
	t.Helper()
	var pids []int
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		stat, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		_, after, _ := strings.Cut(string(stat), ") ")
		fields := strings.Fields(after)
		if pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path))); len(fields) > 1 && fields[1] == strconv.Itoa(os.Getpid()) {
			pids = append(pids, pid)
		}
	}
	return pids
}

func descriptors(t *testing.T) int {
	t.Helper()
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(fds)
}

// eventually waits for what another process does.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited in vain until %s", what)
		}
	}
}

// Whenever it is closed, nothing stays behind.
func TestNothingIsLeft(t *testing.T) {
	before := descriptors(t)
	for _, part := range []string{"sdk", "exit", "hang", "stubborn", "hang-on-probe", "banner"} {
		for _, after := range []time.Duration{0, 5 * time.Millisecond, 50 * time.Millisecond, -1} {
			s := start(t, child(t, part))
			if after < 0 && part != "hang" && part != "hang-on-probe" {
				_ = s.Ready(t.Context())
			} else {
				time.Sleep(max(0, after)) // any moment of its start will do
			}
			began := time.Now()
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			if took := time.Since(began); took > 20*time.Second {
				t.Errorf("%s: close took %v", part, took)
			}
			if v := s.Status(); v.State != upstream.Closed {
				t.Errorf("%s: state %s", part, v.State)
			}
			// They are killed by now; a busy system takes a moment to end them.
			eventually(t, part+" is gone", func() bool { return len(children(t)) == 0 })
		}
	}
	eventually(t, "descriptors are closed", func() bool { return descriptors(t) <= before })
}

func TestGrandchildrenEnd(t *testing.T) {
	for _, arguments := range []string{`{}`, `{"die":true}`} {
		s := start(t, child(t, "parent")).ready(t)
		pid, err := strconv.Atoi(s.text(t, "t", `{}`, nil))
		if err != nil || !alive(pid) {
			t.Fatalf("grandchild %d: %v", pid, err)
		}
		if arguments != `{}` {
			if got := s.text(t, "t", arguments, nil); !strings.Contains(got, "exit status 1") {
				t.Errorf("got %q", got)
			}
			eventually(t, "the grandchild of a dead server is gone", func() bool { return !alive(pid) })
		}
		s.Close()
		eventually(t, "the grandchild is gone", func() bool { return !alive(pid) })
	}
}

// A server is lost during a call, and comes back.
func TestComesBack(t *testing.T) {
	for _, part := range []string{"half", "stderr", "crash"} {
		t.Run(part, func(t *testing.T) {
			t.Parallel()
			s := start(t, child(t, part)).ready(t)
			got := s.text(t, "t", "", nil)
			for _, want := range []string{`error: tool t was not answered: server "srv":`, "exit status 1", "may have been carried out"} {
				if !strings.Contains(got, want) {
					t.Errorf("got %q, want %q in it", got, want)
				}
			}
			if part == "stderr" && (!strings.HasSuffix(strings.SplitAfter(got, "last words")[0], "last words") || len(got) > 4<<10) {
				t.Errorf("got %d bytes, ending in %.100q", len(got), got[max(0, len(got)-100):])
			}
			if got := s.names(t); got == "" {
				t.Error("the tools are gone while the server is away")
			}
			if part == "crash" {
				if got := s.text(t, "t", "", nil); got != "back" {
					t.Errorf("got %q", got)
				}
			}
		})
	}
	t.Run("a server that closes its output and stays", func(t *testing.T) {
		s := start(t, child(t, "mute")).ready(t)
		if got := s.text(t, "t", "", nil); got != "first" {
			t.Errorf("got %q", got)
		}
		s.until(t, "the loss is noticed", func() bool { return s.Status().State != upstream.Ready })
		if got := s.text(t, "t", "", nil); got != "ok" {
			t.Errorf("got %q", got)
		}
	})
	t.Run("a call that may be made twice", func(t *testing.T) {
		s := start(t, child(t, "crash")).ready(t)
		if got := s.text(t, "r", "", nil); got != "back" {
			t.Errorf("got %q", got)
		}
	})
	t.Run("killed from outside", func(t *testing.T) {
		s := start(t, child(t, "sdk")).ready(t)
		for range 3 {
			before := s.Status().Connects
			for _, pid := range children(t) {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
			s.until(t, "the loss is noticed", func() bool { v := s.Status(); return v.State != upstream.Ready || v.Connects > before })
			if got := s.text(t, "echo", `{"a":1}`, nil); got != `{"a":1}` {
				t.Errorf("got %q", got)
			}
		}
	})
}

// A server that stays away is named, with the reason and what to do.
func TestAway(t *testing.T) {
	dir := t.TempDir()
	script := filepath.Join(dir, "server")
	self, _ := os.Executable()
	write := func(s string) {
		if err := os.WriteFile(script+".new", []byte("#!/bin/sh\n"+s), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(script+".new", script); err != nil {
			t.Fatal(err)
		}
	}
	write("exec " + self)
	cfg := child(t, "half")
	cfg.Command = script
	u, err := upstream.Start(&upstream.Config{Name: "srv", Command: script, Env: cfg.Env},
		&upstream.Options{Backoff: time.Millisecond, Patience: 100 * time.Millisecond, Grace: 100 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer u.Close()
	s := (&server{changed: make(chan struct{}, 1)}).watch(t, u).ready(t)
	write("echo no license >&2; exit 7")
	s.text(t, "t", "", nil)
	s.until(t, "it has been started again", func() bool { return strings.Contains(fmt.Sprint(s.Status().Err), "exit status 7") })
	got := s.text(t, "t", "", nil)
	for _, want := range []string{`server "srv": server ended (exit status 7)`, "no license", "It was not carried out", "call again later"} {
		if !strings.Contains(got, want) {
			t.Errorf("got %q, want %q in it", got, want)
		}
	}
	if got := s.names(t); got != "t" {
		t.Errorf("tools %q", got)
	}
}

// Our own death ends the servers, however it comes.
func TestParentDeath(t *testing.T) {
	self, _ := os.Executable()
	parent := exec.Command(self)
	parent.Env = append(os.Environ(), partVariable+"=gateway")
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	var pid int
	if _, err := fmt.Fscan(out, &pid); err != nil || !alive(pid) {
		t.Fatalf("server %d: %v", pid, err)
	}
	_ = parent.Process.Kill()
	_ = parent.Wait()
	eventually(t, "the server is gone", func() bool { return !alive(pid) })
}
