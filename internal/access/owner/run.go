package owner

import (
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
}

// NoteRun notes that this process serves a configuration at an address.
func NoteRun(c *config.Config, address string) (*Run, error) {
	r := &Run{PID: os.Getpid(), URL: address, Key: rand.Text(), Started: time.Now().UTC()}
	path, err := runPath(c)
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("note the address: %w", err)
	}
	forgetEnded(filepath.Dir(path))
	return r, atomicfile.Write(path, raw, nil)
}

// Forget removes the note, unless another process has written its own.
func (r *Run) Forget(c *config.Config) error {
	path, err := runPath(c)
	if err != nil {
		return err
	}
	if now := readRun(path); now == nil || now.Key != r.Key {
		return nil
	}
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// forgetEnded removes the notes of processes that have ended without a word.
func forgetEnded(dir string) {
	notes, _ := filepath.Glob(filepath.Join(dir, "*.json")) // the pattern is correct
	for _, path := range notes {
		if r := readRun(path); r != nil && !IsAlive(r.PID) {
			_ = os.Remove(path) // it does no harm
		}
	}
}

// IsAlive reports whether there may be a process.
func IsAlive(pid int) bool {
	p, err := os.FindProcess(pid)
	return err == nil && !errors.Is(p.Signal(syscall.Signal(0)), os.ErrProcessDone)
}

// FindRun returns the noted run of a configuration, nil if there is none. Its process may
// have ended without a word: requests go there only with [Run.Server].
func FindRun(c *config.Config) *Run {
	path, err := runPath(c)
	if err != nil {
		return nil
	}
	return readRun(path)
}

func readRun(path string) *Run {
	raw, err := os.ReadFile(path)
	r := &Run{}
	if err != nil || json.Unmarshal(raw, r) != nil || r.Key == "" {
		return nil
	}
	if u, err := url.Parse(r.URL); err != nil || u.Scheme != "http" || !netaddr.IsLoopback(u.Hostname()) {
		return nil
	}
	return r
}

// Server returns the run as a server of a configuration. Its connections prove that they
// lead to the process of the run, and then carry the token if it asks for it.
func (r *Run) Server(view string) config.Server {
	s := config.Server{Prefix: new(string)}
	s.Name, s.URL = "toolpost serve", r.URL+"/"+view
	token := KnownToken()
	s.Wrap = func(base *http.Transport) http.RoundTripper {
		proven := proof.OfRun(r.Key, base)
		if token == "" {
			return proven
		}
		return proof.NewTransport(token, proven)
	}
	return s
}

// runPath is the file of the note. Its name does not show the configuration, which may be a
// list of addresses with secrets.
func runPath(c *config.Config) (string, error) {
	dir, err := StateDir()
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(identity(c)))
	return filepath.Join(dir, "running", hex.EncodeToString(sum[:12])+".json"), nil
}
