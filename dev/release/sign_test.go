package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestSign: a release is signed by a key that the program knows, and by no other one, and
// ssh-keygen finds the signature right.
func TestSign(t *testing.T) {
	keygen, err := exec.LookPath("ssh-keygen")
	if err != nil {
		t.Skip("ssh-keygen is not installed")
	}
	folder := t.TempDir()
	key := filepath.Join(folder, "key")
	if out, err := exec.Command(keygen, "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", key).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Setenv(keyVariable, strings.TrimSpace(string(read(t, key))))
	r := &release{source: folder, out: t.TempDir()}
	signers := filepath.Join(folder, signersFile)
	if err := errors.Join(
		os.MkdirAll(filepath.Dir(signers), 0o755),
		os.WriteFile(signers, append([]byte("releases "), read(t, key+".pub")...), 0o644),
		r.put("checksums.txt", []byte("abc  toolpost.tar.gz\n")),
		r.sign(),
	); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(keygen, "-Y", "verify", "-f", signers, "-I", "releases", "-n", namespace, "-s", filepath.Join(r.out, "checksums.txt.sig"))
	cmd.Stdin = strings.NewReader("abc  toolpost.tar.gz\n")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}

	r.source, r.out = "../..", t.TempDir()
	if err := r.put("checksums.txt", nil); err != nil {
		t.Fatal(err)
	}
	if err := r.sign(); err == nil || !strings.Contains(err.Error(), "does not have the key") {
		t.Errorf("a key that the program does not know: %v", err)
	}
}
