package owner

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path/filepath"

	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/access/login"
	"github.com/toolpost/toolpost/internal/access/vault"
	"github.com/toolpost/toolpost/internal/cleartext"
)

// OpenVault opens the vault that the user has chosen.
func OpenVault() (vault.Vault, error) {
	dir, err := SettingsDir()
	if err != nil {
		return nil, err
	}
	choice, err := vault.Chosen(dir, os.Getenv)
	if err != nil {
		return nil, UsageError{err}
	}
	v, err := vault.Open(choice, dir, os.Getenv)
	if err != nil {
		return nil, UsageError{err}
	}
	return v, nil
}

// ExamineVault describes the vault that the user has chosen. It starts and unlocks
// nothing.
func ExamineVault() *vault.Condition {
	dir, err := SettingsDir()
	if err != nil {
		return &vault.Condition{State: vault.Unusable, Err: err}
	}
	choice, err := vault.Chosen(dir, os.Getenv)
	if err != nil {
		return &vault.Condition{State: vault.Unusable, Err: err}
	}
	return vault.Examine(choice, dir, os.Getenv)
}

// NoKeyring returns why the keyring of the system cannot be used, if it is the vault and
// nothing was ever kept in it: then a list of what it has is empty. Otherwise it returns nil.
func NoKeyring() error {
	if c := ExamineVault(); c.Kind == vault.Keyring && c.State == vault.Unusable && c.Secrets == 0 {
		return c.Err
	}
	return nil
}

// SecretPrefix begins the names of the secrets that users set. Others, such as
// those of logins, are not theirs to change.
const SecretPrefix = "secret:"

// An unusableVault has no secrets. Only a server that wants a login reports why.
type unusableVault struct{ err error }

func (v unusableVault) Get(string) ([]byte, error) { return nil, v.err }

func (v unusableVault) Update(context.Context, string, func([]byte) ([]byte, error)) error {
	return v.err
}

func (v unusableVault) Names() ([]string, error) { return nil, v.err }

func (v unusableVault) Place() string { return "no vault" }

// Logins returns the logins of the user. If their vault cannot be used, there are none.
func Logins(log *slog.Logger) *login.Logins {
	v, err := OpenVault()
	if err != nil {
		v = unusableVault{err}
	}
	return login.New(v, log)
}

// Credentials returns what adds tokens of logins to requests. Command returns what
// logs in to a server.
func Credentials(logins *login.Logins, command func(*config.Server) string) func(*config.Server) func(*http.Transport) http.RoundTripper {
	return func(s *config.Server) func(*http.Transport) http.RoundTripper {
		return logins.Wrap(s, command(s), s.Wrap)
	}
}

// LoginCommand returns the command that logs in to a server of a configuration
// that --config names, or that is found without it if file is empty.
func LoginCommand(file string, byName bool) func(*config.Server) string {
	if file != "" {
		if absolute, err := filepath.Abs(file); err == nil {
			file = absolute
		}
	}
	return func(s *config.Server) string {
		if !byName {
			return "toolpost login " + cleartext.ShellWord(ShownAddress(s.URL))
		}
		command := "toolpost login " + cleartext.ShellWord(s.Name)
		if file != "" {
			command += " --config " + cleartext.ShellWord(file)
		}
		return command
	}
}

// ShownAddress is an address without what may be a secret in it.
func ShownAddress(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	u.User, u.RawQuery, u.Fragment = nil, "", ""
	return u.String()
}
