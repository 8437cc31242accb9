//go:build linux

package main

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A process is one that is measured, or the upstream.
type process struct {
	cmd    *exec.Cmd
	log    string // file
	done   chan struct{}
	folder string
}

// start starts a command with a home of its own. What it writes goes to a file.
func start(folder string, env []string, command ...string) (*process, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	log, err := os.Create(filepath.Join(folder, "log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	p := &process{cmd: exec.Command(command[0], command[1:]...), log: log.Name(), done: make(chan struct{}), folder: folder}
	p.cmd.Dir = folder
	p.cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + folder, "TMPDIR=" + folder}, env...)
	p.cmd.Stdout, p.cmd.Stderr = log, log
	// Its children, such as an upstream, end with it even if it is killed.
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(p.done)
		_ = p.cmd.Wait() // it is stopped by a signal
	}()
	return p, nil
}

// stop ends the process and all that it started.
func (p *process) stop() {
	_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGTERM)
	select {
	case <-p.done:
	case <-time.After(5 * time.Second):
	}
	_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
	<-p.done
	_ = os.RemoveAll(p.folder)
}

// lastLines returns the end of what it wrote.
func (p *process) lastLines() string {
	data, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	return strings.TrimSpace(string(data[max(0, len(data)-400):]))
}

// until waits until a condition holds, as long as the process runs.
func (p *process) until(limit time.Duration, condition func() error) error {
	for end := time.Now().Add(limit); ; {
		err := condition()
		if err == nil {
			return nil
		}
		select {
		case <-p.done:
			return fmt.Errorf("%s has ended: %s", filepath.Base(p.cmd.Path), p.lastLines())
		case <-time.After(20 * time.Millisecond):
		}
		if time.Now().After(end) {
			return fmt.Errorf("not ready within %v: %w: %s", limit, err, p.lastLines())
		}
	}
}

// cpu returns the time that the process, without its children, has used.
func (p *process) cpu() (time.Duration, error) {
	data, err := os.ReadFile(p.proc("stat"))
	if err != nil {
		return 0, err
	}
	// The name in brackets may contain spaces.
	fields := bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:])
	if len(fields) < 13 {
		return 0, errors.New("/proc/PID/stat is not as expected")
	}
	var ticks int64
	for _, f := range fields[11:13] { // user, system
		n, err := strconv.ParseInt(string(f), 10, 64)
		if err != nil {
			return 0, err
		}
		ticks += n
	}
	return time.Duration(ticks) * time.Second / ticksPerSecond, nil
}

// ticksPerSecond is USER_HZ, which is the same on all machines that Go supports.
const ticksPerSecond = 100

// memory returns a line of /proc/PID/status in MiB: VmRSS, what is resident, or
// VmHWM, the most that was.
func (p *process) memory(name string) (float64, error) {
	data, err := os.ReadFile(p.proc("status"))
	if err != nil {
		return 0, err
	}
	_, after, _ := bytes.Cut(data, []byte(name+":"))
	fields := bytes.Fields(after)
	if len(fields) == 0 {
		return 0, errors.New("/proc/PID/status has no " + name)
	}
	kib, err := strconv.ParseFloat(string(fields[0]), 64)
	return kib / 1024, err
}

// A usage is what a process has used so far; memory is in MiB.
type usage struct {
	cpu            time.Duration
	resident, peak float64
}

// usage returns nothing of a subject without a process.
func (p *process) usage() (u usage, err error) {
	if p == nil {
		return u, nil
	}
	u.cpu, err = p.cpu()
	if err == nil {
		u.resident, err = p.memory("VmRSS")
	}
	if err == nil {
		u.peak, err = p.memory("VmHWM")
	}
	return u, err
}

// resetPeak makes VmHWM start again from what is resident now.
func (p *process) resetPeak() error {
	if p == nil {
		return nil
	}
	return os.WriteFile(p.proc("clear_refs"), []byte("5"), 0)
}

func (p *process) proc(file string) string {
	return filepath.Join("/proc", strconv.Itoa(p.cmd.Process.Pid), file)
}

// freeAddress returns an address of loopback that nobody listened on a moment ago.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}
