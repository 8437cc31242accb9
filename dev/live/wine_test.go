//go:build linux && amd64

package live

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// The tests of what Windows does otherwise pass there, as far as Wine can show it: files
// that are replaced, watched and appended to, session files, ends of processes. Wine has
// no locks of folders and no other user; Windows itself was not there.
func TestWine(t *testing.T) {
	peer(t, "node", "", ".") // skips without the parts
	wine := newWine(t)
	for _, test := range []struct{ pkg, only string }{
		{"internal/atomicfile", "."}, {"internal/procgroup", "."}, {"internal/filewatch", "."}, {"internal/environ", "."}, {"usage", "."},
		{"agent", "File|Session|Store|Keep|Record|Resume|Torn"},
	} {
		t.Run(test.pkg, func(t *testing.T) {
			exe := filepath.Join(t.TempDir(), "test.exe")
			ctx, cancel := context.WithTimeout(t.Context(), wineTime)
			defer cancel()
			build := exec.CommandContext(ctx, "go", "test", "-c", "-gcflags=all=-dwarf=false", "-overlay", wine.overlay, "-o", exe, "./"+test.pkg)
			build.Dir, build.Env = "../..", append(os.Environ(), "GOOS=windows", "GOARCH=amd64", "CGO_ENABLED=0")
			if out, err := build.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			var out []byte
			var err error
			for range 3 { // Wine itself may end without a word, and has not started the program then
				if out, err = wine.run(t, filepath.Join("../..", test.pkg), exe, "-test.short", "-test.v", "-test.run", test.only); len(out) > 0 {
					break
				}
			}
			if err != nil || !bytes.Contains(out, []byte("--- PASS")) {
				t.Errorf("%v\n%s", err, tail(string(out), 60))
			}
		})
	}
}

// wineTime is what a build, and a run, may take.
const wineTime = 3 * time.Minute

// A wine runs programs for Windows in a system of their own.
type wine struct {
	dir     string // of the system
	overlay string // for the compiler
}

func newWine(t *testing.T) *wine {
	t.Helper()
	if _, err := exec.LookPath("wine"); err != nil {
		t.Skipf("%v: dev/live/install.sh installs it with apt", err)
	}
	w := &wine{dir: filepath.Join(t.TempDir(), "system")}
	t.Cleanup(func() { _, _ = w.run(t, ".", "wineserver", "--kill", "--wait") })
	if out, err := w.run(t, ".", "wineboot", "--init"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	w.completeSystem(t)
	w.overlay = standardLibrary(t)
	return w
}

// run runs a program, one for Windows if its name says so.
func (w *wine) run(t *testing.T, dir, name string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), wineTime)
	defer cancel()
	if strings.HasSuffix(name, ".exe") {
		name, args = "wine", append([]string{name}, args...)
	}
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.WaitDelay = dir, 10*time.Second // its services may hold the pipes
	cmd.Env = append(os.Environ(), "HOME="+filepath.Dir(w.dir), "WINEPREFIX="+w.dir, "WINEDEBUG=-all", "WINEDLLOVERRIDES=mscoree,mshtml,winemenubuilder.exe=", "DISPLAY=")
	out, err := cmd.CombinedOutput()
	if errors.Is(err, exec.ErrWaitDelay) {
		err = nil
	}
	return out, err
}

// completeSystem adds the library for random numbers that Go needs, if this version of
// Wine does not have it yet: it passes its only function on to the older one.
func (w *wine) completeSystem(t *testing.T) {
	t.Helper()
	file := filepath.Join(w.dir, "drive_c/windows/system32/bcryptprimitives.dll")
	if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err := os.WriteFile(file, forwardingLibrary("bcryptprimitives.dll", "ProcessPrng", "advapi32.SystemFunction036"), 0o644); err != nil {
		t.Fatal(err)
	}
}

// forwardingLibrary returns a library for 64 bits with one function, which is that of
// another library (Microsoft's PE format, export forwarders).
func forwardingLibrary(library, function, target string) []byte {
	const (
		page, aligned = 0x1000, 0x200
		headers       = 64 + 4 + 20 + 240 + 40
		lists         = page + 40 // after the directory: addresses, names, ordinals
		texts         = lists + 4 + 4 + 2
	)
	le := binary.LittleEndian
	name, place := texts+len(library)+1, texts+len(library)+1+len(function)+1
	section := binary.LittleEndian.AppendUint32(make([]byte, 12), texts)
	for _, field := range []int{1, 1, 1, lists, lists + 4, lists + 8, place, name} {
		section = le.AppendUint32(section, uint32(field))
	}
	section = le.AppendUint16(section, 0)
	section = append(section, library+"\x00"+function+"\x00"+target+"\x00"...)

	image := make([]byte, headers, 2*aligned)
	copy(image, "MZ")
	image[60] = 64
	copy(image[64:], "PE\x00\x00")
	set16 := func(at, value int) { le.PutUint16(image[at:], uint16(value)) }
	set32 := func(at, value int) { le.PutUint32(image[at:], uint32(value)) }
	set16(68, 0x8664) // AMD64
	set16(70, 1)      // section
	set16(84, 240)    // the size of the optional header
	set16(86, 0x2022) // a library for large addresses
	const optional = 88
	set16(optional, 0x20b) // 64 bits
	set32(optional+8, aligned)
	set32(optional+20, page)
	le.PutUint64(image[optional+24:], 0x180000000)
	set32(optional+32, page)
	set32(optional+36, aligned)
	set16(optional+40, 6)
	set16(optional+48, 6)
	set32(optional+56, 2*page)
	set32(optional+60, aligned)
	set16(optional+68, 3) // for the console
	set16(optional+70, 0x100)
	set32(optional+108, 16) // directories, of which the first are the exports
	set32(optional+112, page)
	set32(optional+116, len(section))
	const header = optional + 240
	copy(image[header:], ".edata")
	set32(header+8, len(section))
	set32(header+12, page)
	set32(header+16, aligned)
	set32(header+20, aligned)
	set32(header+36, 0x40000040) // data to read
	image = append(image[:aligned:aligned], make([]byte, aligned)...)
	copy(image[aligned:], section)
	return image
}

// standardLibrary returns an overlay for the compiler in which files are deleted as on
// Windows before 10, which is all that Wine knows. Go notices that on Windows itself.
func standardLibrary(t *testing.T) string {
	t.Helper()
	const file, always = "src/internal/syscall/windows/at_windows.go", "if TestDeleteatFallback {"
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	original := filepath.Join(strings.TrimSpace(string(root)), file)
	source, err := os.ReadFile(original)
	if err != nil || !bytes.Contains(source, []byte(always)) {
		t.Skipf("%s of %s has no %q any more (%v)", file, runtime.Version(), always, err)
	}
	dir := t.TempDir()
	changed, overlay := filepath.Join(dir, "at_windows.go"), filepath.Join(dir, "overlay.json")
	replace, _ := json.Marshal(map[string]any{"Replace": map[string]string{original: changed}})
	err = errors.Join(
		os.WriteFile(changed, bytes.Replace(source, []byte(always), []byte("if true {"), 1), 0o644),
		os.WriteFile(overlay, replace, 0o644),
	)
	if err != nil {
		t.Fatal(err)
	}
	return overlay
}
