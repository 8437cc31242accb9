package install_test

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/install"
)

// The name of a bundle's folder has the whole digest, and folders that a killed
// process left are removed.
func TestBundleFolder(t *testing.T) {
	file := bundle(t, member{"manifest.json", manifest, 0}, member{"bin/run", "#!", 0o755})
	dir := filepath.Join(t.TempDir(), "bundles")
	p, err := install.FromBundle(file, dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	if name := filepath.Base(p.Folder()); len(name) != len("My-Weather-")+64 {
		t.Errorf("the folder is %s", name)
	}
	left, fresh := filepath.Join(dir, ".new-1"), filepath.Join(dir, ".new-2")
	for _, path := range []string{left, fresh} {
		if err := os.MkdirAll(path, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	old := time.Now().Add(-48 * time.Hour)
	if err := os.Chtimes(left, old, old); err != nil {
		t.Fatal(err)
	}
	if err := p.Unpack(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(left); err == nil {
		t.Error("an old folder is left")
	}
	if _, err := os.Stat(fresh); err != nil {
		t.Error("the folder of another process is removed")
	}
}

func TestVariablesOfContainerTools(t *testing.T) {
	for _, name := range []string{"CONTAINER_HOST", "CONTAINERS_CONF", "container_sshkey"} {
		text := `{"name": "a/b", "packages": [{"registryType": "oci", "identifier": "a/b", "environmentVariables": [{"name": "` + name + `", "value": "x"}]}]}`
		if _, err := install.FromServerJSON([]byte(text), "", nil); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// An option that an error proposes is one word for a shell, whatever a stranger
// calls a value.
func TestProposedOptionIsQuoted(t *testing.T) {
	const text = `{"name": "a/b", "remotes": [{"type": "sse", "url": "https://a.example/", "headers": [{"name": "x'; rm -rf $HOME #", "choices": ["a"], "default": "a"}]}]}`
	_, err := install.FromServerJSON([]byte(text), "", &install.Answers{Given: map[string][]string{"x'; rm -rf $HOME #": {"b"}}})
	if err == nil || !strings.Contains(err.Error(), `--set 'x'\''; rm -rf $HOME #=VALUE'`) {
		t.Error(err)
	}
}

// The list of an archive's files is not read further than its bound, whatever the number
// of files says.
func TestLongListOfFiles(t *testing.T) {
	header := append([]byte("PK\x01\x02"), make([]byte, 42)...)
	const entries = 400_000
	list := bytes.Repeat(header, entries)
	end := append([]byte("PK\x05\x06"), make([]byte, 18)...)
	binary.LittleEndian.PutUint16(end[8:], entries&0xffff)
	binary.LittleEndian.PutUint16(end[10:], entries&0xffff)
	binary.LittleEndian.PutUint32(end[12:], uint32(len(list)))
	file := filepath.Join(t.TempDir(), "long.mcpb")
	if err := os.WriteFile(file, append(list, end...), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := install.FromBundle(file, t.TempDir(), nil); err == nil || !strings.Contains(err.Error(), "its list of files has more than") {
		t.Errorf("got %v", err)
	}
}

// Files that overlap in an archive are together not larger than it: the bound of what is
// unpacked counts its bytes once.
func TestOverlappingFiles(t *testing.T) {
	noise := make([]byte, 15_000)
	_, _ = rand.NewChaCha8([32]byte{}).Read(noise)
	plain := bundle(t, member{"manifest.json", manifest, 0}, member{"a", string(noise) + strings.Repeat("\x00", 3<<20), 0}) // 170 times as large as packed
	data, err := os.ReadFile(plain)
	if err != nil {
		t.Fatal(err)
	}
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	// The same compressed bytes under further names: the local header is not compared.
	end := bytes.LastIndex(data, []byte("PK\x05\x06"))
	listed := data[binary.LittleEndian.Uint32(data[end+16:]):end]
	last := listed[bytes.LastIndex(listed, []byte("PK\x01\x02")):]
	name := len(z.File[len(z.File)-1].Name)
	var more []byte
	const copies = 28
	for i := range copies {
		entry := bytes.Clone(last)
		entry[46+name-1] = byte('b' + i)
		more = append(more, entry...)
	}
	out := append(bytes.Clone(data[:end]), more...)
	tail := bytes.Clone(data[end:])
	binary.LittleEndian.PutUint16(tail[8:], uint16(len(z.File)+copies))
	binary.LittleEndian.PutUint16(tail[10:], uint16(len(z.File)+copies))
	binary.LittleEndian.PutUint32(tail[12:], uint32(len(listed)+len(more)))
	file := filepath.Join(t.TempDir(), "overlap.mcpb")
	if err := os.WriteFile(file, append(out, tail...), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := install.FromBundle(file, t.TempDir(), nil); err == nil || !strings.Contains(err.Error(), "too large when they are unpacked") {
		t.Errorf("got %v", err)
	}
}
