package vault

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func keep(t *testing.T, v Vault, name, secret string) {
	t.Helper()
	err := v.Update(t.Context(), name, func([]byte) ([]byte, error) { return []byte(secret), nil })
	if err != nil {
		t.Fatal(err)
	}
}

// An examination creates nothing.
func TestExamineCreatesNothing(t *testing.T) {
	key := NewKey()
	for _, kind := range []Kind{Files, Encrypted, Keyring} {
		dir := filepath.Join(t.TempDir(), "settings")
		c := Examine(Choice{Kind: kind, Why: "test"}, dir, func(name string) string {
			return map[string]string{KeyVariable: key, "DBUS_SESSION_BUS_ADDRESS": "unix:path=" + dir}[name]
		})
		if c.Kind != kind || c.Why != "test" || c.Secrets != 0 || c.Place == "" || (kind != Keyring && (c.State != Usable || c.Err != nil)) {
			t.Errorf("%s: %+v", kind, c)
		}
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("%s: the folder was created", kind)
		}
	}
}

// A vault that cannot be opened still says how many secrets it has, and what to do.
func TestExamineUnusable(t *testing.T) {
	dir, key := t.TempDir(), NewKey()
	environment := func(key string) func(string) string {
		return func(name string) string { return map[string]string{KeyVariable: key}[name] }
	}
	sealed, err := Open(Choice{Kind: Encrypted}, dir, environment(key))
	if err != nil {
		t.Fatal(err)
	}
	keep(t, sealed, "one", "sesame-open")
	keep(t, sealed, "two", "sesame-open")
	for name, test := range map[string]struct {
		key   string
		state State
		want  string
	}{
		"the key":     {key, Usable, ""},
		"no key":      {"", Unusable, `run "toolpost secret key"`},
		"another key": {NewKey(), Unusable, "2 of 2 secrets cannot be read"},
	} {
		c := Examine(Choice{Kind: Encrypted}, dir, environment(test.key))
		text := ""
		if c.Err != nil {
			text = c.Err.Error()
		}
		if c.State != test.state || c.Secrets != 2 || !strings.Contains(text, test.want) || (text == "") != (test.want == "") {
			t.Errorf("%s: %+v", name, c)
		}
		if strings.Contains(text, "sesame-open") || test.key != "" && strings.Contains(text, test.key) {
			t.Errorf("%s: the error shows a secret: %s", name, text)
		}
	}
	if err := os.Remove(File(place(dir, Encrypted), "two")); err != nil {
		t.Fatal(err)
	}
	if c := Examine(Choice{Kind: Encrypted}, dir, environment(NewKey())); c.Err == nil || !strings.Contains(c.Err.Error(), "another key") || strings.Contains(c.Err.Error(), "the first one") {
		t.Errorf("one secret: %v", c.Err)
	}
}

// The secrets of a keyring are counted without it.
func TestExamineIndex(t *testing.T) {
	dir := t.TempDir()
	keep(t, newKeyring(place(dir, Keyring), "", &memoryKeyring{all: map[string]string{}}), "one", "x")
	c := Examine(Choice{Kind: Keyring}, dir, func(name string) string {
		return map[string]string{"DBUS_SESSION_BUS_ADDRESS": "unix:path=" + dir + "/none"}[name]
	})
	if c.Secrets != 1 {
		t.Errorf("got %+v", c)
	}
}
