package vault

import (
	"errors"
	"fmt"
)

// A State is whether a vault can be used at the moment.
type State string

// The states of a vault.
const (
	Usable   State = "usable"
	Locked   State = "locked"   // a person has to unlock the keyring
	Unknown  State = "unknown"  // only an attempt to use it would show, and could ask the user
	Unusable State = "unusable" // as Condition.Err explains
)

// A Condition describes a vault without its secrets.
type Condition struct {
	Choice
	Place   string // where secrets are kept, for people; empty if the vault cannot be opened
	State   State
	Secrets int   // how many it lists
	Err     error // what is wrong, and what to do; nil if the vault is usable
}

// Examine describes the chosen vault. It creates, starts and unlocks nothing, and does
// not ask the user. Dir and getenv are those of [Chosen].
func Examine(c Choice, dir string, getenv func(string) string) *Condition {
	found := &Condition{Choice: c, State: Unusable}
	names, err := (&folder{dir: place(dir, c.Kind)}).Names() // needs neither key nor keyring
	if found.Secrets = len(names); err != nil {
		found.Err = err
		return found
	}
	v, err := Open(c, dir, getenv)
	if err != nil {
		found.Err = err
		return found
	}
	found.Place = v.Place()
	read := v.Get
	if k, ok := v.(*keyringVault); ok {
		if found.State, found.Err = examineSystem(getenv); found.State == Unusable {
			return found
		}
		read = k.stored // a keyring may ask the user; its index does not
	} else {
		found.State = Usable
	}
	if err := readAll(names, read); err != nil {
		found.State, found.Err = Unusable, err
	}
	return found
}

// readAll reports the first secret that cannot be read, such as one that another key
// encrypts, and how many there are.
func readAll(names []string, read func(string) ([]byte, error)) (first error) {
	broken := 0
	for _, name := range names {
		if _, err := read(name); err != nil && !errors.Is(err, ErrNotFound) {
			if broken++; first == nil {
				first = err
			}
		}
	}
	if broken > 1 {
		return fmt.Errorf("%d of %d secrets cannot be read, the first one because: %w", broken, len(names), first)
	}
	return first
}
