//go:build unix

package cli_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/toolpost/toolpost/claude/internal/cli"
)

func TestGarbage(t *testing.T) {
	p := start(t, "garbage", cli.Options{})
	for _, want := range []string{`{"a":1}`, `{"b":2}`, `{"c":3}`} {
		if line, err := p.ReadLine(); err != nil || string(line) != want {
			t.Errorf("ReadLine() = %q, %v, want %q", line, err, want)
		}
	}
}

func TestLineTooLong(t *testing.T) {
	p := start(t, "huge=5000000,say=1", cli.Options{MaxLine: 1000})
	before := allocated()
	var long *cli.LineTooLongError
	if _, err := p.ReadLine(); !errors.As(err, &long) || long.Limit != 1000 || !strings.Contains(err.Error(), "MaxLine") {
		t.Errorf("ReadLine() = %v", err)
	}
	if spent := allocated() - before; spent > 1<<20 {
		t.Errorf("skipping takes %d bytes", spent)
	}
	if line, err := p.ReadLine(); err != nil || string(line) != `{"said":"1"}` {
		t.Errorf("ReadLine() = %q, %v", line, err)
	}
}

// A line of the default limit costs twice its size, all in all.
func TestLongestLine(t *testing.T) {
	const size = 64 << 20
	p := start(t, "pid,huge=67108853", cli.Options{})
	readPID(t, p)
	before := allocated()
	line, err := p.ReadLine()
	if err != nil || len(line) != size {
		t.Fatalf("ReadLine() = %d bytes, %v", len(line), err)
	}
	if spent := allocated() - before; spent > size*21/10 {
		t.Errorf("a line of %d bytes takes %d", size, spent)
	}
}

func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

func TestStderr(t *testing.T) {
	var told []string
	p := start(t, "stderr=one,stderr=with hunter22,crash=1", cli.Options{
		Env: []string{"DB_PASSWORD=hunter22"}, Stderr: func(line string) { told = append(told, line) },
	})
	err := readToError(p)
	var exit *cli.ExitError
	if !errors.As(err, &exit) || exit.Code != 1 || exit.Stderr != "one\nwith [secret]" || !strings.Contains(err.Error(), exit.Stderr) {
		t.Errorf("the lines end with %v", err)
	}
	p.Close()
	if want := []string{"one", "with hunter22"}; !slices.Equal(told, want) {
		t.Errorf("told %q, want %q", told, want)
	}
}

func TestSurroundings(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("CLAUDECODE", "1")
	p := start(t, "dir,env", cli.Options{Dir: dir, Env: []string{"HELLO=world"}})
	var said struct {
		Dir, PWD string
		Env      []string
	}
	for range 2 {
		line, err := p.ReadLine()
		if err != nil || json.Unmarshal([]byte(strings.ReplaceAll(string(line), `" "`, `","`)), &said) != nil {
			t.Fatalf("ReadLine() = %q, %v", line, err)
		}
	}
	if said.Dir != dir || said.PWD != dir {
		t.Errorf("it runs in %q, and takes %q for it; want %q", said.Dir, said.PWD, dir)
	}
	if !slices.Contains(said.Env, "HELLO=world") || slices.Contains(said.Env, "CLAUDECODE=1") {
		t.Errorf("its environment: %q", said.Env)
	}
	if os.Getenv("CLAUDECODE") != "1" {
		t.Error("ours was changed")
	}
}
