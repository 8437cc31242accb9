package login

import (
	"errors"
	"strings"
	"time"

	"github.com/toolpost/toolpost/internal/vault"
	"github.com/toolpost/toolpost/upstream"
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
func (l *Logins) Status(cfg *upstream.Config) (*Status, error) {
	r, err := l.stored(cfg)
	if r == nil || err != nil {
		return nil, err
	}
	return l.status(r), nil
}

// List returns all logins, in the order of the vault.
func (l *Logins) List() (all []*Status, err error) {
	names, err := l.vault.Names()
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if !strings.HasPrefix(name, namePrefix) {
			continue
		}
		data, err := l.vault.Get(name)
		if errors.Is(err, vault.ErrNotFound) { // another process removed it
			continue
		}
		if err != nil {
			return nil, err
		}
		if r, err := decode(data, ""); err == nil && r != nil {
			all = append(all, l.status(r))
		}
	}
	return all, nil
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
