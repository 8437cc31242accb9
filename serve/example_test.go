package serve_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/serve"
)

// A tool that only reads is served on loopback without a token, until the context ends.
func ExampleOpenTools() {
	ctx, stop := context.WithCancel(context.Background())
	readOnly := true
	weather := toolpost.New("weather", "Returns the weather of a city.", func(_ context.Context, in struct{ City string }) (string, error) {
		return "Sunny in " + in.City, nil
	}, &toolpost.Options{Annotations: toolpost.Annotations{ReadOnly: &readOnly}})
	e, err := serve.OpenTools(ctx, toolpost.Tools{weather}, &serve.Options{Addr: "127.0.0.1:0"})
	if err != nil {
		panic(err)
	}
	defer e.Close()
	done := make(chan error)
	go func() { done <- e.Serve(ctx) }()

	fmt.Println("a token is needed:", e.Access().Token != "")
	answer, err := http.Get(strings.TrimSuffix(e.Access().URL, "/mcp") + "/healthz")
	if err != nil {
		panic(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	fmt.Print(string(text), err, "\n")

	stop()
	fmt.Println(<-done)
	// Output:
	// a token is needed: false
	// {"status":"ok","tools":1,"servers":[]}
	// <nil>
	// <nil>
}

// A program with a login of its own serves tools to its users, whom it knows by a cookie.
func ExampleOptions() {
	ctx, stop := context.WithCancel(context.Background())
	users := map[string]string{"3f9a": "alice"} // by the value of the cookie
	weather := toolpost.New("weather", "Returns the weather of a city.", func(_ context.Context, in struct{ City string }) (string, error) {
		return "Sunny in " + in.City, nil
	}, nil)
	e, err := serve.OpenTools(ctx, toolpost.Tools{weather}, &serve.Options{
		Addr: "127.0.0.1:0",
		Authenticate: func(r *http.Request) (user, profile string, err error) {
			cookie, err := r.Cookie("session")
			if err != nil {
				return "", "", err
			}
			if user = users[cookie.Value]; user == "" {
				return "", "", errors.New("the session is over")
			}
			return user, "", nil
		},
		Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		panic(err)
	}
	defer e.Close()
	done := make(chan error)
	go func() { done <- e.Serve(ctx) }()

	for _, cookie := range []string{"3f9a", "forged"} {
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, e.Access().URL, strings.NewReader(
			`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"app","version":"1"}}}`))
		if err != nil {
			panic(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		r.AddCookie(&http.Cookie{Name: "session", Value: cookie})
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			panic(err)
		}
		answer.Body.Close()
		fmt.Println(cookie, answer.StatusCode)
	}
	stop()
	fmt.Println(<-done)
	// Output:
	// 3f9a 200
	// forged 401
	// <nil>
}
