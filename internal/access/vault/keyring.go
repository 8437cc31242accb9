package vault

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/zalando/go-keyring"
)

// items are the entries of a keyring for one service. Get and Delete return
// [keyring.ErrNotFound] if there is none.
type items interface {
	Get(user string) (string, error)
	Set(user, password string) error
	Delete(user string) error
}

// A keyringVault keeps secrets in a keyring. Keyrings keep little in one item (2,560
// bytes on Windows), list nothing and cannot be locked against other processes.
// So a secret is split into parts, and an index of owner-only files says which parts
// are valid; its locks and renames make updates atomic. The index has no secrets.
//
// The parts have one of two slots. An update writes those of the other slot and
// then the index, so that a crash leaves the old secret or the new one. The parts
// of the earlier secret stay until the next update, or until the secret is removed.
type keyringVault struct {
	index *folder
	items items
	label string // distinguishes the items of several folders
	why   string
}

const (
	partSize = 1 << 10
	maxParts = longestSecret / partSize
)

func newKeyring(dir, why string, system items) Vault {
	sum := sha256.Sum256([]byte(dir))
	return &keyringVault{&folder{dir: dir}, system, hex.EncodeToString(sum[:4]), why}
}

// A location is what the index records of a secret.
type location struct {
	Slot  string `json:"slot"`  // "a" or "b"
	Write string `json:"write"` // begins every part that was written together
	Parts int    `json:"parts"`
	Other int    `json:"other"` // parts that the other slot has
}

// parts returns how many parts of a slot the index knows.
func (at location) parts(slot string) int {
	if at.Slot == slot {
		return at.Parts
	}
	return at.Other
}

func (k *keyringVault) locate(data []byte) (at location) {
	err := json.Unmarshal(data, &at)
	if err != nil || at.Slot != "a" && at.Slot != "b" || at.Write == "" || at.Parts < 1 || at.Parts > maxParts || at.Other < 0 || at.Other > maxParts {
		return location{Other: maxParts} // broken: as if the secret was lost, it has to be set again
	}
	return at
}

func (k *keyringVault) item(name, slot string, part int) string {
	return name + " (" + k.label + "-" + slot + strconv.Itoa(part) + ")"
}

// Get reads a secret. An update that takes place meanwhile makes it read again.
func (k *keyringVault) Get(name string) ([]byte, error) {
	data, err := k.index.Get(name)
	for err == nil {
		secret, readErr := k.read(name, k.locate(data))
		if !errors.Is(readErr, ErrNotFound) {
			return secret, readErr
		}
		before := data
		if data, err = k.index.Get(name); err == nil && string(data) == string(before) {
			return nil, fmt.Errorf("%q: the keyring no longer has it; set it again: %w", name, ErrNotFound)
		}
	}
	return nil, err
}

// read joins the parts of a secret.
func (k *keyringVault) read(name string, at location) ([]byte, error) {
	secret := []byte{}
	for i := range at.Parts {
		text, err := k.items.Get(k.item(name, at.Slot, i))
		if err != nil && !errors.Is(err, keyring.ErrNotFound) {
			return nil, unusable(err)
		}
		coded, ours := strings.CutPrefix(text, at.Write+":")
		part, codeErr := base64.StdEncoding.DecodeString(coded)
		if err != nil || !ours || codeErr != nil {
			return nil, ErrNotFound
		}
		secret = append(secret, part...)
	}
	if at.Parts == 0 {
		return nil, ErrNotFound
	}
	return secret, nil
}

// Update writes the parts of a secret, and then makes them valid.
func (k *keyringVault) Update(ctx context.Context, name string, change func([]byte) ([]byte, error)) error {
	return k.index.Update(ctx, name, func(data []byte) ([]byte, error) {
		at := location{}
		if data != nil {
			at = k.locate(data)
		}
		old, err := k.read(name, at)
		if err != nil && !errors.Is(err, ErrNotFound) {
			return nil, err
		}
		secret, err := change(old)
		switch {
		case err != nil:
			return nil, err
		case len(secret) > longestSecret:
			return nil, errTooLong(secret)
		case secret == nil:
			return nil, errors.Join(k.clear(name, "a", 0, at.parts("a")), k.clear(name, "b", 0, at.parts("b")))
		}
		return k.write(name, at, secret)
	})
}

// write keeps a secret in the slot that is not used, and returns what the index
// has to record.
func (k *keyringVault) write(name string, before location, secret []byte) ([]byte, error) {
	at := location{Slot: "a", Write: rand.Text()[:12], Parts: max(1, (len(secret)+partSize-1)/partSize)}
	if before.Slot == "a" {
		at.Slot = "b"
	}
	at.Other = before.Parts
	for i := range at.Parts {
		part := secret[i*partSize : min(len(secret), (i+1)*partSize)]
		err := k.items.Set(k.item(name, at.Slot, i), at.Write+":"+base64.StdEncoding.EncodeToString(part))
		if err != nil {
			return nil, unusable(err)
		}
	}
	if err := k.clear(name, at.Slot, at.Parts, before.parts(at.Slot)); err != nil {
		return nil, err
	}
	if before.Slot == "" { // the index was broken: the other slot may have parts too
		if err := k.clear(name, "b", 0, before.Other); err != nil {
			return nil, err
		}
	}
	return json.Marshal(at)
}

// clear removes the parts of a slot from the given one on, the last one first, so
// that those that a crash leaves are found again. Known is how many the slot has by
// the index; an update that was interrupted may have written more. Parts that are
// lost are skipped.
func (k *keyringVault) clear(name, slot string, from, known int) error {
	end := max(from, known)
	for ; end < maxParts; end++ {
		if _, err := k.items.Get(k.item(name, slot, end)); errors.Is(err, keyring.ErrNotFound) {
			break
		} else if err != nil {
			return unusable(err)
		}
	}
	for i := end - 1; i >= from; i-- {
		if err := k.items.Delete(k.item(name, slot, i)); err != nil && !errors.Is(err, keyring.ErrNotFound) {
			return unusable(err)
		}
	}
	return nil
}

// stored returns the entry of the index, which differs after each update.
func (k *keyringVault) stored(name string) ([]byte, error) { return k.index.Get(name) }

// Names returns the names of the index.
func (k *keyringVault) Names() ([]string, error) { return k.index.Names() }

// Place names the keyring.
func (k *keyringVault) Place() string {
	return "the keyring of the system, listed in " + k.index.dir + because(k.why)
}

// instead says how a user chooses another vault.
const instead = `unlock or start it, or choose another vault: "toolpost secret use encrypted" (with a key in ` + KeyVariable +
	`) or "toolpost secret use files" (files that only you can read), or set ` + Variable

func unusable(err error) error {
	return fmt.Errorf("the keyring of the system cannot be used: %w; %s", err, instead)
}
