package callers

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/toolpost/toolpost/internal/access/vault"
	"github.com/toolpost/toolpost/internal/filewatch"
)

// Prefix begins every named token, so that scanners for secrets find those that
// leak, and so that they differ from the tokens of an authorization server.
const Prefix = "toolpost_"

// maxTokens is how many named tokens one user may have.
const maxTokens = 1000

// stored is the name of the tokens in their vault.
const stored = "callers"

// A Token lets one caller in under a name. Only its hash is known.
type Token struct {
	Name    string    `json:"name"`
	Profile string    `json:"profile,omitempty"` // the only one that it is good for; "" for everything
	Created time.Time `json:"created"`
	Expires time.Time `json:"expires,omitzero"`

	// SHA256 is the hash of the token. A token has 256 random bits, so it cannot be
	// guessed, and a hash that is slow on purpose, as for passwords, would only
	// slow down each request.
	SHA256 string `json:"sha256"`
}

// Expired reports whether the token is good no longer.
func (t *Token) Expired() bool { return !t.Expires.IsZero() && !time.Now().Before(t.Expires) }

// identity is the [Caller].Identity of the token.
func (t *Token) identity() string { return "token " + t.Name }

// Tokens are the named tokens of a folder. The methods Check and Follow are for the
// process that serves, the others for commands.
type Tokens struct {
	dir   string
	vault vault.Vault

	mu   sync.RWMutex
	live map[string]*liveToken // by hash
}

// A liveToken is a token that requests may use.
type liveToken struct {
	Token
	ctx   context.Context // ends when the token is revoked or expires
	end   context.CancelFunc
	timer *deadline // of its expiry; nil if it does not expire
}

// OpenTokens returns the tokens of a folder, which need not exist.
func OpenTokens(dir string) *Tokens { return &Tokens{dir: dir, vault: vault.Folder(dir)} }

// Add stores a new token of a name, and returns the token itself, which cannot be
// found again.
func (t *Tokens) Add(ctx context.Context, name, profile string, expires time.Time) (secret string, err error) {
	if !isName(name) {
		return "", fmt.Errorf("%q cannot be the name of a token; want at most 64 letters, digits and . _ -, beginning with a letter or digit", name)
	}
	if profile != "" && !isName(profile) {
		return "", fmt.Errorf("%q cannot be the name of a profile", profile)
	}
	var random [32]byte
	_, _ = rand.Read(random[:]) // never fails
	secret = Prefix + base64.RawURLEncoding.EncodeToString(random[:])
	token := Token{Name: name, Profile: profile, Created: time.Now().UTC().Truncate(time.Second), Expires: expires.UTC(), SHA256: hashOf(secret)}
	if expires.IsZero() {
		token.Expires = time.Time{}
	}
	return secret, t.update(ctx, func(all []Token) ([]Token, error) {
		switch {
		case slices.ContainsFunc(all, func(t Token) bool { return t.Name == name }):
			return nil, fmt.Errorf("there is a token %q already; choose another name, or first run: toolpost token revoke %s", name, name)
		case len(all) >= maxTokens:
			return nil, fmt.Errorf("there are %d tokens, which is the limit; revoke some", len(all))
		}
		return append(all, token), nil
	})
}

// Revoke removes the token of a name.
func (t *Tokens) Revoke(ctx context.Context, name string) error {
	return t.update(ctx, func(all []Token) ([]Token, error) {
		i := slices.IndexFunc(all, func(t Token) bool { return t.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("there is no token %q; \"toolpost token list\" lists them", name)
		}
		return slices.Delete(all, i, i+1), nil
	})
}

// List returns the tokens in the order in which they were added.
func (t *Tokens) List() ([]Token, error) {
	raw, err := t.vault.Get(stored)
	if errors.Is(err, vault.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return readTokens(raw)
}

func readTokens(raw []byte) (all []Token, err error) {
	if len(raw) == 0 {
		return nil, nil
	}
	if err := json.Unmarshal(raw, &all); err != nil {
		return nil, fmt.Errorf("read the tokens of callers: %w", err)
	}
	return all, nil
}

func (t *Tokens) update(ctx context.Context, change func([]Token) ([]Token, error)) error {
	return t.vault.Update(ctx, stored, func(raw []byte) ([]byte, error) {
		all, err := readTokens(raw)
		if err == nil {
			all, err = change(all)
		}
		if err != nil || len(all) == 0 {
			return nil, err
		}
		return json.MarshalIndent(all, "", "  ")
	})
}

// Follow uses the tokens of the folder until ctx ends, also those that are added
// and revoked meanwhile. It returns once the first ones are read. When a token is
// revoked or has expired, ended is called with its [Caller].Identity. If they cannot be
// read, no token is good, and report is called.
func (t *Tokens) Follow(ctx context.Context, ended func(identity string), report func(error)) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	load := func() {
		all, err := t.List()
		if err != nil {
			report(err)
		}
		t.use(all, ended)
	}
	load()
	var watch sync.WaitGroup
	watch.Go(func() {
		if err := os.MkdirAll(t.dir, 0o700); err != nil {
			report(err) // it may come later
		}
		filewatch.Watch(ctx, []string{vault.File(t.dir, stored)}, load)
	})
	return func() {
		cancel()
		watch.Wait()
		t.use(nil, func(string) {})
	}
}

// use replaces the tokens that are good.
func (t *Tokens) use(all []Token, ended func(identity string)) {
	t.mu.Lock()
	before := t.live
	t.live = map[string]*liveToken{}
	for _, token := range all {
		known := before[token.SHA256]
		if known == nil || known.Token != token {
			known = newLiveToken(token, ended)
		} else {
			delete(before, token.SHA256)
		}
		t.live[token.SHA256] = known
	}
	t.mu.Unlock()
	for _, gone := range before {
		if gone.timer != nil {
			gone.timer.stop()
		}
		gone.end()
		ended(gone.identity())
	}
}

func newLiveToken(token Token, ended func(identity string)) *liveToken {
	l := &liveToken{Token: token}
	l.ctx, l.end = context.WithCancel(context.Background())
	if !token.Expires.IsZero() {
		l.timer = afterDeadline(token.Expires, time.Now, func() {
			l.end()
			ended(token.identity())
		})
	}
	return l
}

// Check returns the caller that a named token belongs to. Both results are nil if
// the token does not have the form of one.
func (t *Tokens) Check(token string) (*Caller, *Refusal) {
	if !strings.HasPrefix(token, Prefix) {
		return nil, nil
	}
	t.mu.RLock()
	found := t.live[hashOf(token)] // how long this takes depends on the hash only, which a caller cannot choose
	t.mu.RUnlock()
	switch {
	case found == nil:
		return nil, invalidToken("this token was revoked, or never existed: on the machine that serves, toolpost token add NAME makes another one")
	case found.Expired():
		return nil, invalidToken(fmt.Sprintf("the token %s expired at %s: on the machine that serves, run toolpost token revoke %s and toolpost token add %s",
			found.Name, found.Expires.Format(time.RFC3339), found.Name, found.Name))
	}
	c := &Caller{Identity: found.identity(), Ended: found.ctx}
	if found.Profile != "" {
		c.Profiles = []string{found.Profile}
	}
	return c, nil
}

func hashOf(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}
