package owner

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/access/proof"
	"github.com/toolpost/toolpost/internal/atomicfile"
	"github.com/toolpost/toolpost/internal/netaddr"
)

// A Run is a process that serves a configuration to all of the user's programs. It is noted
// in the folder for states, so that commands find it.
type Run struct {
	PID     int       `json:"pid"`
	URL     string    `json:"url"` // of /mcp
	Key     string    `json:"key"` // proves that the process at URL is this one; see [proof.OfRun]
	Started time.Time `json:"started"`
	Process string    `json:"process,omitempty"` // distinguishes the process from others with its PID; see processStart

	path string // of the note
}

// NoteRun notes that this process serves a configuration at an address.
func NoteRun(c *config.Config, address string) (*Run, error) {
	r := &Run{PID: os.Getpid(), URL: address, Key: rand.Text(), Started: time.Now().UTC(), Process: processStart(os.Getpid())}
	prefix, err := runPrefix(c)
	if err != nil {
		return nil, err
	}
	r.path = prefix + strconv.Itoa(r.PID) + ".json"
	raw, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(r.path), 0o700); err != nil {
		return nil, fmt.Errorf("note the address: %w", err)
	}
	forgetEnded(filepath.Dir(r.path))
	// The start does not wait for a disk: after a crash of the system, the process is gone too.
	return r, atomicfile.Write(r.path, raw, &atomicfile.Options{MayBeLost: true})
}

// Forget removes the note.
func (r *Run) Forget() error {
	if err := os.Remove(r.path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// forgetEnded removes the notes of processes that ended without removing them, and notes that
// a crash of the system left incomplete.
func forgetEnded(dir string) {
	notes, _ := filepath.Glob(filepath.Join(dir, "*.json")) // the pattern is correct
	for _, path := range notes {
		if r := readRun(path); r == nil || !r.IsAlive() {
			_ = os.Remove(path) // it does no harm
		}
	}
}

// IsAlive reports whether the process of the run may still be there.
func (r *Run) IsAlive() bool {
	p, err := os.FindProcess(r.PID)
	if err != nil || errors.Is(p.Signal(syscall.Signal(0)), os.ErrProcessDone) {
		return false
	}
	now := processStart(r.PID)
	return r.Process == "" || now == "" || now == r.Process
}

// processStart returns when a process was started, as the system counts; "" where /proc does
// not have it. After a while, the system gives the PID to another process.
func processStart(pid int) string {
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return ""
	}
	// PID (NAME) STATE PARENT …, where the name may hold anything.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	const started = 19
	if len(fields) <= started {
		return ""
	}
	return fields[started]
}

// FindRun returns the run of a configuration that began last, nil if there is none. Its
// process may have ended without a word: requests go there only with [Run.Server].
func FindRun(c *config.Config) (last *Run) {
	prefix, err := runPrefix(c)
	if err != nil {
		return nil
	}
	notes, _ := filepath.Glob(prefix + "*.json") // the pattern is correct
	for _, path := range notes {
		if r := readRun(path); r != nil && r.IsAlive() && (last == nil || r.Started.After(last.Started)) {
			last = r
		}
	}
	return last
}

// Runs returns the runs of all configurations whose processes may be there.
func Runs() (all []*Run) {
	dir, err := StateDir()
	if err != nil {
		return nil
	}
	notes, _ := filepath.Glob(filepath.Join(dir, "running", "*.json")) // the pattern is correct
	for _, path := range notes {
		if r := readRun(path); r != nil && r.IsAlive() {
			all = append(all, r)
		}
	}
	return all
}

// maxNote is more than a note has.
const maxNote = 64 << 10

func readRun(path string) *Run {
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() || info.Size() > maxNote {
		return nil
	}
	raw, err := os.ReadFile(path)
	r := &Run{path: path}
	if err != nil || json.Unmarshal(raw, r) != nil || r.Key == "" {
		return nil
	}
	if u, err := url.Parse(r.URL); err != nil || u.Scheme != "http" || !netaddr.IsLoopback(u.Hostname()) {
		return nil
	}
	return r
}

// Server returns the run as a server of a configuration, for requests of its owner. Its
// connections prove within a time that they lead to the process of the run, and then carry
// the token if it asks for it.
func (r *Run) Server(within time.Duration) config.Server {
	s := config.Server{Prefix: new(string)}
	s.Name, s.URL = "toolpost serve", r.URL
	token := KnownToken()
	s.Wrap = func(base *http.Transport) http.RoundTripper {
		proven := proof.OfRun(r.Key, within, base)
		if token == "" {
			return proven
		}
		return proof.NewTransport(token, proven)
	}
	return s
}

// runPrefix is how the files of notes begin, before the process. Their names do not show the configuration, which may be a
// list of addresses with secrets.
func runPrefix(c *config.Config) (string, error) {
	dir, err := StateDir()
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(identity(c)))
	return filepath.Join(dir, "running", hex.EncodeToString(sum[:12])+"-"), nil
}
