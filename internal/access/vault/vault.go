// Package vault stores secrets that Toolpost gets at run time, such as the tokens of
// logins, where the user has chosen: in the keyring of the system, or in files, encrypted
// or plain.
package vault

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
)

// ErrNotFound reports that a vault has no secret of the name.
var ErrNotFound = errors.New("no such secret")

// A Vault keeps secrets by name. Names are printable texts of 1 to 100
// bytes, see [CheckName]; a secret has at most 64 KiB. It is safe for concurrent
// use by many processes.
type Vault interface {
	// Get returns a secret, or an error that wraps [ErrNotFound].
	Get(name string) ([]byte, error)

	// Update replaces a secret by what change returns; nil removes it. No other
	// process updates the secret meanwhile. Change gets nil if there is none. If it
	// returns an error, the secret stays as it was. When Update has returned
	// without an error, the secret survives a crash.
	Update(ctx context.Context, name string, change func(secret []byte) ([]byte, error)) error

	// Names returns the names of all secrets, sorted.
	Names() ([]string, error)

	// Place describes where secrets are kept and why, for people.
	Place() string
}

// Version returns a text that differs whenever a secret was replaced, so that a
// process notices what another one did, without asking a keyring each time. It
// returns an error that wraps [ErrNotFound] if there is no secret of the name.
func Version(v Vault, name string) (string, error) {
	var data []byte
	var err error
	if own, ok := v.(interface {
		stored(name string) ([]byte, error)
	}); ok {
		data, err = own.stored(name)
	} else {
		data, err = v.Get(name)
	}
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]), nil
}

// Has reports whether a vault lists a secret, also one that can no longer be read,
// such as one whose keyring was emptied. It can be removed.
func Has(v Vault, name string) (bool, error) {
	names, err := v.Names()
	return slices.Contains(names, name), err
}
