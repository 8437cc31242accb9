package secret

import (
	"errors"
	"net/url"
	"strings"
)

// Credentials are those that a configuration gives for a server with accounts.
type Credentials struct {
	URL                            string // of the server; may have a login too
	Key, User, Password, Token, As string
	Anonymous                      bool // none are wanted
}

// ErrNoCredentials reports that there are no credentials, and that Anonymous is not set.
var ErrNoCredentials = errors.New("there are no credentials; give an API key, a login with its password, or a token")

// Texts returns pointers to the credentials.
func (c *Credentials) Texts() []*string {
	return []*string{&c.Key, &c.User, &c.Password, &c.Token, &c.As}
}

// Trim returns c without the spaces and line ends that come with what is copied or read
// from a file.
func (c Credentials) Trim() Credentials {
	for _, text := range []*string{&c.URL, &c.Key, &c.Token, &c.User, &c.As} {
		*text = strings.TrimSpace(*text)
	}
	c.Password = strings.TrimRight(c.Password, "\r\n")
	return c
}

// Check returns why it is not clear which credentials count. Those of the URL count if
// there are no others. Spaces around them are errors; see Trim.
func (c Credentials) Check() error {
	u, err := url.Parse(c.URL)
	inURL := err == nil && u.User != nil
	kinds := 0
	for _, given := range []bool{c.Key != "", c.User != "", c.Token != "", c.Anonymous} {
		if given {
			kinds++
		}
	}
	switch {
	case kinds > 1, c.Anonymous && inURL:
		return errors.New("several kinds of credentials are given; give only one of them: an API key, a login with its password, or a token")
	case (c.User == "") != (c.Password == ""):
		return errors.New("a login and its password belong together; give both, or an API key")
	case kinds == 0 && !inURL:
		return ErrNoCredentials
	case strings.ContainsFunc(c.Key+c.Token+c.As, func(r rune) bool { return r <= ' ' || r > '~' }):
		return errors.New("the API key, the token or the login to act as contains a space or another character that cannot be part of it; copy it again")
	}
	return nil
}
