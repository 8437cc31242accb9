package agents

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/toolpost/toolpost/internal/access/owner"
	"github.com/toolpost/toolpost/internal/atomicfile"
)

// keySize is the number of bytes of the key that decisions in sessions are bound to.
const keySize = 32

// decisionKey returns the key of this user on this machine, and makes it if there is
// none. If it cannot be kept, a key of this process takes its place: decisions of
// others are then asked for again.
func decisionKey() []byte {
	own := make([]byte, keySize)
	_, _ = rand.Read(own) // it never fails
	dir, err := owner.StateDir()
	if err != nil {
		return own
	}
	path := filepath.Join(dir, "decisions.key")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return own
	}
	err = atomicfile.Write(path, own, &atomicfile.Options{New: true})
	if !errors.Is(err, fs.ErrExist) { // also if it is the new one
		return own
	}
	kept, err := os.ReadFile(path)
	if err != nil || len(kept) != keySize {
		return own
	}
	return kept
}
