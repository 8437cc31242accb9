package owner

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/access/callers"
	"github.com/toolpost/toolpost/internal/access/proof"
	"github.com/toolpost/toolpost/internal/atomicfile"
	"github.com/toolpost/toolpost/internal/netaddr"
)

// TokenVariable is the variable that takes the place of the stored token.
const TokenVariable = "TOOLPOST_TOKEN"

// TokenFile is where the token that serve generates is stored.
func TokenFile() (string, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("find the user's configuration folder: %w; set %s instead", err, TokenVariable)
	}
	return filepath.Join(dir, "toolpost", "token"), nil
}

// newToken returns 256 random bits as 43 letters, digits, - and _.
func newToken() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// GivenToken returns the token that the user chose: that of the environment,
// or of file unless its name is empty. It returns "" if there is neither.
func GivenToken(file string) (string, error) {
	if file != "" {
		return ReadToken(file)
	}
	token := os.Getenv(TokenVariable)
	if token == "" {
		return "", nil
	}
	if err := callers.CheckToken(token); err != nil {
		return "", usagef("the token in %s %w", TokenVariable, err)
	}
	return token, nil
}

// StoredToken returns the user's token. It generates and stores one if there
// is none.
func StoredToken() (string, error) {
	file, err := TokenFile()
	if err != nil {
		return "", err
	}
	token, err := ReadToken(file)
	if errors.Is(err, fs.ErrNotExist) {
		return storeToken(file, false)
	}
	return token, err
}

// KnownToken returns the token that a client of the user's own serve sends, ""
// if there is none.
func KnownToken() string {
	token, err := GivenToken("")
	if err == nil && token == "" {
		var file string
		if file, err = TokenFile(); err == nil {
			token, err = ReadToken(file)
		}
	}
	if err != nil {
		return "" // the server's refusal reports that a token is missing
	}
	return token
}

// ReadToken reads a token from a file that no other user can read or replace.
func ReadToken(file string) (string, error) {
	f, err := os.OpenFile(file, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe must not wait for its writer
	if err != nil {
		return "", fmt.Errorf("read the token: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", fmt.Errorf("read the token: %w", err)
	}
	if !info.Mode().IsRegular() {
		return "", usagef("the token file %s is refused: it is not a file; remove it", file)
	}
	if !ownerOnly(info) {
		return "", usagef("the token file %s is refused: only you may own and read it; run: chmod 600 %s", file, file)
	}
	if dir, err := os.Stat(filepath.Dir(file)); err != nil || !ownerWrites(dir) {
		return "", usagef("the token file %s is refused: others can replace it; run: chmod go-w %s", file, filepath.Dir(file))
	}
	data := make([]byte, callers.LongestToken+1)
	n, _ := f.Read(data) // an empty file has no valid token
	token := strings.TrimSpace(string(data[:n]))
	if err := callers.CheckToken(token); err != nil {
		return "", usagef("the token in %s %w", file, err)
	}
	return token, nil
}

// storeToken stores a new token. Unless it is to replace one, a token that
// another process stored meanwhile is kept and returned.
func storeToken(file string, replace bool) (string, error) {
	token := newToken()
	err := os.MkdirAll(filepath.Dir(file), 0o700)
	if err == nil {
		err = atomicfile.Write(file, []byte(token+"\n"), &atomicfile.Options{New: !replace})
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("store the token: %w; set %s instead", err, TokenVariable)
	}
	return ReadToken(file)
}

// RotateToken replaces the stored token, whatever is wrong with it.
func RotateToken(given bool) (string, error) {
	if given {
		return "", usagef("the token comes from %s; change that, or unset it to rotate the stored token", TokenVariable)
	}
	file, err := TokenFile()
	if err != nil {
		return "", err
	}
	return storeToken(file, true)
}

// NamedTokens returns the named tokens of the user.
func NamedTokens() (*callers.Tokens, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return nil, fmt.Errorf("find the user's configuration folder: %w", err)
	}
	return callers.OpenTokens(filepath.Join(dir, "toolpost", "callers")), nil
}

// UseToken has requests to servers on this machine carry the user's token, if
// the server asks for it and proves that it knows it. A server with a Wrap of the program
// keeps that.
func UseToken(cfg *config.Config) {
	token := KnownToken()
	for i := range cfg.Servers {
		s := &cfg.Servers[i]
		u, err := url.Parse(s.URL)
		if token == "" || err != nil || u.Scheme != "http" || !netaddr.IsLoopback(u.Hostname()) || u.User != nil || s.Wrap != nil || HasHeader(s.Headers, "Authorization") {
			continue
		}
		s.Wrap = func(base *http.Transport) http.RoundTripper { return proof.NewTransport(token, base) }
	}
}

// HasHeader reports whether headers have one of a name, in any case.
func HasHeader(headers map[string]string, name string) bool {
	for n := range headers {
		if strings.EqualFold(n, name) {
			return true
		}
	}
	return false
}
