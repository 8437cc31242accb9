//go:build unix

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// liveRelease returns a release whose program for this machine is the real one; those
// of other platforms are stubs. The given function writes its packages.
func liveRelease(t *testing.T, write func(*release) error) *release {
	t.Helper()
	if os.Getenv("TOOLPOST_LIVE") == "" {
		t.Skip("make live builds the program as it is released")
	}
	r := stubRelease(t, "v9.8.7")
	data, err := build()
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range r.programs {
		if p.goos == runtime.GOOS && p.goarch == runtime.GOARCH {
			r.programs[i].data = data
		}
	}
	if err := write(r); err != nil {
		t.Fatal(err)
	}
	return r
}

// A machine is a folder that has the home of a user who has nothing yet.
type machine struct {
	*testing.T
	root string   // the root of its files, if programs run in a root of their own
	home string   // as programs see it
	env  []string // of all programs
	uid  int      // who runs them in that root
}

// newMachine returns a machine whose user has an empty home.
func newMachine(t *testing.T, env ...string) *machine {
	t.Helper()
	folder, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	m := &machine{T: t, home: filepath.Join(folder, "home")}
	for _, dir := range []string{"home", "tmp"} {
		if err := os.Mkdir(filepath.Join(folder, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	m.env = append([]string{"HOME=" + m.home, "TMPDIR=" + filepath.Join(folder, "tmp"), "PATH=" + os.Getenv("PATH")}, env...)
	return m
}

// command returns a command that runs on the machine, in the user's home.
func (m *machine) command(args ...string) *exec.Cmd {
	if m.root == "" {
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir, cmd.Env = m.home, m.env
		return cmd
	}
	user := strconv.Itoa(m.uid)
	cmd := exec.Command("unshare", append([]string{"--mount", "--mount-proc", "--root", m.root, "--wd", m.home, "--setuid", user, "--setgid", user, "--"}, args...)...)
	cmd.Env = m.env
	return cmd
}

// newRoot returns a machine whose programs run with a root of their own, which has /proc
// and the user's home; they see the variables given only.
func newRoot(t *testing.T, root, home string, uid int, env ...string) *machine {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root may change the root of a program")
	}
	if out, err := exec.Command(need(t, "unshare"), "--mount", "--mount-proc", "true").CombinedOutput(); err != nil {
		t.Skipf("this machine does not let root mount: %v\n%s", err, out)
	}
	m := &machine{T: t, root: root, home: home, uid: uid, env: append([]string{"HOME=" + home}, env...)}
	if err := errors.Join(os.Chmod(root, 0o755), os.MkdirAll(filepath.Join(root, "proc"), 0o755), os.MkdirAll(m.path(""), 0o755), os.Chown(m.path(""), uid, uid)); err != nil {
		t.Fatal(err)
	}
	return m
}

// run returns what a command prints on standard output.
func (m *machine) run(args ...string) string {
	m.Helper()
	cmd := m.command(args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		m.Fatalf("%q: %v\n%s%s", args, err, out, stderr.Bytes())
	}
	return string(out)
}

// path returns the real path of a file in the user's home.
func (m *machine) path(name string) string { return filepath.Join(m.root, m.home, name) }

// files returns the content of every file below the folder of the machine.
func (m *machine) files() map[string]string {
	m.Helper()
	top := m.root
	if top == "" {
		top = filepath.Dir(m.home)
	}
	all := map[string]string{}
	err := filepath.WalkDir(top, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			if e != nil && e.Type()&fs.ModeSymlink != 0 {
				all[path], _ = os.Readlink(path)
			}
			return err
		}
		data, err := os.ReadFile(path)
		all[path] = string(data)
		return err
	})
	if err != nil {
		m.Fatal(err)
	}
	return all
}

// unchanged checks that the machine has the files that it had before, except below
// the given folders of the home, which belong to other programs.
func (m *machine) unchanged(before map[string]string, except ...string) {
	m.Helper()
	after := m.files()
	for _, path := range slices.Sorted(maps.Keys(after)) {
		old, ok := before[path]
		switch {
		case slices.ContainsFunc(except, func(dir string) bool { return strings.HasPrefix(path, m.path(dir)+"/") }):
		case !ok:
			m.Errorf("%s is left", path)
		case old != after[path]:
			m.Errorf("%s has another content", path)
		}
	}
	for path := range before {
		if _, ok := after[path]; !ok {
			m.Errorf("%s is gone", path)
		}
	}
}

