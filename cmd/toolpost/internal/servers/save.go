package servers

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/configfile"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/access/owner"
	"github.com/toolpost/toolpost/internal/cleartext"
)

// saveConfiguration writes a toolpost.json, unless it has changed since it was read,
// and remembers it as approved, because the user has seen the change and wants it.
// Servers that the file already had count only if the user has approved them before.
func saveConfiguration(ctx context.Context, w io.Writer, file string, before, after []byte, message string) error {
	known := approvedBefore(file, before)
	err := configfile.WithLock(ctx, file, func() error {
		return configfile.SaveIf(file, after, func() error {
			now, err := config.Read(file)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			if !configfile.Equal(now, before) {
				return errors.New("it changed since this command read it; run the command again")
			}
			return nil
		})
	})
	if err != nil {
		return fmt.Errorf("write %s: %w", file, err)
	}
	fmt.Fprintln(w, message)
	if known {
		known = approveData(file, after) == nil
	}
	if !known {
		fmt.Fprintf(w, "It is not approved yet; run: toolpost trust %s\n", cleartext.ShellWord(file))
	}
	return nil
}

// approvedBefore reports whether a content of the file is approved, or has
// nothing to approve.
func approvedBefore(file string, data []byte) bool {
	if len(bytes.TrimSpace(data)) == 0 {
		return true
	}
	cfg, err := configfile.Load(file, data)
	if err != nil {
		return false
	}
	r, err := owner.NewReview(cfg)
	return err == nil && (r.Approved() || len(cfg.Servers) == 0)
}

func approveData(file string, data []byte) error {
	cfg, err := configfile.Load(file, data)
	if err != nil {
		return err
	}
	r, err := owner.NewReview(cfg)
	if err != nil {
		return err
	}
	return r.Approve()
}

// readIfExists returns the content of a configuration, or nil if the file does not exist.
func readIfExists(file string) ([]byte, error) {
	data, err := config.Read(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return data, err
}
