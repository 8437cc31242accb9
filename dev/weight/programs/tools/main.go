// Command tools is what a user of the root package may write, to be weighed.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/toolpost/toolpost"
)

func main() {
	ctx := context.Background()
	greet := toolpost.New("greet", "Greets.", func(_ context.Context, in struct{ Name string }) (string, error) {
		return "Hello, " + in.Name, nil
	}, nil)
	set, err := toolpost.NewSet(ctx, toolpost.Prefix(toolpost.Tools{greet}, "demo_"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	fmt.Println(set.CallText(ctx, "demo_greet", map[string]string{"name": "Ada"}))
}
