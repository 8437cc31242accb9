package doctor_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/doctor"
	"github.com/toolpost/toolpost/internal/access/vault"
)

func TestSecrets(t *testing.T) {
	chosen := vault.Choice{Kind: vault.Keyring, Why: "chosen by you"}
	fallback := vault.Choice{Kind: vault.Keyring, Why: "the default", Default: true}
	broken := errors.New("it is away; do this")
	for name, test := range map[string]struct {
		condition  vault.Condition
		want, line string
	}{
		"usable":                 {vault.Condition{Choice: chosen, Place: "there", State: vault.Usable, Secrets: 1}, "", "there: usable, 1 secret"},
		"unknown":                {vault.Condition{Choice: chosen, Place: "there", State: vault.Unknown, Err: broken}, "", "there: unknown, 0 secrets; it is away; do this"},
		"locked":                 {vault.Condition{Choice: chosen, Place: "there", State: vault.Locked, Err: broken}, "warning vault-locked", "there: locked, 0 secrets"},
		"chosen and unusable":    {vault.Condition{Choice: chosen, State: vault.Unusable, Err: broken}, "warning vault-unusable", "keyring (chosen by you): unusable, 0 secrets"},
		"default, not needed":    {vault.Condition{Choice: fallback, State: vault.Unusable, Err: broken}, "note vault-unusable", "keyring (the default): unusable, 0 secrets"},
		"default, with secrets":  {vault.Condition{Choice: fallback, State: vault.Unusable, Err: broken, Secrets: 2}, "warning vault-unusable", "keyring (the default): unusable, 2 secrets"},
		"choice cannot be found": {vault.Condition{State: vault.Unusable, Err: broken}, "warning vault-unusable", "it is not known which vault is chosen"},
	} {
		v, findings := doctor.Secrets(&test.condition)
		if got := strings.Join(ids(findings), ", "); got != test.want {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
		for _, f := range findings {
			if f.Message != broken.Error() {
				t.Errorf("%s: message %q", name, f.Message)
			}
		}
		r := doctor.NewReport("x")
		r.Vault = v
		var b bytes.Buffer
		if err := r.WriteText(&b, false); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), "Secrets      "+test.line+"\n") {
			t.Errorf("%s:\n%s", name, b.String())
		}
	}
}
