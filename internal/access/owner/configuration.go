package owner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/ownership"
	"github.com/toolpost/toolpost/internal/policy/trust"
)

// ConfigName is the name of configuration files.
const ConfigName = "toolpost.json"

// Find loads the file at path, or if path is empty the first of: the variable MCP_URLS,
// ./toolpost.json, the user's toolpost.json. It returns nil if there is none. The file of
// the current folder is returned only if the user has approved it, or if approve, which
// may ask the user, returns nil.
func Find(ctx context.Context, path string, approve func(context.Context, *Review) error) (*config.Config, error) {
	if urls := os.Getenv("MCP_URLS"); path == "" && urls != "" {
		cfg, err := config.FromURLs(urls)
		if err != nil {
			return nil, UsageError{err}
		}
		return cfg, nil
	}
	if path != "" {
		return LoadNamed(ctx, path)
	}
	path, own, err := DefaultFile()
	if path == "" || err != nil {
		return nil, err
	}
	if err := ownership.Check(path); err != nil {
		return nil, usagef("%w; or name another file with --config", err)
	}
	cfg, err := Load(ctx, path)
	if err != nil {
		return nil, UsageError{err}
	}
	if own {
		return cfg, nil
	}
	r, err := NewReview(cfg)
	if err != nil {
		return nil, usagef("%w; to use the file without an approval, name it with --config %s", err, path)
	}
	if !r.Approved() {
		err = approve(ctx, r)
	}
	return cfg, err
}

// LoadNamed loads a file that the user has named, which approves it. The
// mode of the file is not a reason to refuse it: there are file systems without
// modes, and containers in which every mounted file belongs to another user.
func LoadNamed(ctx context.Context, path string) (*config.Config, error) {
	cfg, err := Load(ctx, path)
	if err != nil {
		return nil, UsageError{err}
	}
	if ownership.OthersCanWrite(path) {
		cfg.Findings = append(cfg.Findings, toolpost.Finding{
			Message: fmt.Sprintf("every user of this machine can write %s, and so make toolpost run programs as you; run: chmod o-w %q", path, path),
		})
	}
	return cfg, nil
}

// Load is [config.Load], which returns when ctx is done: a network drive may never answer.
func Load(ctx context.Context, path string) (cfg *config.Config, err error) {
	done := make(chan struct{})
	var read *config.Config
	var failed error
	go func() {
		defer close(done)
		read, failed = config.Load(path)
	}()
	select {
	case <-done:
		return read, failed
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// DefaultFile returns the configuration file that is used if none is named. Own
// reports whether it is the user's, not the current folder's.
func DefaultFile() (file string, own bool, err error) {
	users := UserFile()
	for _, file := range []string{ConfigName, users} {
		if file == "" {
			continue
		}
		_, err := os.Stat(file)
		if err == nil {
			return file, SameFile(file, users), nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", false, fmt.Errorf("look for a configuration: %w; name one with --config", err)
		}
	}
	return "", false, nil
}

// UserFile returns the path of the user's own configuration file, "" if the user has no
// folder for settings.
func UserFile() string {
	dir, err := os.UserConfigDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "toolpost", ConfigName)
}

// SameFile reports whether two paths are the same place.
func SameFile(a, b string) bool {
	if a == "" || b == "" {
		return false
	}
	placeA, errA := trust.Locate(a)
	placeB, errB := trust.Locate(b)
	return cmp.Or(errA, errB) == nil && placeA == placeB
}
