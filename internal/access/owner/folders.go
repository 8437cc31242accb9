package owner

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/toolpost/toolpost/store"
)

// SettingsDir is the user's folder for Toolpost's settings.
func SettingsDir() (string, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("find the user's configuration folder: %w", err)
	}
	return filepath.Join(dir, "toolpost"), nil
}

// StateDir is the folder for what is neither a setting nor a cache.
func StateDir() (string, error) {
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "toolpost"), nil
	}
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		dir, err := os.UserConfigDir()
		if err != nil {
			return "", fmt.Errorf("find the user's folder for states: %w", err)
		}
		return filepath.Join(dir, "toolpost"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("find the user's folder for states: %w", err)
	}
	return filepath.Join(home, ".local", "state", "toolpost"), nil
}

// Dirs returns all folders that Toolpost writes to, apart from those of configurations.
func Dirs() (dirs []string, err error) {
	for _, find := range []func() (string, error){SettingsDir, StateDir, cacheDir} {
		dir, err := find()
		if err != nil {
			return nil, err
		}
		if !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	return dirs, nil
}

// Makes reports whether an entry of [Dirs] is one that Toolpost makes, or asks the user to
// make. Others are the user's: a variable such as XDG_CACHE_HOME can make one of these
// folders a project.
func Makes(name string) bool {
	switch name = strings.TrimSuffix(name, "-lock"); name {
	case ConfigName, "toolpost.lock", "bundles", "callers", "linked", "locks", "pins", "secrets", "token", "trusted", "vault.toolpost-secret",
		"service.env", "service.json", "service.log", "service.log.1", "service.xml",
		"audit", "decisions.key", "running", "sessions",
		"catalog", "output", "saved":
		return true
	}
	return strings.HasPrefix(name, ".toolpost-") // of a write that was killed
}

// AuditDir is where serve writes the audit log.
func AuditDir() (string, error) {
	dir, err := StateDir()
	return filepath.Join(dir, "audit"), err
}

// OutputDir is where serve keeps large outputs.
func OutputDir() (string, error) {
	dir, err := cacheDir()
	return filepath.Join(dir, "output"), err
}

// CatalogDir is where serve stores what servers list.
func CatalogDir() (string, error) {
	dir, err := cacheDir()
	return filepath.Join(dir, "catalog"), err
}

// cacheDir is the user's folder for what Toolpost can make again.
func cacheDir() (string, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find the user's cache folder: %w", err)
	}
	return filepath.Join(dir, "toolpost"), nil
}

// OutputStore opens that folder. Without it, outputs are kept in memory.
func OutputStore(log *slog.Logger) (s store.Store, dir string) {
	dir, err := OutputDir()
	if err == nil {
		if s, err = store.Dir(dir, nil); err == nil {
			return s, dir
		}
	}
	log.Warn("large outputs are kept in memory and lost when this process ends", "err", err)
	return store.Memory(nil), ""
}
