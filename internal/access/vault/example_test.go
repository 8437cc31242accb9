package vault_test

import (
	"context"
	"fmt"
	"os"

	"github.com/toolpost/toolpost/internal/access/vault"
)

func Example() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	settings := map[string]string{vault.Variable: "encrypted", vault.KeyVariable: vault.NewKey()}
	getenv := func(name string) string { return settings[name] }

	choice, err := vault.Chosen(dir, getenv)
	if err != nil {
		panic(err)
	}
	v, err := vault.Open(choice, dir, getenv)
	if err != nil {
		panic(err)
	}
	err = v.Update(context.Background(), "github", func([]byte) ([]byte, error) { return []byte("a token"), nil })
	if err != nil {
		panic(err)
	}
	secret, err := v.Get("github")
	fmt.Printf("%s %v, %s\n", secret, err, choice.Why)
	// Output: a token <nil>, chosen by TOOLPOST_VAULT
}
