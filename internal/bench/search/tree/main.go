//go:build unix

// Command tree calls the tool grep once, and prints what the call cost.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/bench/search/cost"
	"github.com/toolpost/toolpost/stdtool"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: tree FOLDER PATTERN")
		os.Exit(2)
	}
	if err := search(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "tree:", err)
		os.Exit(1)
	}
}

func search(folder, pattern string) error {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer root.Close()
	set, err := toolpost.NewSet(context.Background(), stdtool.ReadOnly(root))
	if err != nil {
		return err
	}
	arguments, err := json.Marshal(map[string]any{"pattern": pattern, "mode": "count", "max_matches": 10_000})
	if err != nil {
		return err
	}
	return cost.Print(func() error {
		r, err := set.Call(context.Background(), &toolpost.Call{Name: "grep", Arguments: arguments})
		if err == nil && r.IsError() {
			err = fmt.Errorf("the call failed: %v", r.Parts())
		}
		return err
	})
}
