// Package catalog stores on disk what servers listed last, so that a gateway
// lists it again before they have connected.
//
// A folder has one file for each server of each configuration, and the key of
// the user. Each file begins with a keyed hash of its content: a file that is
// broken, or was written with another key, is as good as none. Files are replaced
// in one step, so that several processes may share the folder.
package catalog

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/toolpost/toolpost/internal/atomicfile"
	"github.com/toolpost/toolpost/internal/ownership"
)

// Limits of a folder.
const (
	MaxBytes  = 16 << 20  // of one entry; a larger one is not stored
	maxStored = 256 << 20 // bytes of all entries
	maxFiles  = 2000
	oldest    = 90 * 24 * time.Hour // since an entry was last written
)

const (
	ending  = ".catalog"
	keyFile = "key"
	keySize = 32
	macSize = 2 * sha256.Size // in hexadecimal digits, and a line break follows
)

// An Entry is what is known about one server of one configuration.
type Entry struct {
	Config string `json:"config"` // what names the configuration, such as the path of its file
	Server string `json:"server"` // its name there

	// Print is the fingerprint of what the server is started with. A listing of
	// a server with another print is not its own.
	Print string `json:"print"`

	// Listing is what the server listed last, nil if it did not answer yet.
	Listing json.RawMessage `json:"listing,omitempty"`

	// Slow means that the server took long and listed nothing.
	Slow bool `json:"slow,omitempty"`

	// Names are the owners of names that do not follow from the configuration
	// alone, by their kind, a space and the name.
	Names map[string]Owner `json:"names,omitempty"`
}

// An Owner is the tool or prompt of a server that has a name.
type Owner struct {
	Kind   string `json:"kind"` // tool or prompt
	Server string `json:"server"`
	Own    string `json:"own"` // the name on the server
}

// A Folder has the entries of one user.
type Folder struct {
	dir string
	key []byte
}

// Open opens the folder, and creates it and its key if they are missing.
func Open(dir string) (*Folder, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("open catalog: %w", err)
	}
	path := filepath.Join(dir, keyFile)
	key, err := readKey(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		key, err = createKey(path, &atomicfile.Options{New: true})
	case err != nil: // without its key, all entries are misses
		key, err = createKey(path, nil)
	}
	if err != nil {
		return nil, fmt.Errorf("open catalog: %w; remove %s", err, path)
	}
	return &Folder{dir, key}, nil
}

func readKey(path string) ([]byte, error) {
	data, err := readFile(path, keySize)
	if err == nil && len(data) != keySize {
		err = fmt.Errorf("%s has %d bytes, not %d", path, len(data), keySize)
	}
	return data, err
}

// createKey makes a key and stores it. If it is to be new and another process has made
// one meanwhile, it returns that.
func createKey(path string, opts *atomicfile.Options) ([]byte, error) {
	key := make([]byte, keySize)
	_, _ = rand.Read(key) // never fails
	err := atomicfile.Write(path, key, opts)
	if errors.Is(err, fs.ErrExist) {
		return readKey(path)
	}
	return key, err
}

// Fingerprint returns a hash of v's JSON that only this user can make: nothing
// about the secrets in v can be learned from it.
func (f *Folder) Fingerprint(v any) (string, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return "", fmt.Errorf("fingerprint: %w", err)
	}
	return f.mac("fingerprint", data), nil
}

func (f *Folder) mac(purpose string, data []byte) string {
	h := hmac.New(sha256.New, f.key)
	_, _ = io.WriteString(h, purpose+"\x00") // never fails
	_, _ = h.Write(data)
	return hex.EncodeToString(h.Sum(nil))
}

func (f *Folder) path(config, server string) string {
	name := f.mac("name", []byte(config+"\x00"+server))
	return filepath.Join(f.dir, name[:32]+ending)
}

// Read returns the entry of a server, nil if there is none that can be used.
func (f *Folder) Read(config, server string) *Entry {
	path := f.path(config, server)
	data, err := readFile(path, MaxBytes+macSize+1)
	if err != nil || len(data) <= macSize || data[macSize] != '\n' {
		return nil
	}
	sum, body := data[:macSize], data[macSize+1:]
	if !hmac.Equal(sum, []byte(f.mac("entry", body))) {
		return nil
	}
	var e Entry
	if json.Unmarshal(body, &e) != nil || e.Config != config || e.Server != server {
		return nil
	}
	return &e
}

// ErrTooLarge means that an entry has more than [MaxBytes].
var ErrTooLarge = errors.New("it is too large to be stored")

// Write stores an entry in place of the one before. An entry that cannot be
// stored leaves the one before as it is.
func (f *Folder) Write(e *Entry) error {
	body, err := json.Marshal(e)
	switch {
	case err != nil:
		return fmt.Errorf("store catalog of %q: %w", e.Server, err)
	case len(body) > MaxBytes:
		return fmt.Errorf("store catalog of %q: %w: %d bytes, at most %d", e.Server, ErrTooLarge, len(body), MaxBytes)
	}
	data := append([]byte(f.mac("entry", body)+"\n"), body...)
	if err := atomicfile.Write(f.path(e.Config, e.Server), data, &atomicfile.Options{MayBeLost: true}); err != nil { // it is listed again, and an incomplete one has a wrong code
		return fmt.Errorf("store catalog of %q: %w", e.Server, err)
	}
	return f.prune(time.Now())
}

// readFile reads a regular file that no other user can have written, of at most
// limit bytes.
func readFile(path string, limit int64) ([]byte, error) {
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular() || info.Size() > limit:
		return nil, fmt.Errorf("%s is not a file of at most %d bytes: %w", path, limit, fs.ErrInvalid)
	}
	if err := ownership.Check(path); err != nil {
		return nil, err
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, limit))
}

func isEntry(name string) bool { return strings.HasSuffix(name, ending) }
