package sshsig_test

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/toolpost/toolpost/internal/sshsig"
)

func read(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestVerify checks a signature that ssh-keygen made, and refuses everything else.
func TestVerify(t *testing.T) {
	message, signature, signers := read(t, "message"), read(t, "message.sig"), read(t, "signers")
	other := bytes.Replace(signers, []byte("AAAAC3NzaC1lZDI1NTE5AAAAI"), []byte("AAAAC3NzaC1lZDI1NTE5AAAAJ"), 1)
	withOptions := bytes.Replace(signers, []byte(" ssh-"), []byte(` valid-before="20200101" ssh-`), 1)
	for _, test := range []struct {
		name               string
		message, signature []byte
		namespace          string
		signers            []byte
		want               string // in the error; empty for none
	}{
		{"right", message, signature, "toolpost", signers, ""},
		{"after a comment", message, signature, "toolpost", append([]byte("# the keys\n\n"), signers...), ""},
		{"another message", []byte("other\n"), signature, "toolpost", signers, "not one of this content"},
		{"another namespace", message, signature, "file", signers, `is for "toolpost", not for "file"`},
		{"another signer", message, signature, "toolpost", other, "none of the known signers"},
		{"a signer with options", message, signature, "toolpost", withOptions, "none of the known signers"},
		{"no signers", message, signature, "toolpost", nil, "none of the known signers"},
		{"no signature", message, nil, "toolpost", signers, "not an SSH signature"},
		{"a cut signature", message, []byte("-----BEGIN SSH SIGNATURE-----\nU1NIU0lHAAAAAQ==\n-----END SSH SIGNATURE-----\n"), "toolpost", signers, "cut off"},
	} {
		err := sshsig.Verify(test.message, test.signature, test.namespace, test.signers)
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
	}
}

// FuzzVerify: no signature crashes, and only the right one is accepted.
func FuzzVerify(f *testing.F) {
	message, signature, signers := read(f, "message"), read(f, "message.sig"), read(f, "signers")
	f.Add(message, signature)
	f.Add([]byte("other"), signature)
	f.Fuzz(func(t *testing.T, m, s []byte) {
		if sshsig.Verify(m, s, "toolpost", signers) == nil && !bytes.Equal(m, message) {
			t.Errorf("a signature of %q is accepted", m)
		}
	})
}
