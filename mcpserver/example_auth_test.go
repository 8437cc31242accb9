package mcpserver_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/mcpserver"
)

type nameKey struct{}

// authenticate is a middleware that knows one token.
func authenticate(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer secret of alice" {
			http.Error(w, "send a token", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), nameKey{}, "alice")))
	})
}

// A server behind a middleware that authenticates, below a prefix.
func ExampleServer_ServeHTTP() {
	whoami := toolpost.New("whoami", "Report who calls", func(ctx context.Context, _ struct{}) (string, error) {
		name, _ := ctx.Value(nameKey{}).(string)
		return name, nil
	}, nil)
	server, err := mcpserver.New(context.Background(), toolpost.Tools{whoami}, &mcpserver.Options{Identity: func(r *http.Request) string {
		name, _ := r.Context().Value(nameKey{}).(string)
		return name
	}})
	if err != nil {
		panic(err)
	}
	defer server.Close()
	h := authenticate(http.StripPrefix("/tools", server))

	body, header := modernCall("whoami", "{}", "")
	r := httptest.NewRequest("POST", "http://localhost/tools/mcp", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer secret of alice")
	for line := range strings.Lines(header) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	fmt.Println(w.Code, strings.Contains(w.Body.String(), `"text":"alice"`))
	// Output: 200 true
}
