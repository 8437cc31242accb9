//go:build unix

package audit_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/toolpost/toolpost/audit"
	"github.com/toolpost/toolpost/internal/access/trail"
)

// child is the process that the tests kill, or whose files are limited.
func child(mode string) {
	l, err := audit.Open(os.Getenv("AUDIT_TEST_DIR"), &audit.Options{SegmentSize: 20_000, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		panic(err)
	}
	if mode == "full" {
		fill(l)
		return
	}
	var out sync.Mutex
	for i := range 4 {
		go func() {
			for j := 0; ; j++ {
				id := fmt.Sprintf("%d-%d-%d", os.Getpid(), i, j)
				if err := l.Append(record(id), j%20 == 0); err != nil {
					panic(err)
				}
				out.Lock()
				fmt.Println(id)
				out.Unlock()
			}
		}()
	}
	select {}
}

// fill writes into a full disk: files cannot be longer than 3000 bytes.
func fill(l *audit.Log) {
	signal.Ignore(syscall.SIGXFSZ)
	var free syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &free); err != nil {
		panic(err)
	}
	full := free
	full.Cur = 3000
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &full); err != nil {
		panic(err)
	}
	missing := 0
	for i := range 100 {
		if l.Append(record(fmt.Sprint("full", i)), false) != nil {
			missing++
		}
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &free); err != nil {
		panic(err)
	}
	err := l.Append(record("last"), true)
	fmt.Println(missing, l.Dropped(), err, l.Close())
}

func start(t *testing.T, mode, dir string) (*exec.Cmd, io.Reader) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "AUDIT_TEST_CHILD="+mode, "AUDIT_TEST_DIR="+dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	return cmd, out
}

// A process that is killed loses no record that it has acknowledged. Two processes
// write at once, and the next ones continue their files.
func TestKill(t *testing.T) {
	dir := t.TempDir()
	acknowledged := map[string]bool{}
	for round := range 8 {
		var (
			group sync.WaitGroup
			mu    sync.Mutex
		)
		for range 2 {
			cmd, out := start(t, "kill", dir)
			group.Go(func() {
				lines := bufio.NewScanner(out)
				for n := 0; lines.Scan(); n++ {
					mu.Lock()
					acknowledged[lines.Text()] = true
					mu.Unlock()
					if n == 40+37*round {
						_ = cmd.Process.Kill()
					}
				}
				exit := (*exec.ExitError)(nil)
				if err := cmd.Wait(); !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
					t.Errorf("the process ended itself: %v", err)
				}
			})
		}
		group.Wait()
		found, damaged, err := trail.Calls(dir, &trail.Filter{})
		if err != nil || damaged > 0 {
			t.Fatalf("%d damaged lines, %v", damaged, err)
		}
		logged := map[string]bool{}
		for _, r := range found {
			logged[r.ID] = true
		}
		for id := range acknowledged {
			if !logged[id] {
				t.Fatalf("round %d: record %s was acknowledged, and is not in the log", round, id)
			}
		}
		sound(t, dir)
	}
	if len(acknowledged) < 1000 {
		t.Errorf("only %d records were acknowledged", len(acknowledged))
	}
}

func TestDiskFull(t *testing.T) {
	dir := t.TempDir()
	cmd, out := start(t, "full", dir)
	var missing, dropped int
	var written, closed string
	if _, err := fmt.Fscanln(out, &missing, &dropped, &written, &closed); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if missing != dropped || missing < 50 || written != "<nil>" || closed != "<nil>" {
		t.Errorf("%d missing, %d counted, %s, %s", missing, dropped, written, closed)
	}
	sound(t, dir)
	found, damaged, err := trail.Calls(dir, &trail.Filter{Since: time.Now().Add(-time.Hour)})
	if err != nil || damaged > 0 || len(found) != 101-missing {
		t.Errorf("%d records, %d missing, %d damaged, %v", len(found), missing, damaged, err)
	}
}
