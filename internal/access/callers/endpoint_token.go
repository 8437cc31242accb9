package callers

import (
	"errors"
	"fmt"
	"strings"
)

// The lengths that a token may have.
const (
	shortestToken = 32
	LongestToken  = 4096
)

// CheckToken returns what is wrong with a token that clients are to send,
// without showing it. The text follows after what the token is.
func CheckToken(token string) error {
	odd := strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune(`"'\`, r) })
	switch {
	case len(token) < shortestToken || len(token) > LongestToken:
		return fmt.Errorf("has %d characters; want at least %d random ones, such as those of: openssl rand -hex 32", len(token), shortestToken)
	case odd:
		return errors.New("contains spaces, quotes or non-ASCII characters; want letters, digits and - . _ ~ + / =")
	}
	return nil
}
