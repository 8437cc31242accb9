package gateway

import (
	"log/slog"
	"testing"

	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/upstream"
)

// The lists that are stored of a server are those of its account: another client, scope or
// resource may see other tools. A rotated secret changes nothing.
func TestPrintOfAuth(t *testing.T) {
	r := newMemory(&Catalog{Dir: t.TempDir(), Config: "c"}, slog.New(slog.DiscardHandler))
	printOf := func(change func(a *config.Auth)) string {
		a := &config.Auth{ClientID: "one", ClientSecret: "secret", Issuer: "https://login.example.com", Scopes: []string{"read"}}
		a.Exchange.ClientSecret = "secret"
		change(a)
		return r.printOf(&config.Server{Config: upstream.Config{Name: "a", URL: "https://a.example.com/mcp"}, Auth: a})
	}
	before := printOf(func(*config.Auth) {})
	for name, change := range map[string]func(a *config.Auth){
		"client":   func(a *config.Auth) { a.ClientID = "two" },
		"issuer":   func(a *config.Auth) { a.Issuer = "https://other.example.com" },
		"scopes":   func(a *config.Auth) { a.Scopes = []string{"read", "write"} },
		"secret":   func(a *config.Auth) { a.ClientSecret = "rotated" },
		"exchange": func(a *config.Auth) { a.Exchange.ClientSecret = "rotated" },
	} {
		if same := printOf(change) == before; same != (name == "secret" || name == "exchange") {
			t.Errorf("another %s: the same lists are used: %v", name, same)
		}
	}
	without := r.printOf(&config.Server{Config: upstream.Config{Name: "a", URL: "https://a.example.com/mcp"}})
	if without == before || without == "" {
		t.Error("without auth, the lists of an account are used")
	}
}
