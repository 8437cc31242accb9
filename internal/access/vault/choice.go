package vault

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/toolpost/toolpost/internal/atomicfile"
	"github.com/toolpost/toolpost/internal/ownership"
)

// A Kind is one of the vaults that a user can choose.
type Kind string

// The kinds of vaults.
const (
	Keyring   Kind = "keyring"   // the keyring of the system; the default
	Encrypted Kind = "encrypted" // files that are encrypted with the key in TOOLPOST_KEY
	Files     Kind = "files"     // files that only their owner can read
)

// Variables of the environment.
const (
	Variable    = "TOOLPOST_VAULT" // chooses the vault
	KeyVariable = "TOOLPOST_KEY"   // the key of the encrypted files
)

// A Choice is the vault that the user has chosen. The user chooses it, not a
// configuration file: all configurations share the logins of a user, and a file
// of a cloned folder must not decide how they are kept.
type Choice struct {
	Kind    Kind
	Why     string // for people, such as "chosen by TOOLPOST_VAULT"
	Default bool   // the user has not chosen
}

// choiceFile is where "toolpost secret use" keeps the choice.
func choiceFile(dir string) string { return filepath.Join(dir, "vault"+ending) }

// Chosen returns the choice of the user: that of TOOLPOST_VAULT, or that of
// [Choose], or the system's keyring. Dir is the folder of the user's settings for
// Toolpost; getenv looks up a variable.
func Chosen(dir string, getenv func(string) string) (Choice, error) {
	if kind := getenv(Variable); kind != "" {
		return choice(kind, "chosen by "+Variable)
	}
	file := choiceFile(dir)
	info, err := os.Lstat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Choice{Kind: Keyring, Why: `the default; "toolpost secret use" chooses another`, Default: true}, nil
	case err != nil:
		return Choice{}, fmt.Errorf("find out which vault is chosen: %w", err)
	case !info.Mode().IsRegular() || info.Size() > 100:
		return Choice{}, fmt.Errorf("find out which vault is chosen: %s is not what \"toolpost secret use\" writes; remove it", file)
	}
	err = ownership.Check(file)
	data, readErr := os.ReadFile(file)
	if err = cmp.Or(err, readErr); err != nil {
		return Choice{}, fmt.Errorf("find out which vault is chosen: %w", err)
	}
	return choice(strings.TrimSpace(string(data)), "chosen by \"toolpost secret use\"")
}

func choice(kind, why string) (Choice, error) {
	switch Kind(kind) {
	case Keyring, Encrypted, Files:
		return Choice{Kind: Kind(kind), Why: why}, nil
	}
	return Choice{}, fmt.Errorf("%q is not a vault (%s); choose %s, %s or %s", kind, why, Keyring, Encrypted, Files)
}

// Choose remembers a choice in the user's folder. It does not move secrets.
func Choose(dir string, kind Kind) error {
	if _, err := choice(string(kind), "the argument"); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("choose a vault: %w", err)
	}
	if err := atomicfile.Write(choiceFile(dir), []byte(kind+"\n"), nil); err != nil {
		return fmt.Errorf("choose a vault: %w", err)
	}
	return nil
}

// Open opens the chosen vault. Dir and getenv are those of [Chosen]. If the
// vault cannot be used, the error says what to do; no other vault takes its place.
func Open(c Choice, dir string, getenv func(string) string) (Vault, error) {
	dir = place(dir, c.Kind)
	switch c.Kind {
	case Encrypted:
		return openSealed(dir, c.Why, getenv(KeyVariable))
	case Files:
		return &folder{dir, c.Why}, nil
	case Keyring:
		system, err := openSystem(getenv)
		if err != nil {
			return nil, err
		}
		return newKeyring(dir, c.Why, system), nil
	}
	return nil, fmt.Errorf("open the vault: %q is not a vault", c.Kind)
}

// place returns the folder of a vault.
func place(dir string, kind Kind) string { return filepath.Join(dir, "secrets", string(kind)) }

func because(why string) string {
	if why == "" {
		return ""
	}
	return " (" + why + ")"
}

// KeyringNames returns the names of the secrets in the keyring of the system, without asking
// it. Dir is that of [Chosen].
func KeyringNames(dir string) ([]string, error) { return Folder(place(dir, Keyring)).Names() }
