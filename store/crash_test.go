package store_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/toolpost/toolpost/store"
)

// child returns the command of this binary that runs one test with a setting.
func child(t *testing.T, test, setting, value string) *exec.Cmd {
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+test+"$", "-test.v=false", "-test.count=1")
	cmd.Env = append(os.Environ(), setting+"="+value)
	return cmd
}

// TestKill kills writers of one folder at random moments. What they said they
// had committed is there, and all that is there is whole. TOOLPOST_KILLS says
// how many.
func TestKill(t *testing.T) {
	kills := 10
	if s := os.Getenv("TOOLPOST_KILLS"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatal(err)
		}
		kills = n
	}
	folder, total := t.TempDir(), 0
	for range kills / 2 {
		first, second := startWriter(t, folder), startWriter(t, folder)
		// The second one goes on while the folder is opened.
		total += checkKilled(t, folder, first)
		total += checkKilled(t, folder, second)
		for _, name := range fileNames(t, folder) {
			if !slices.Contains([]string{".blob", ".segment", ".manifest"}, filepath.Ext(name)) {
				t.Fatalf("%s is left behind", name)
			}
			if err := os.Remove(folder + "/" + name); err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Logf("%d kills, %d blobs committed before", kills/2*2, total)
}

// writerBlobs is how many blobs a writer commits at most, however late it is killed: a busy
// machine checks no more of them.
const writerBlobs = 64

type writer struct {
	cmd  *exec.Cmd
	due  chan struct{} // closed when it is time to kill it
	said chan []string
}

// startWriter returns when the first blob was committed.
func startWriter(t *testing.T, folder string) writer {
	cmd := child(t, "TestKillWriter", "TOOLPOST_STORE_WRITER", folder)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cmd.StdinPipe(); err != nil { // it is open as long as this process lives
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	first, err := lines.ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	w := writer{cmd, make(chan struct{}), make(chan []string, 1)}
	after := 1 + rand.IntN(writerBlobs/2)
	go func() {
		names := []string{strings.TrimSpace(first)}
		for {
			if len(names) == after {
				close(w.due)
			}
			name, err := lines.ReadString('\n')
			if err != nil {
				w.said <- names
				return
			}
			names = append(names, strings.TrimSpace(name))
		}
	}()
	return w
}

func checkKilled(t *testing.T, folder string, w writer) int {
	<-w.due
	time.Sleep(rand.N(3 * time.Millisecond)) // the moment is random
	if err := w.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	names := <-w.said
	_ = w.cmd.Wait() // it was killed
	s, err := store.Dir(folder, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		checkBlob(t, s, name)
	}
	for info, err := range s.List(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(names, info.Name) {
			checkBlob(t, s, info.Name)
		}
	}
	return len(names)
}

func checkBlob(t *testing.T, s store.Store, name string) {
	b, err := s.Open(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	seed, err := strconv.ParseUint(name, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(io.NewSectionReader(b, 0, b.Info().Size+1))
	if err != nil || !bytes.Equal(got, seeded(seed)) {
		t.Fatalf("blob %s has %d bytes, others than were written; error %v", name, len(got), err)
	}
	if n := b.Info().Lines; n != int64(bytes.Count(got, []byte("\n"))+1) {
		t.Fatalf("blob %s has %d lines", name, n)
	}
}

// seeded returns the content of the blob of a number.
func seeded(seed uint64) []byte {
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], seed)
	source := rand.NewChaCha8(key)
	size := 1 << rand.New(source).IntN(20)
	if seed%50 == 0 {
		size = 3_000_000 // gets a file of its own
	}
	b := make([]byte, size, size+3)
	_, _ = source.Read(b)
	return append(b, "end"...)
}

// TestKillWriter is the writer that TestKill kills.
func TestKillWriter(t *testing.T) {
	folder := os.Getenv("TOOLPOST_STORE_WRITER")
	if folder == "" {
		t.Skip("run by TestKill")
	}
	s, err := store.Dir(folder, nil)
	if err != nil {
		t.Fatal(err)
	}
	for range writerBlobs {
		seed := rand.Uint64()
		w, err := s.Create(t.Context(), strconv.FormatUint(seed, 10))
		if err != nil {
			t.Fatal(err)
		}
		for content := seeded(seed); len(content) > 0; {
			n, err := w.Write(content[:min(len(content), 32<<10)])
			if err != nil {
				t.Fatal(err)
			}
			content = content[n:]
		}
		if _, err := w.Commit(); err != nil {
			t.Fatal(err)
		}
		fmt.Println(seed)
	}
	_, _ = io.Copy(io.Discard, os.Stdin) // until it is killed
}

func fileNames(t *testing.T, folder string) []string {
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// TestTorn opens files that were cut anywhere.
func TestTorn(t *testing.T) {
	folder := t.TempDir()
	s, err := store.Dir(folder, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := keep(t.Context(), s, "other", []byte("other")); err != nil {
		t.Fatal(err)
	}
	content := []byte(strings.Repeat("a line\n", 3_000_000/7))
	if err := keep(t.Context(), s, "a", content); err != nil {
		t.Fatal(err)
	}
	torn := onlyFile(t, folder, ".blob")
	whole, err := os.ReadFile(torn)
	if err != nil {
		t.Fatal(err)
	}
	size := len(content)
	for cut := range whole {
		if cut < size && cut != 0 && cut != 1 && cut%400_000 != 0 && cut != size-1 {
			continue
		}
		if err := os.WriteFile(torn, whole[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		for info, err := range s.List(t.Context()) {
			if info.Name != "other" || err != nil {
				t.Fatalf("list with a file cut at %d: %v, error %v", cut, info, err)
			}
		}
		if _, err := s.Open(t.Context(), "a"); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "damaged") {
			t.Fatalf("open a file cut at %d: %v", cut, err)
		}
		if _, err := os.Stat(torn); !errors.Is(err, fs.ErrNotExist) {
			t.Fatalf("a file cut at %d is left: %v", cut, err)
		}
	}
	if err := keep(t.Context(), s, "a", content); err != nil {
		t.Errorf("keep what was torn: %v", err)
	}
}

// TestLost opens files of which the disk lost a part when the system crashed.
func TestLost(t *testing.T) {
	for name, damage := range map[string]func(file []byte) []byte{
		"page":  func(f []byte) []byte { clear(f[4096:8192]); return f },
		"bit":   func(f []byte) []byte { f[70_000] ^= 1; return f },
		"first": func(f []byte) []byte { clear(f[:1]); return f },
		"end":   func(f []byte) []byte { return f[:len(f)-4096] },
		"all":   func(f []byte) []byte { return nil },
	} {
		for _, size := range []int{100_000, 4<<20 - 1} {
			folder := t.TempDir()
			s, err := store.Dir(folder, nil)
			if err != nil {
				t.Fatal(err)
			}
			content := bytes.Repeat([]byte("a line\n"), size/7+1)[:size]
			if err := keep(t.Context(), s, "a", content); err != nil {
				t.Fatal(err)
			}
			kind := ".segment"
			if size > 2<<20 {
				kind = ".blob"
			}
			path := onlyFile(t, folder, kind)
			whole, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, damage(whole), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Open(t.Context(), "a"); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s of %d bytes: error %v", name, size, err)
			}
			if _, err := s.Open(t.Context(), "a"); !errors.Is(err, fs.ErrNotExist) || strings.Contains(err.Error(), "damaged") {
				t.Errorf("%s of %d bytes: it is there again: error %v", name, size, err)
			}
			if err := keep(t.Context(), s, "a", content); err != nil {
				t.Errorf("%s of %d bytes: keep it again: %v", name, size, err)
			}
		}
	}
}

// onlyFile returns the only file of a kind.
func onlyFile(t *testing.T, folder, kind string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(folder, "*"+kind))
	if err != nil || len(found) != 1 {
		t.Fatalf("files %v, error %v", found, err)
	}
	return found[0]
}

func keep(ctx context.Context, s store.Store, name string, content []byte) error {
	w, err := s.Create(ctx, name)
	if err != nil {
		return err
	}
	defer w.Close()
	if _, err := w.Write(content); err != nil {
		return err
	}
	_, err = w.Commit()
	return err
}
