package callers_test

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/toolpost/toolpost/internal/access/callers"
)

func Example() {
	dir, err := os.MkdirTemp("", "callers")
	if err != nil {
		return
	}
	defer os.RemoveAll(dir)
	tokens := callers.OpenTokens(dir)
	secret, err := tokens.Add(context.Background(), "ci", "reading", time.Time{})
	if err != nil {
		fmt.Println(err)
	}
	stop := tokens.Follow(context.Background(), func(string) {}, func(error) {})
	defer stop()
	caller, _ := tokens.Check(secret)
	fmt.Println(caller.Identity, caller.Profiles)
	_, refusal := tokens.Check(secret + "x")
	fmt.Println(refusal.Status, refusal.Code)
	// Output:
	// token ci [reading]
	// 401 invalid_token
}
