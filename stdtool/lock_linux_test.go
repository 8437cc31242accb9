package stdtool

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/atomicfile"
	"github.com/toolpost/toolpost/internal/filelock"
)

// tools returns a function that calls the writing tools over dir. It returns the
// text of the result and whether the call succeeded.
func tools(t *testing.T, dir string) func(name string, arguments any) (string, bool) {
	t.Helper()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	set, err := toolpost.NewSet(t.Context(), NewWorkspace(root))
	if err != nil {
		t.Fatal(err)
	}
	return func(name string, arguments any) (string, bool) {
		raw, err := json.Marshal(arguments)
		if err != nil {
			t.Fatal(err)
		}
		r, err := set.Call(t.Context(), &toolpost.Call{Name: name, Arguments: raw})
		if err != nil {
			t.Fatal(err)
		}
		text, _ := r.FirstText()
		return text, !r.IsError()
	}
}

// processes runs the test that calls it in two processes at once, which get
// "1 DIR" and "2 DIR".
func processes(t *testing.T, dir string) {
	t.Helper()
	var running sync.WaitGroup
	for i := range 2 {
		running.Go(func() {
			if err := again(t, fmt.Sprint(i+1, " ", dir), nil); err != nil {
				t.Error(err)
			}
		})
	}
	running.Wait()
}

