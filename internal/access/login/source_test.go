package login

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/access/vault"
	"github.com/toolpost/toolpost/upstream"
)

// A renewal that began before a token was refused, and that ends with this token, does not
// have the token sent again.
func TestRenewalThatBeganBefore(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		l := New(vault.Folder(dir), nil)
		s := l.source(&config.Server{Config: upstream.Config{Name: "it", URL: "http://127.0.0.1:9/mcp"}}, "toolpost login it")
		refused := &record{Server: s.server, grantedTokens: grantedTokens{Access: "refused", Expiry: time.Now().Add(time.Hour)}}
		f := &flight{done: make(chan struct{}), record: refused}
		s.flight = f
		var got *record
		var err error
		done := make(chan struct{})
		go func() {
			defer close(done)
			got, err = s.renew(t.Context(), "refused")
		}()
		synctest.Wait()
		s.mu.Lock()
		s.flight, s.held = nil, refused
		s.mu.Unlock()
		close(f.done)
		<-done
		if got != nil || !isLogin(err) { // nothing is stored
			t.Errorf("got %+v, %v", got, err)
		}
	})
}
