package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/toolpost/toolpost/gateway"
)

const configName = "toolpost.json"

// A configuration is a gateway's, and the file it came from.
type configuration struct {
	*gateway.Config
	file string // "" if it did not come from a file
}

// findConfiguration loads the file at path, or if path is empty the first of:
// the variable MCP_URLS, ./toolpost.json, the user's toolpost.json. It returns
// nil if there is none.
func findConfiguration(path string) (*configuration, error) {
	if urls := os.Getenv("MCP_URLS"); path == "" && urls != "" {
		cfg, err := gateway.EnvConfig(urls)
		if err != nil {
			return nil, usageError{err}
		}
		return &configuration{Config: cfg}, nil
	}
	if path == "" {
		var err error
		if path, err = defaultFile(); path == "" || err != nil {
			return nil, err
		}
	}
	cfg, err := gateway.LoadConfig(path)
	if err != nil {
		return nil, usageError{err}
	}
	return &configuration{cfg, path}, nil
}

// defaultFile returns the configuration file that is used if none is named.
func defaultFile() (string, error) {
	candidates := []string{configName}
	if dir, err := os.UserConfigDir(); err == nil {
		candidates = append(candidates, filepath.Join(dir, "toolpost", configName))
	}
	for _, file := range candidates {
		_, err := os.Stat(file)
		if err == nil {
			return file, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("look for configuration: %w; name one with --config", err)
		}
	}
	return "", nil
}
