package observe_test

import (
	"context"
	"fmt"

	"github.com/toolpost/toolpost/observe"
)

// An observer that prints how each request ended.
func ExampleObserver() {
	var observer observe.Observer = func(ctx context.Context, r *observe.Request) (context.Context, func(*observe.Response)) {
		return ctx, func(response *observe.Response) {
			server := "no server"
			if to := r.Target(); to != nil {
				server = to.Server
			}
			fmt.Println(r.Method, r.Name, server, response.Outcome)
		}
	}

	// A server of package mcpserver does this for each request, if the observer is
	// its option Observe.
	ctx, r := observe.Begin(context.Background())
	r.Method, r.Name = "tools/call", "files__read"
	ctx, end := observer(ctx, r)
	observe.From(ctx).SetTarget(&observe.Target{Server: "files", Name: "read"}) // the gateway does this
	end(&observe.Response{Outcome: observe.OK})
	// Output: tools/call files__read files ok
}
