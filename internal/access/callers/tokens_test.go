package callers_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolpost/toolpost/internal/access/callers"
	"github.com/toolpost/toolpost/internal/secret"
)

// patience is how long a test waits for what must happen.
const patience = time.Minute

// following follows the tokens of a folder. The identities that end are sent.
func following(t *testing.T, dir string) (*callers.Tokens, <-chan string) {
	t.Helper()
	tokens, ended := callers.OpenTokens(dir), make(chan string, 10)
	stop := tokens.Follow(t.Context(), func(identity string) { ended <- identity }, func(err error) { t.Logf("reported: %v", err) })
	t.Cleanup(stop)
	return tokens, ended
}

func add(t *testing.T, tokens *callers.Tokens, name, profile string, expires time.Time) string {
	t.Helper()
	secret, err := tokens.Add(t.Context(), name, profile, expires)
	if err != nil {
		t.Fatal(err)
	}
	return secret
}

// await waits until a condition holds.
func await(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("it did not happen that %s", what)
		}
	}
}

// A process that serves notices what another process adds and revokes, and a
// stream of a caller ends with its token.
func TestTokensFollow(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "callers")
	tokens, ended := following(t, dir)
	command := callers.OpenTokens(dir)
	secret := add(t, command, "ci", "reading", time.Time{})
	other := add(t, command, "alice", "", time.Time{})
	var caller *callers.Caller
	await(t, "the tokens are good", func() bool {
		caller, _ = tokens.Check(secret)
		own, _ := tokens.Check(other)
		return caller != nil && own != nil && own.Profiles == nil
	})
	if caller.Identity != "token ci" || fmt.Sprint(caller.Profiles) != "[reading]" {
		t.Errorf("got %+v", caller)
	}
	ctx, done := caller.Bound(t.Context(), true)
	defer done()
	if ctx.Err() != nil {
		t.Error("the stream has ended already")
	}
	if err := command.Revoke(t.Context(), "ci"); err != nil {
		t.Fatal(err)
	}
	select {
	case <-ctx.Done():
	case <-time.After(patience):
		t.Fatal("the stream goes on")
	}
	if identity := <-ended; identity != "token ci" {
		t.Errorf("%q ended", identity)
	}
	if caller, refusal := tokens.Check(secret); caller != nil || !strings.Contains(refusal.Message, "was revoked, or never existed") {
		t.Errorf("got %+v, %v", caller, refusal)
	}
	if caller, refusal := tokens.Check(other); caller == nil {
		t.Errorf("another token: %v", refusal)
	}
}

// A token of the same name is another one, and ends what the first one opened.
func TestTokenOfTheSameName(t *testing.T) {
	dir := t.TempDir()
	command := callers.OpenTokens(dir)
	first := add(t, command, "ci", "", time.Time{})
	tokens, ended := following(t, dir)
	if caller, refusal := tokens.Check(first); caller == nil {
		t.Fatal(refusal)
	}
	if err := command.Revoke(t.Context(), "ci"); err != nil {
		t.Fatal(err)
	}
	second := add(t, command, "ci", "", time.Time{})
	await(t, "the second is good", func() bool { caller, _ := tokens.Check(second); return caller != nil })
	if caller, _ := tokens.Check(first); caller != nil {
		t.Error("the first one is still good")
	}
	if identity := <-ended; identity != "token ci" {
		t.Errorf("%q ended", identity)
	}
}

func TestTokenExpires(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		secret := add(t, callers.OpenTokens(dir), "ci", "", time.Now().Add(time.Hour))
		tokens, ended := callers.OpenTokens(dir), make(chan string, 1)
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		cancel() // the file is read once and not watched
		stop := tokens.Follow(ctx, func(identity string) { ended <- identity }, func(error) {})
		defer stop()
		caller, refusal := tokens.Check(secret)
		if refusal != nil {
			t.Fatal(refusal)
		}
		open, done := caller.Bound(t.Context(), true)
		defer done()
		time.Sleep(time.Hour - time.Second)
		if _, refusal := tokens.Check(secret); refusal != nil || open.Err() != nil {
			t.Fatalf("it expired too early: %v, %v", refusal, open.Err())
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if _, refusal := tokens.Check(secret); refusal == nil || !strings.Contains(refusal.Message, "the token ci expired at ") {
			t.Errorf("got %v", refusal)
		}
		if open.Err() == nil || <-ended != "token ci" {
			t.Error("the stream goes on")
		}
	})
}

// What is stored does not contain the token, and only its owner can read it.
// Everything that hides secrets finds the token.
func TestTokenIsSecret(t *testing.T) {
	dir := t.TempDir()
	tokens := callers.OpenTokens(dir)
	token := add(t, tokens, "ci", "", time.Time{})
	if !regexp.MustCompile(`^toolpost_[A-Za-z0-9_-]{43}$`).MatchString(token) {
		t.Errorf("got %s", token)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		raw, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if info, _ := e.Info(); err != nil || strings.Contains(string(raw), token[len(callers.Prefix):]) || info.Mode().Perm()&0o077 != 0 && os.PathSeparator == '/' {
			t.Errorf("%s: %v, %v, %s", e.Name(), err, info.Mode(), raw)
		}
	}
	if text := secret.RedactText("sent " + token + "!"); text != "sent "+secret.Mark+"!" {
		t.Errorf("got %q", text)
	}
	if !secret.Is("x", token) {
		t.Error("it is not taken for a secret")
	}
}

func TestAddRefuses(t *testing.T) {
	tokens := callers.OpenTokens(t.TempDir())
	add(t, tokens, "ci", "", time.Time{})
	for name, want := range map[string]string{"": "cannot be the name", "a b": "cannot be the name", "-x": "cannot be the name", "a@b": "cannot be the name", "ci": "toolpost token revoke ci"} {
		if _, err := tokens.Add(t.Context(), name, "", time.Time{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", name, err)
		}
	}
	if _, err := tokens.Add(t.Context(), "x", "../x", time.Time{}); err == nil {
		t.Error("a bad profile was accepted")
	}
	if err := tokens.Revoke(t.Context(), "none"); err == nil || !strings.Contains(err.Error(), "toolpost token list") {
		t.Errorf("got %v", err)
	}
}

// Tokens that several processes add at the same time are all kept.
func TestAddConcurrently(t *testing.T) {
	dir := t.TempDir()
	var all sync.WaitGroup
	for i := range 10 {
		all.Go(func() {
			if _, err := callers.OpenTokens(dir).Add(t.Context(), fmt.Sprint("t", i), "", time.Time{}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if listed, err := callers.OpenTokens(dir).List(); len(listed) != 10 || err != nil {
		t.Errorf("got %v, %v", listed, err)
	}
}

// A file of tokens that cannot be read lets no caller in.
func TestBrokenTokens(t *testing.T) {
	dir := t.TempDir()
	secret := add(t, callers.OpenTokens(dir), "ci", "", time.Time{})
	files, err := filepath.Glob(filepath.Join(dir, "*-secret"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	tokens, ended := following(t, dir)
	if caller, _ := tokens.Check(secret); caller == nil {
		t.Fatal("the token is not good")
	}
	if err := os.WriteFile(files[0], []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if identity := <-ended; identity != "token ci" {
		t.Errorf("%q ended", identity)
	}
	if caller, _ := tokens.Check(secret); caller != nil {
		t.Error("the token is still good")
	}
}
