package login

import (
	"errors"
	"fmt"
	"time"

	"github.com/toolpost/toolpost/internal/access/vault"
)

// A reading reads one version of the stored login. Several requests may wait for it.
type reading struct {
	version string
	done    chan struct{}
	failed  time.Time // after done; zero if it succeeded
}

// readPause is how long a stored login that could not be read is not read again: each
// reading of a locked keyring may ask the user.
const readPause = 10 * time.Second

// load returns the stored login, which it reads if it has changed. While the vault cannot be
// used, the login stays as it was. A keyring may wait for a person: whoever is done does not
// wait any longer.
func (s *source) load(done <-chan struct{}) *record {
	version, err := vault.Version(s.vault, s.name)
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.endStreams()
	switch {
	case errors.Is(err, vault.ErrNotFound):
		s.version, s.held = "", nil
		return nil
	case err != nil:
		s.log.Debug("cannot find the stored login", "server", s.cfg().Name, "err", err)
		return s.held
	case version == s.version:
		return s.held
	}
	for {
		r := s.readingOf(version)
		s.mu.Unlock()
		select {
		case <-r.done:
		case <-done:
		}
		s.mu.Lock()
		if r.version == version || isClosed(done) { // not one that began before
			return s.held
		}
	}
}

// readingOf returns the reading that is under way, or begins one unless that of the same
// version has just failed. The caller holds mu.
func (s *source) readingOf(version string) *reading {
	r := s.reading
	if r == nil || isClosed(r.done) && (r.version != version || s.now().Sub(r.failed).Abs() >= readPause) {
		r = &reading{version: version, done: make(chan struct{})}
		s.reading = r
		go s.read(r)
	}
	return r
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// read reads the stored login.
func (s *source) read(r *reading) {
	data, err := s.vault.Get(s.name)
	s.mu.Lock()
	defer s.mu.Unlock()
	defer close(r.done)
	if errors.Is(err, vault.ErrNotFound) {
		s.version, s.held = "", nil
		return
	}
	if err != nil {
		s.log.Debug("cannot read the stored login", "server", s.cfg().Name, "err", err)
		r.failed = s.now()
		return
	}
	s.version = r.version
	if s.held, err = s.decode(data); err != nil {
		s.log.Debug("the stored login is not used", "server", s.cfg().Name, "err", err)
	}
}

// decode returns the stored login, nil if there is none. One of another authorization
// server than the configured one is not used.
func (s *source) decode(data []byte) (*record, error) {
	r, err := decode(data, s.server)
	if err != nil || r == nil {
		return nil, err
	}
	s.learn(r)
	if a := s.cfg().Auth; a != nil && a.Issuer != "" && !sameIssuer(a.Issuer, r.Issuer) {
		return nil, fmt.Errorf("its login is one of %s, but its configuration allows only %s", clipLine(r.Issuer), a.Issuer)
	}
	return r, nil
}

// learn makes the secrets of a login known, so that they are hidden in what is written.
func (s *source) learn(r *record) {
	s.Secrets.Add("login "+s.name, r.Access, r.Refresh, r.Client.Secret)
}