// tryOut does with an installed program what a new user does: ask for its version, serve
// over standard output and HTTP, list tools, and link a client. At the end, it uninstalls.
func (m *machine) tryOut(toolpost ...string) {
	m.Helper()
	with := func(args ...string) []string { return append(slices.Clone(toolpost), args...) }
	if out := m.run(with("version")...); !strings.HasPrefix(out, "toolpost v9.8.7 ") {
		m.Errorf("the version is %q", out)
	}
	m.lists(with("list", "--"), with("serve", "--stdio"))
	s := m.serve(with("serve", "--addr", "127.0.0.1:0")...)
	m.lists(with("list", s.address), nil)
	s.end(-s.cmd.Process.Pid) // as a terminal or a service manager does, with all its processes
	m.link(with)
}

// lists checks that a command lists the tools of a folder.
func (m *machine) lists(list, serve []string) {
	m.Helper()
	if out := m.run(append(list, serve...)...); !strings.Contains(out, "grep") {
		m.Errorf("%q, %q lists %q", list, serve, out)
	}
}

var endpointPattern = regexp.MustCompile(`http://127\.0\.0\.1:\d+/mcp`)

// A server is a program that serves over HTTP.
type server struct {
	*machine
	address string
	cmd     *exec.Cmd
	output  *bufio.Scanner
}

// serve starts a program that serves over HTTP.
func (m *machine) serve(args ...string) *server {
	m.Helper()
	s := &server{machine: m, cmd: m.command(args...)}
	output, err := s.cmd.StdoutPipe()
	if err != nil {
		m.Fatal(err)
	}
	s.cmd.Stderr = s.cmd.Stdout
	if s.cmd.SysProcAttr == nil {
		s.cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	s.cmd.SysProcAttr.Setpgid = true
	if err := s.cmd.Start(); err != nil {
		m.Fatal(err)
	}
	m.Cleanup(func() { syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL) })
	text := ""
	for s.output = bufio.NewScanner(output); s.address == "" && s.output.Scan(); {
		text += s.output.Text() + "\n"
		s.address = endpointPattern.FindString(s.output.Text())
	}
	if s.address == "" {
		m.Fatalf("%q names no address:\n%s", args, text)
	}
	return s
}

// end ends a process, or a group of them, and waits until no process writes any more.
func (s *server) end(process int) {
	s.Helper()
	if err := syscall.Kill(process, syscall.SIGTERM); err != nil {
		s.Error(err)
	}
	for s.output.Scan() {
	}
	s.cmd.Wait()
}

// link links a client, starts what is written for it, and uninstalls.
func (m *machine) link(with func(...string) []string) {
	m.Helper()
	client := m.path(".cursor/mcp.json")
	before := "{\n  // mine\n  \"mcpServers\": {}\n}\n"
	if err := errors.Join(os.MkdirAll(filepath.Dir(client), 0o755), os.WriteFile(client, []byte(before), 0o644)); err != nil {
		m.Fatal(err)
	}
	serve := with("serve", "--stdio")
	servers, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"self": map[string]any{"command": serve[0], "args": serve[1:]}}})
	if err := errors.Join(err, os.WriteFile(m.path("servers.json"), servers, 0o644)); err != nil {
		m.Fatal(err)
	}
	defer os.RemoveAll(filepath.Dir(client))
	defer os.Remove(m.path("servers.json"))
	if m.uid != 0 {
		if err := errors.Join(os.Chown(filepath.Dir(client), m.uid, m.uid), os.Chown(client, m.uid, m.uid)); err != nil {
			m.Fatal(err)
		}
	}
	m.run(with("link", "cursor", "--yes", "--config", "servers.json")...)
	var file struct {
		Servers map[string]struct {
			Command string
			Args    []string
		} `json:"mcpServers"`
	}
	text := string(read(m.T, client))
	if err := json.Unmarshal([]byte(strings.Replace(text, "// mine\n", "", 1)), &file); err != nil {
		m.Fatalf("%v in\n%s", err, text)
	}
	entry, ok := file.Servers["toolpost"]
	if !ok {
		m.Fatalf("toolpost is not in\n%s", text)
	}
	linked := append([]string{entry.Command}, entry.Args...)
	for _, cache := range []string{"/_npx/", "/uv/archive-"} {
		if strings.Contains(linked[0], cache) {
			m.Errorf("the client is to start %s, which is in a cache", linked[0])
		}
	}
	m.lists(with("list", "--"), linked)
	m.run(with("uninstall", "--yes")...)
	if after := string(read(m.T, client)); after != before {
		m.Errorf("after uninstall, the file is\n%s", after)
	}
}

// need skips a test without a program.
func need(t *testing.T, program string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		t.Skipf("%s is not installed", program)
	}
	return path
}
