//go:build unix

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/stdtool"
)

// searchTree calls the tool grep once.
func searchTree(folder, pattern string) error {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer root.Close()
	set, err := toolpost.NewSet(context.Background(), stdtool.NewWorkspace(root).ReadOnly())
	if err != nil {
		return err
	}
	arguments, err := json.Marshal(map[string]any{"pattern": pattern, "mode": "count", "max_matches": 10_000})
	if err != nil {
		return err
	}
	return measured(func() error {
		r, err := set.Call(context.Background(), &toolpost.Call{Name: "grep", Arguments: arguments})
		if err == nil && r.IsError() {
			err = fmt.Errorf("the call failed: %v", r.Parts())
		}
		return err
	})
}
