package upgrade

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/cli"
)

// A publisher signs releases and serves them on loopback.
type publisher struct {
	*testing.T
	key     string // the file of the private key
	signers []byte
	mux     *http.ServeMux
	address string
}

func newPublisher(t *testing.T) *publisher {
	t.Helper()
	keygen, err := exec.LookPath("ssh-keygen")
	if err != nil {
		t.Skip("ssh-keygen is not installed")
	}
	p := &publisher{T: t, key: filepath.Join(t.TempDir(), "key"), mux: http.NewServeMux()}
	if out, err := exec.Command(keygen, "-q", "-t", "ed25519", "-N", "", "-f", p.key).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	public, err := os.ReadFile(p.key + ".pub")
	if err != nil {
		t.Fatal(err)
	}
	p.signers = append([]byte("releases "), public...)
	server := httptest.NewServer(p.mux)
	t.Cleanup(server.Close)
	p.address = server.URL
	return p
}

// publish serves a release as the newest one. The archive may be another one than that
// whose checksum is signed.
func (p *publisher) publish(version string, archive, signed []byte) {
	p.Helper()
	name := "toolpost_" + version + "_" + runtime.GOOS + "_" + runtime.GOARCH + ".tar.gz"
	if runtime.GOOS == "windows" {
		name = strings.TrimSuffix(name, ".tar.gz") + ".zip"
	}
	sums := fmt.Appendf(nil, "%x  %s\n", sha256.Sum256(signed), name)
	cmd := exec.Command("ssh-keygen", "-Y", "sign", "-n", namespace, "-f", p.key)
	cmd.Stdin = bytes.NewReader(sums)
	signature, err := cmd.Output()
	if err != nil {
		p.Fatal(err)
	}
	for path, data := range map[string][]byte{
		"/latest/download/checksums.txt": sums, "/latest/download/checksums.txt.sig": signature,
		"/download/v" + version + "/" + name: archive,
	} {
		p.mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) { w.Write(data) })
	}
}

// pack returns an archive as that of a release for this platform.
func pack(t *testing.T, program string) []byte {
	t.Helper()
	var b bytes.Buffer
	if runtime.GOOS == "windows" {
		z := zip.NewWriter(&b)
		f, err := z.Create("toolpost.exe")
		if err != nil {
			t.Fatal(err)
		}
		f.Write([]byte(program))
		z.Close()
		return b.Bytes()
	}
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, f := range [][2]string{{"README.md", "text"}, {"toolpost", program}} {
		if err := w.WriteHeader(&tar.Header{Name: f[0], Mode: 0o755, Size: int64(len(f[1]))}); err != nil {
			t.Fatal(err)
		}
		w.Write([]byte(f[1]))
	}
	w.Close()
	z.Close()
	return b.Bytes()
}

// TestUpgrade: the program is replaced by a newer one whose checksum is signed, and by
// nothing else.
func TestUpgrade(t *testing.T) {
	archive := pack(t, "new")
	for _, test := range []struct {
		name, version, published string
		archive                  []byte
		check, strange           bool
		want, program            string
	}{
		{"newer", "v1.2.3", "1.10.0", archive, false, false, "from v1.2.3 to v1.10.0", "new"},
		{"the release after its candidate", "v1.2.3-rc.2", "1.2.3", archive, false, false, "to v1.2.3.", "new"},
		{"only looking", "v1.2.3", "1.3.0", archive, true, false, "run\n\n  toolpost upgrade\n", "old"},
		{"the same", "v1.2.3", "1.2.3", archive, false, false, "is the newest release", "old"},
		{"older", "v1.2.3", "1.2.2", archive, false, false, "is the newest release", "old"},
		{"a candidate of this", "v1.2.3", "1.2.3-rc.1", archive, false, false, "is the newest release", "old"},
		{"another archive", "v1.2.3", "1.3.0", pack(t, "evil"), false, false, "is not the file that was signed", "old"},
		{"another signer", "v1.2.3", "1.3.0", archive, false, true, "none of the known signers", "old"},
		{"not a release", "v1.2.3-0.20260101-abcdef", "1.3.0", archive, false, false, "is not one of a release", "old"},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := newPublisher(t)
			p.publish(test.published, test.archive, archive)
			program := filepath.Join(t.TempDir(), "toolpost")
			if err := os.WriteFile(program, []byte("old"), 0o755); err != nil {
				t.Fatal(err)
			}
			u := &upgrade{address: p.address, signers: p.signers, program: program, version: test.version, change: &cli.Change{}}
			if test.strange {
				u.signers = signers
			}
			var out bytes.Buffer
			if err := u.run(t.Context(), &out, test.check); err != nil {
				fmt.Fprintln(&out, err)
			}
			if !strings.Contains(out.String(), test.want) {
				t.Errorf("it says %q, want %q", out.String(), test.want)
			}
			data, err := os.ReadFile(program)
			if err != nil || string(data) != test.program {
				t.Errorf("the program is %q, %v; want %q", data, err, test.program)
			}
			if info, err := os.Stat(program); err != nil || runtime.GOOS != "windows" && info.Mode() != 0o755 {
				t.Errorf("the mode is %v, %v", info.Mode(), err)
			}
		})
	}
}

// TestInstaller: a program of a package manager is upgraded by it.
func TestInstaller(t *testing.T) {
	venv := t.TempDir()
	if err := os.WriteFile(filepath.Join(venv, "pyvenv.cfg"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"/home/u/.npm/_npx/1a2b/node_modules/@toolpost/linux-x64/bin/toolpost":                      "npx toolpost@latest",
		"/usr/lib/node_modules/toolpost/node_modules/@toolpost/linux-x64/bin/toolpost":              "npm install --global toolpost@latest",
		"/home/u/.local/share/uv/tools/toolpost/bin/toolpost":                                       "uv tool upgrade toolpost",
		"/home/u/.cache/uv/archive-v0/x/bin/toolpost":                                               "uvx toolpost@latest",
		"/home/u/.local/share/pipx/venvs/toolpost/bin/toolpost":                                     "pipx upgrade toolpost",
		"/opt/homebrew/Cellar/toolpost/1.2.3/bin/toolpost":                                          "brew upgrade toolpost",
		"/Users/u/AppData/Local/Microsoft/WinGet/Packages/Toolpost.Toolpost_Microsoft/toolpost.exe": "winget upgrade Toolpost.Toolpost",
		"/toolpost":                            "docker pull ghcr.io/toolpost/toolpost",
		"/home/u/bin/toolpost":                 "",
		filepath.Join(venv, "bin", "toolpost"): "python -m pip install --upgrade toolpost",
	} {
		if got := installer(filepath.FromSlash(path)); got != want {
			t.Errorf("%s is upgraded with %q, want %q", path, got, want)
		}
		if got := Remover(filepath.FromSlash(path)); got == "" || strings.HasPrefix(got, "rm ") != (want == "") && runtime.GOOS != "windows" {
			t.Errorf("%s is removed with %q", path, got)
		}
	}
}
