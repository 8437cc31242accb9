package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/toolpost/toolpost/internal/sshsig"
)

// What the signature of a release is made with: the variable that has the private key, in
// OpenSSH's form, and the namespace, which keeps the key's other signatures apart.
const (
	keyVariable = "TOOLPOST_SIGNING_KEY"
	namespace   = "toolpost-release"
	signersFile = "cmd/toolpost/internal/upgrade/signers.txt"
)

// sign signs the checksums, if the environment has the key. The program must know the key:
// "toolpost upgrade" refuses other signatures.
func (r *release) sign() error {
	key := os.Getenv(keyVariable)
	if key == "" {
		fmt.Fprintln(os.Stderr, "release: the checksums are not signed, because", keyVariable, "is not set")
		return nil
	}
	folder, err := os.MkdirTemp("", "toolpost-release-") // for us alone
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	file, sums := filepath.Join(folder, "key"), filepath.Join(r.out, "checksums.txt")
	if err := os.WriteFile(file, []byte(key+"\n"), 0o600); err != nil {
		return err
	}
	if out, err := exec.Command("ssh-keygen", "-q", "-Y", "sign", "-n", namespace, "-f", file, sums).CombinedOutput(); err != nil {
		return fmt.Errorf("sign the checksums: %w\n%s", err, out)
	}
	message, err := os.ReadFile(sums)
	signature, readErr := os.ReadFile(sums + ".sig")
	signers, signersErr := os.ReadFile(filepath.Join(r.source, signersFile))
	if err := errors.Join(err, readErr, signersErr); err != nil {
		return err
	}
	if err := sshsig.Verify(message, signature, namespace, signers); err != nil {
		return fmt.Errorf("%s does not have the key of %s: %w", signersFile, keyVariable, err)
	}
	return nil
}
