package serve_test

import (
	"context"
	"fmt"
	"io"
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
