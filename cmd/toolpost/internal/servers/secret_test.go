package servers

import (
	"context"
	"errors"
	"testing"

	"github.com/toolpost/toolpost/internal/access/vault"
)

// A lostSecret is a vault that lists a secret that it can no longer read.
type lostSecret struct {
	vault.Vault
	removed bool
}

func (v *lostSecret) Names() ([]string, error) { return []string{"lost"}, nil }

func (v *lostSecret) Update(_ context.Context, _ string, change func([]byte) ([]byte, error)) error {
	secret, err := change(nil)
	v.removed = err == nil && secret == nil
	return err
}

// A secret that the keyring has lost can be removed from the list.
func TestRemoveLostSecret(t *testing.T) {
	v := &lostSecret{}
	if err := removeSecret(t.Context(), v, "lost"); err != nil || !v.removed {
		t.Errorf("removed %v, %v", v.removed, err)
	}
	if err := removeSecret(t.Context(), v, "other"); !errors.Is(err, vault.ErrNotFound) {
		t.Errorf("another secret: %v", err)
	}
}
