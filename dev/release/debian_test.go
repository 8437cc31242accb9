//go:build unix

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestDebianPackage: a package has the three members that dpkg expects, names its
// architecture, and has the program, the checksums and the completion of shells.
func TestDebianPackage(t *testing.T) {
	r := stubRelease(t, "v9.8.7-rc.1")
	if err := writeDebian(r); err != nil {
		t.Fatal(err)
	}
	members := unar(t, read(t, filepath.Join(r.out, "toolpost_9.8.7-rc.1_arm64.deb")))
	if string(members["debian-binary"]) != "2.0\n" {
		t.Errorf("the version of the format is %q", members["debian-binary"])
	}
	about, data := untar(t, members["control.tar.gz"]), untar(t, members["data.tar.gz"])
	for _, want := range []string{"Package: toolpost\n", "Version: 9.8.7~rc.1\n", "Architecture: arm64\n"} {
		if !strings.Contains(string(about["./control"]), want) {
			t.Errorf("what describes the package lacks %q:\n%s", want, about["./control"])
		}
	}
	if len(about) != 2 || !bytes.Contains(about["./md5sums"], []byte("  usr/bin/toolpost\n")) {
		t.Errorf("the checksums are\n%s", about["./md5sums"])
	}
	if len(data["./usr/bin/toolpost"]) == 0 || string(data["./"+completions["zsh"]]) != "[completion zsh]\n" {
		t.Error("the package lacks the program or the completion of zsh")
	}
	if len(data["./usr/share/man/man1/toolpost.1.gz"]) == 0 {
		t.Error("the package lacks the manual page")
	}
	for _, dir := range []string{"./", "./usr/", "./usr/bin/", "./usr/share/doc/toolpost/"} {
		if _, ok := data[dir]; !ok {
			t.Errorf("the package lacks the folder %s", dir)
		}
	}
}

// TestDebianInstall installs the package with dpkg in an empty root, and removes it.
func TestDebianInstall(t *testing.T) {
	dpkg := need(t, "dpkg")
	r := liveRelease(t, writeDebian)
	m := newRoot(t, t.TempDir(), "/home", 0, "PATH=/usr/bin")
	admin := filepath.Join(m.root, "var/lib/dpkg")
	for _, dir := range []string{"updates", "info"} {
		if err := os.MkdirAll(filepath.Join(admin, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(admin, "status"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	before := m.files()
	host := newMachine(t)
	architecture := strings.TrimSpace(host.run(dpkg, "--print-architecture"))
	host.run(dpkg, "--root="+m.root, "--install", filepath.Join(r.out, "toolpost_9.8.7_"+architecture+".deb"))
	if out := host.run(dpkg, "--root="+m.root, "--verify", "toolpost"); out != "" {
		t.Errorf("dpkg --verify: %s", out)
	}
	if script := read(t, filepath.Join(m.root, completions["bash"])); !bytes.Contains(script, []byte("__start_toolpost")) {
		t.Errorf("the completion of bash is\n%.200s", script)
	}
	if page := filepath.Join(m.root, "usr/share/man/man1/toolpost-service-install.1.gz"); len(read(t, page)) == 0 {
		t.Errorf("%s is empty", page)
	}
	m.tryOut("/usr/bin/toolpost")
	host.run(dpkg, "--root="+m.root, "--purge", "toolpost")
	if err := os.RemoveAll(admin); err != nil { // which has the notes of dpkg
		t.Fatal(err)
	}
	for path := range before {
		if strings.HasPrefix(path, admin) {
			delete(before, path)
		}
	}
	m.unchanged(before, "../var/log")
}

// unar returns the members of an archive of ar.
func unar(t *testing.T, data []byte) map[string][]byte {
	t.Helper()
	data, ok := bytes.CutPrefix(data, []byte("!<arch>\n"))
	if !ok {
		t.Fatal("the archive is not one of ar")
	}
	all := map[string][]byte{}
	for len(data) > 0 {
		header := data[:60]
		size, err := strconv.Atoi(strings.TrimSpace(string(header[48:58])))
		if err != nil || string(header[58:]) != "`\n" {
			t.Fatalf("the header is %q", header)
		}
		all[strings.TrimSpace(string(header[:16]))] = data[60 : 60+size]
		data = data[60+size+size%2:]
	}
	return all
}
