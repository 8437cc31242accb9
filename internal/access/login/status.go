package login

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/access/vault"
)

// A Status describes a login without its secrets.
type Status struct {
	Server  string    `json:"server"` // the address
	State   State     `json:"state"`
	Why     string    `json:"why,omitempty"` // why a login is needed
	Issuer  string    `json:"issuer"`
	Client  string    `json:"client"` // the id
	Account string    `json:"account,omitempty"`
	Scopes  []string  `json:"scopes"`
	Wanted  []string  `json:"wanted,omitempty"` // scopes that a request needed
	Expires time.Time `json:"expires,omitzero"` // the access token
	Renews  bool      `json:"renews"`           // the token is renewed without the user
}

// A State is what a login is good for.
type State string

// The states of a login.
const (
	LoggedIn    State = "logged in"
	LoginNeeded State = "login needed"
)

// Status returns the login of a server, nil if there is none.
func (l *Logins) Status(cfg *config.Server) (*Status, error) {
	r, err := l.storedRecord(cfg)
	if r == nil || err != nil {
		return nil, err
	}
	return l.status(r), nil
}

// List returns the logins that can be read, in the order of the vault. The error is about
// the others.
func (l *Logins) List() (all []*Status, err error) {
	names, err := l.vault.Names()
	if err != nil {
		return nil, err
	}
	failed, problem := 0, error(nil)
	for _, name := range names {
		if !strings.HasPrefix(name, namePrefix) {
			continue
		}
		data, err := l.vault.Get(name)
		if errors.Is(err, vault.ErrNotFound) { // another process removed it
			continue
		}
		var r *record
		if err == nil {
			r, err = decode(data, "")
		}
		if err != nil {
			failed, problem = failed+1, err
		} else if r != nil {
			all = append(all, l.status(r))
		}
	}
	if failed > 0 {
		problem = fmt.Errorf("%d of the logins cannot be read: %w", failed, problem)
	}
	return all, problem
}

// Place describes where logins are kept.
func (l *Logins) Place() string { return l.vault.Place() }

func (l *Logins) status(r *record) *Status {
	s := &Status{
		Server: r.Server, State: LoggedIn, Issuer: r.Issuer, Client: r.Client.ID, Account: r.Account,
		Scopes: append([]string{}, r.Scopes...), Wanted: r.Wanted, Expires: r.Expiry, Renews: r.Refresh != "",
	}
	switch {
	case r.Lost != "":
		s.State, s.Why = LoginNeeded, r.Lost
	case !r.good(l.now()) && !s.Renews && r.Client.From != fromConfiguration:
		s.State, s.Why = LoginNeeded, "the login has expired"
	}
	return s
}
