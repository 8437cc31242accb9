package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/stdtool"
)

// A folder is what is served without any configuration: tools that read
// the files in it.
type folder struct {
	path string
	root *os.Root
	live *toolpost.Live
}

// openFolder opens the current folder.
func openFolder(ctx context.Context) (*folder, error) {
	path, err := os.Getwd()
	if err != nil {
		return nil, fmt.Errorf("open the current folder: %w", err)
	}
	if filepath.Dir(path) == path {
		return nil, usagef("there is no %s, and the current folder is the whole file system, which is not served; "+
			"start toolpost in another folder, or name a configuration with --config", configName)
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, fmt.Errorf("open the current folder: %w", err)
	}
	live, err := toolpost.NewLive(ctx, stdtool.ReadOnly(root))
	if err != nil {
		return nil, err
	}
	return &folder{path, root, live}, nil
}
