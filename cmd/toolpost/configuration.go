package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/cli"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/ownership"
	"github.com/toolpost/toolpost/internal/policy/trust"
)

const configName = "toolpost.json"

// A configuration is a gateway's, and the file it came from.
type configuration struct {
	*config.Config
	file   string // "" if it did not come from a file
	urls   string // the value of MCP_URLS, if it came from there
	bridge bool   // it is one server of the command line, which clients see as it is
}

// findConfiguration loads the file at path, or if path is empty the first of:
// the variable MCP_URLS, ./toolpost.json, the user's toolpost.json. It returns
// nil if there is none. The file of the current folder is returned only if the
// user has approved it, or does so when p asks.
func findConfiguration(ctx context.Context, path string, p *cli.Prompter) (*configuration, error) {
	if urls := os.Getenv("MCP_URLS"); path == "" && urls != "" {
		cfg, err := config.FromURLs(urls)
		if err != nil {
			return nil, cli.WrapUsage(err)
		}
		return &configuration{Config: cfg, urls: urls}, nil
	}
	if path != "" {
		return namedConfiguration(ctx, path)
	}
	path, own, err := defaultFile()
	if path == "" || err != nil {
		return nil, err
	}
	if err := ownership.Check(path); err != nil {
		return nil, cli.Usagef("%w; or name another file with --config", err)
	}
	cfg, err := loadConfig(ctx, path)
	if err != nil {
		return nil, cli.WrapUsage(err)
	}
	if !own {
		err = requireApproval(ctx, p, path, cfg)
	}
	return &configuration{Config: cfg, file: path}, err
}

// namedConfiguration loads a file that the user has named, which approves it. The
// mode of the file is not a reason to refuse it: there are file systems without
// modes, and containers in which every mounted file belongs to another user.
func namedConfiguration(ctx context.Context, path string) (*configuration, error) {
	cfg, err := loadConfig(ctx, path)
	if err != nil {
		return nil, cli.WrapUsage(err)
	}
	if ownership.OthersCanWrite(path) {
		cfg.Findings = append(cfg.Findings, toolpost.Finding{
			Message: fmt.Sprintf("every user of this machine can write %s, and so make toolpost run programs as you; run: chmod o-w %q", path, path),
		})
	}
	return &configuration{Config: cfg, file: path}, nil
}

func loadConfig(ctx context.Context, path string) (*config.Config, error) {
	return cli.Interruptible(ctx, func() (*config.Config, error) { return config.Load(path) })
}

// defaultFile returns the configuration file that is used if none is named. Own
// reports whether it is the user's, not the current folder's.
func defaultFile() (file string, own bool, err error) {
	users := userConfiguration()
	for _, file := range []string{configName, users} {
		if file == "" {
			continue
		}
		_, err := os.Stat(file)
		if err == nil {
			return file, sameFile(file, users), nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", false, fmt.Errorf("look for a configuration: %w; name one with --config", err)
		}
	}
	return "", false, nil
}

// userConfiguration is the user's own configuration file, "" if there is no place for it.
func userConfiguration() string {
	dir, err := os.UserConfigDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "toolpost", configName)
}

// sameFile reports whether two paths are the same place.
func sameFile(a, b string) bool {
	if a == "" || b == "" {
		return false
	}
	placeA, errA := trust.Locate(a)
	placeB, errB := trust.Locate(b)
	return cmp.Or(errA, errB) == nil && placeA == placeB
}
