package serve

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/access/callers"
	"github.com/toolpost/toolpost/internal/access/login"
	"github.com/toolpost/toolpost/internal/access/owner"
	"github.com/toolpost/toolpost/internal/access/vault"
	"github.com/toolpost/toolpost/observe"
	"github.com/toolpost/toolpost/upstream"
)

// Clients are asked for logins only where their browser is on this machine.
func TestLoginForLocalCallers(t *testing.T) {
	logins := login.New(vault.Folder(t.TempDir()), nil)
	for name, test := range map[string]struct {
		addr   string // "" for stdio
		hosts  []string
		access *access
		ssh    string
		asks   bool
	}{
		"stdio":             {asks: true},
		"loopback":          {addr: "127.0.0.1:0", asks: true},
		"all addresses":     {addr: "0.0.0.0:0"},
		"a proxy in front":  {addr: "127.0.0.1:0", hosts: []string{"tools.example.com"}},
		"callers who login": {addr: "127.0.0.1:0", access: &access{login: new(callers.Resource)}},
		"a remote shell":    {ssh: "192.0.2.1 50000 192.0.2.2 22"},
	} {
		t.Setenv("SSH_CONNECTION", test.ssh)
		if test.access == nil {
			test.access = &access{}
		}
		var l *listener
		if test.addr != "" {
			var err error
			if l, err = listen(test.addr); err != nil {
				t.Fatal(err)
			}
			defer l.Close()
		}
		s := &Endpoint{log: slog.New(slog.DiscardHandler), options: Options{Hosts: test.hosts}, access: test.access, listener: l}
		if got := s.loginFor(logins) != nil; got != test.asks {
			t.Errorf("%s: asks %v, want %v", name, got, test.asks)
		}
	}
}

// A login is the owner's: other callers do not bring an account of their own.
func TestLoginForOwner(t *testing.T) {
	t.Setenv("SSH_CONNECTION", "")
	s := &Endpoint{log: slog.New(slog.DiscardHandler), access: &access{}}
	s.secrets = owner.NewSecrets()
	logIn := s.loginFor(login.New(vault.Folder(t.TempDir()), nil))
	server := &config.Server{Config: upstream.Config{Name: "it", URL: "http://127.0.0.1:1/mcp"}}
	for identity, refused := range map[string]bool{"": false, "token ci": true, "profile reading": true, "ada@https://login.example.com": true} {
		ctx, r := observe.Begin(t.Context())
		r.Client.Identity = identity
		err := logIn(ctx, server, &toolpost.Call{}, time.Now()) // the owner's fails at the address, where nothing listens
		if err == nil || errors.Is(err, errNotOwner) != refused {
			t.Errorf("%q: %v", identity, err)
		}
	}
	if err := logIn(context.Background(), server, &toolpost.Call{}, time.Now()); !errors.Is(err, errNotOwner) {
		t.Errorf("an unknown caller: %v", err)
	}
}
