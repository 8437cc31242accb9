package secret_test

import (
	"strings"
	"testing"

	"github.com/toolpost/toolpost/internal/secret"
)

// TestTextForms has one text for each form of a secret. What is secret in it has "x9".
func TestTextForms(t *testing.T) {
	for _, text := range []string{
		"password: huntx92", "db_password: 'hunter x9'", `x_password='hunter x9'`, "set password=huntx92", "Server=x;Pwd=qqx9;",
		"-----BEGIN PGP PRIVATE KEY BLOCK-----\nABCx9", "-----BEGIN RSA PRIVATE KEY-----\nABCx9",
		"postgres://u:p@sx9/w@db/x", "https://u:px9@host/?a=b", "Authorization: Token abcdefx9", "AccountKey=abcdefabcdefx9==;",
		"https://x.test/?sig=abcdef012345x9&a=b", "hf_abcdefghijklmnopqrstuvwxyzABCDx9", "npm_abcdefghijklmnopqrstuvwxyz01234567x9",
		"SG.abcdefghijklmnop.abcdefghijklmnopqrstuvx9", "ya29.a0AfH6SMBabcdefghijklx9", "sk_live_abcdefghijklmnopqrsx9", "api_key: abcx9",
	} {
		if got := secret.RedactText(text); strings.Contains(got, "x9") || !strings.Contains(got, secret.Mark) {
			t.Errorf("%q became %q", text, got)
		}
	}
}

// TestOrdinaryTexts has texts that look alike and have no secret.
func TestOrdinaryTexts(t *testing.T) {
	for _, text := range []string{
		"password: required", "Enter your password: it must be long.", "the token: a word of the grammar", "secret: false", "key: value", "primary key: id7",
		"https://host:8080/path", "https://host:8080/@scope/package", `"http://h:80/x","mail":"a@b"`, "https://host/users/a@b.example", "http://[::1]:80/", "see http://a.example and mail me: you@b.example",
		"the design=1 and assign=2", "?design=abcdefghij", "signature=(a, b)", "Authorization: required", "SG.1", "hf_hub", "npm_config_registry", "pk_id", "max_tokens: 100",
	} {
		if got := secret.RedactText(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

// TestMembers checks members that are named like a secret, and some that are not.
func TestMembers(t *testing.T) {
	for name, want := range map[string]bool{
		"otp": true, "pin": true, "auth": true, "signature": true, "connectionString": true, "sessionid": true, "accountKey": true,
		"author": false, "pinned": false, "authors": false, "name": false, "session": false, "key": false, "design": false,
	} {
		clear, hidden := secret.RedactJSON([]byte(`{"`+name+`":"value"}`), nil)
		if (hidden == 1) != want {
			t.Errorf("%s became %s", name, clear)
		}
	}
}

// TestPublicMembers has a member that is secret for others.
func TestPublicMembers(t *testing.T) {
	clear, hidden := secret.RedactJSON([]byte(`{"signature":"a","otp":"b"}`), &secret.JSONOptions{Public: func(pointer string) bool { return pointer == "/signature" }})
	if hidden != 1 || string(clear) != `{"signature":"a","otp":"[secret]"}` {
		t.Errorf("%d were hidden: %s", hidden, clear)
	}
}