// TestProcessesEdit has two processes replace lines of one file. Every edit that
// was acknowledged must be in the file.
func TestProcessesEdit(t *testing.T) {
	const edits = 200
	if id, dir, ok := strings.Cut(os.Getenv("TOOLPOST_AGAIN"), " "); ok {
		call := tools(t, dir)
		for i := range edits {
			old := fmt.Sprintf("%s-%d: open\n", id, i)
			if text, ok := call("edit", map[string]any{"path": "f", "old_string": old, "new_string": strings.Replace(old, "open", "done", 1)}); !ok {
				t.Fatal(text)
			}
		}
		return
	}
	dir := t.TempDir()
	var before strings.Builder
	for i := range edits {
		fmt.Fprintf(&before, "1-%d: open\n2-%d: open\n", i, i)
	}
	if err := os.WriteFile(filepath.Join(dir, "f"), []byte(before.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	processes(t, dir)
	after, err := os.ReadFile(filepath.Join(dir, "f"))
	if want := strings.ReplaceAll(before.String(), "open", "done"); err != nil || string(after) != want {
		t.Errorf("%d of %d edits were lost (%v)", strings.Count(string(after), "open"), 2*edits, err)
	}
}

// TestProcessesGuarded has two processes replace a whole file by its hash. Each
// file that was acknowledged must be the base of the next one.
func TestProcessesGuarded(t *testing.T) {
	const writes = 50
	if id, dir, ok := strings.Cut(os.Getenv("TOOLPOST_AGAIN"), " "); ok {
		call := tools(t, dir)
		for done := 0; done < writes; {
			content, err := os.ReadFile(filepath.Join(dir, "f"))
			if err != nil {
				t.Fatal(err)
			}
			text, ok := call("write", map[string]any{"path": "f", "expected_hash": contentHash(content)[:16], "content": string(content) + id + "\n"})
			if ok {
				done++
			} else if !strings.Contains(text, "has changed since") {
				t.Fatal(text)
			}
		}
		return
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "f"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	processes(t, dir)
	after, err := os.ReadFile(filepath.Join(dir, "f"))
	if n := strings.Count(string(after), "\n"); err != nil || n != 2*writes {
		t.Errorf("%d of %d writes were lost (%v)", 2*writes-n, 2*writes, err)
	}
}

// TestProcessesCreate has two processes make the same files, each in a directory
// that is not there. Exactly one of them makes a file.
func TestProcessesCreate(t *testing.T) {
	const files = 50
	name := func(i int) string { return fmt.Sprintf("new-%d/deep/f", i) }
	if id, dir, ok := strings.Cut(os.Getenv("TOOLPOST_AGAIN"), " "); ok {
		call := tools(t, dir)
		for i := range files {
			if _, ok := call("edit", map[string]any{"path": name(i), "old_string": "", "new_string": id}); ok {
				if err := os.WriteFile(filepath.Join(dir, fmt.Sprint("made-", i, "-", id)), nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
		return
	}
	dir := t.TempDir()
	processes(t, dir)
	for i := range files {
		made, _ := filepath.Glob(filepath.Join(dir, fmt.Sprint("made-", i, "-*")))
		content, err := os.ReadFile(filepath.Join(dir, name(i)))
		if len(made) != 1 || err != nil || !strings.HasSuffix(made[0], "-"+string(content)) {
			t.Errorf("file %d holds %q, and was made by %v (%v)", i, content, made, err)
		}
	}
}

// TestLockMoved checks that a lock is on the directory that has the name, and
// not on one that had it.
func TestLockMoved(t *testing.T) {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if err := root.Mkdir("a", 0o700); err != nil {
		t.Fatal(err)
	}
	held, err := root.Open("a")
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	if err := filelock.Try(held, true); err != nil {
		t.Skip(err)
	}
	f := NewWorkspace(root)
	got := make(chan error)
	go func() {
		unlock, err := f.lockFolders(t.Context(), "a/new", "a/new")
		if err == nil {
			unlock()
		}
		got <- err
	}()
	if err := root.Rename("a", "b"); err != nil { // nobody has a now
		t.Fatal(err)
	}
	filelock.Release(held)
	if err := <-got; err != nil {
		t.Error(err)
	}
	if n := f.locks.Len(); n > 0 {
		t.Errorf("%d names are still locked", n)
	}
}

// TestTempLeavesNothing checks that a process that is killed while it writes
// leaves no file, where the file system allows that.
func TestTempLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	temp, err := namelessTemp(root, 0o600)
	if err != nil {
		t.Skip(err)
	}
	if _, err := temp.WriteString("text"); err != nil {
		t.Fatal(err)
	}
	if names := fileNames(t, dir); len(names) > 0 {
		t.Errorf("%v are there", names)
	}
	if err := temp.create("f"); err != nil {
		t.Fatal(err)
	}
	if err := temp.create("f"); err == nil {
		t.Error("a file was overwritten")
	}
	if err := temp.replace("g"); err != nil {
		t.Fatal(err)
	}
	temp.drop()
	if names := strings.Join(fileNames(t, dir), " "); names != "f g" {
		t.Errorf("%s are there", names)
	}
}

// TestStale checks that what other processes left long ago is removed, and nothing
// else; and that not each edit reads all names of the directory.
func TestStale(t *testing.T) {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	f := NewWorkspace(root)
	old, left := time.Now().Add(-2*time.Hour), atomicfile.TempName()
	write := func(name string, at time.Time) {
		if err := errors.Join(root.WriteFile(name, nil, 0o600), root.Chtimes(name, at, at)); err != nil {
			t.Fatal(err)
		}
	}
	save := func(want ...string) {
		t.Helper()
		d, err := f.open(t.Context(), "f")
		if err != nil {
			t.Fatal(err)
		}
		defer d.unlock()
		if err := d.save([]byte("text")); err != nil {
			t.Error(err)
		}
		want = append(want, "f")
		slices.Sort(want)
		if got := fileNames(t, dir); !slices.Equal(got, want) {
			t.Errorf("%q are there, want %q", got, want)
		}
	}
	const mine, fresh = ".toolpost-mine", ".toolpost-ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	write(left, old)
	write(mine, old)
	write(fresh, time.Now())
	save(mine, fresh)
	write(left, old)
	save(mine, fresh, left)
	f.swept.at["."] = old
	save(mine, fresh)
}

func fileNames(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// TestEditMount edits a file that is mounted, as containers have them.
func TestEditMount(t *testing.T) {
	dir := t.TempDir()
	other := filepath.Join(t.TempDir(), "other")
	for _, path := range []string{other, filepath.Join(dir, "f")} {
		if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mount(other, filepath.Join(dir, "f"), "", syscall.MS_BIND, ""); err != nil {
		t.Skip("nothing can be mounted:", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(filepath.Join(dir, "f"), 0); err != nil {
			t.Error(err)
		}
	})
	if err := edited(t, dir, []byte("new")); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(other); err != nil || string(got) != "new" {
		t.Errorf("the file holds %q (%v)", got, err)
	}
	if names := fileNames(t, dir); len(names) != 1 {
		t.Errorf("left are %v", names)
	}
}

// TestEditFixedFolder edits a file that anybody may write, in a directory in
// which we may make none.
func TestEditFixedFolder(t *testing.T) {
	if dir := os.Getenv("TOOLPOST_AGAIN"); dir != "" {
		t.Setenv("HOME", filepath.Join(dir, "none"))
		t.Setenv("XDG_CACHE_HOME", filepath.Join(dir, "none"))
		if err := edited(t, filepath.Join(dir, "fixed"), []byte("new")); err != nil {
			t.Error(err)
		}
		return
	}
	if os.Geteuid() != 0 {
		t.Skip("only root can become somebody else")
	}
	dir, err := os.MkdirTemp("/tmp", "toolpost-") // others can get there
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	path := filepath.Join(dir, "fixed", "f")
	if err := os.Mkdir(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("old"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o666); err != nil {
		t.Fatal(err)
	}
	const nobody = 65534
	if err := again(t, dir, &syscall.Credential{Uid: nobody, Gid: nobody}); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "new" {
		t.Errorf("the file holds %q (%v)", got, err)
	}
	if names := fileNames(t, filepath.Dir(path)); len(names) != 1 {
		t.Errorf("left are %v", names)
	}
}

// TestFailedWriteLeavesNothing checks that a write that fails leaves no directories
// behind, and that its error names what to do.
func TestFailedWriteLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	set, err := toolpost.NewSet(t.Context(), NewWorkspace(root))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "f"), []byte("text\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("x", 300)
	for tool, arguments := range map[string]string{
		"write": `{"path":"a/b/` + long + `","content":"x"}`,
		"edit":  `{"path":"a/b/` + long + `","old_string":"","new_string":"x"}`,
		"move":  `{"from":"f","to":"a/b/` + long + `"}`,
	} {
		if text := callText(t.Context(), set, tool, arguments); !strings.Contains(text, "Give a shorter name") {
			t.Errorf("%s: %s", tool, text)
		}
	}
	if text := callText(t.Context(), set, "write", `{"path":"a/`+long+`/","content":""}`); !strings.Contains(text, "Give a shorter name") {
		t.Error(text)
	}
	if text := callText(t.Context(), set, "write", `{"path":"f/g/h","content":"x"}`); !strings.Contains(text, "a part of its path is a file") {
		t.Error(text)
	}
	if names := strings.Join(fileNames(t, dir), " "); names != "f" {
		t.Errorf("%s are there", names)
	}
}

// TestWriteOnFullDisk fills a small file system.
func TestWriteOnFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=256k"); err != nil {
		t.Skip("no file system to fill:", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	if err := os.WriteFile(filepath.Join(dir, "f"), []byte("text\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	set, err := toolpost.NewSet(t.Context(), NewWorkspace(root))
	if err != nil {
		t.Fatal(err)
	}
	large := strings.Repeat("x", 600<<10)
	for _, arguments := range []string{`{"path":"new/dir/g","content":"` + large + `"}`, `{"path":"f","content":"` + large + `"}`} {
		if text := callText(t.Context(), set, "write", arguments); !strings.Contains(text, "the disk is full. Nothing was changed; ask the user to free some space") {
			t.Errorf("%.60s: %s", arguments, text)
		}
	}
	if names := strings.Join(fileNames(t, dir), " "); names != "f" {
		t.Errorf("%s are there", names)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "f")); err != nil || string(text) != "text\n" {
		t.Errorf("the file holds %q (%v)", text, err)
	}
}
