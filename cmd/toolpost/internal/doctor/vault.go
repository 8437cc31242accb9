package doctor

import (
	"fmt"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/terminal"
	"github.com/toolpost/toolpost/internal/access/vault"
)

// A Vault is where the secrets of the user are kept, and why there.
type Vault struct {
	Kind    string `json:"kind,omitempty"` // keyring, encrypted or files; empty if the choice cannot be read
	Why     string `json:"why,omitempty"`
	Place   string `json:"place,omitempty"`
	State   string `json:"state"` // usable, locked, unknown or unusable
	Secrets int    `json:"secrets"`
	Error   string `json:"error,omitempty"` // why it is not usable, and what to do
}

// Secrets describes a vault. One that cannot be used is a note if it is the default and
// has no secrets: nothing needs it yet.
func Secrets(c *vault.Condition) (*Vault, []Finding) {
	v := &Vault{Kind: string(c.Kind), Why: c.Why, Place: c.Place, State: string(c.State), Secrets: c.Secrets}
	if c.Err != nil {
		v.Error = c.Err.Error()
	}
	if c.State == vault.Usable || c.State == vault.Unknown {
		return v, nil
	}
	f := Finding{ID: "vault-" + string(c.State), Severity: Warning, Message: v.Error} // which includes the fix
	if c.Default && c.Secrets == 0 {
		f.Severity = Note
	}
	return v, []Finding{f}
}

// text describes the vault in one line.
func (v *Vault) text() string {
	place := v.Place
	switch {
	case v.Kind == "":
		return "it is not known which vault is chosen"
	case place == "":
		place = fmt.Sprintf("%s (%s)", v.Kind, v.Why)
	}
	text := fmt.Sprintf("%s: %s, %s", place, v.State, terminal.Count(v.Secrets, "secret"))
	if v.State == string(vault.Unknown) {
		text += "; " + v.Error
	}
	return text
}
