package secret_test

import (
	"strings"
	"testing"

	"github.com/toolpost/toolpost/internal/secret"
)

func TestCredentials(t *testing.T) {
	const address, withLogin = "http://127.0.0.1:1", "http://a:b@127.0.0.1:1"
	for _, c := range []struct {
		given secret.Credentials
		want  string // "" if it is clear which count
	}{
		{secret.Credentials{URL: address, Key: " k \n"}, ""},
		{secret.Credentials{URL: address, User: "a", Password: " b \r\n"}, ""},
		{secret.Credentials{URL: address, Token: "t", As: "alice"}, ""},
		{secret.Credentials{URL: address, Anonymous: true}, ""},
		{secret.Credentials{URL: withLogin}, ""},
		{secret.Credentials{URL: withLogin, Key: "k"}, ""}, // what is before the server may want the login
		{secret.Credentials{URL: address, Key: " "}, "no credentials"},
		{secret.Credentials{URL: address, Key: "k", Token: "t"}, "several kinds"},
		{secret.Credentials{URL: withLogin, Anonymous: true}, "several kinds"},
		{secret.Credentials{URL: address, User: "a"}, "belong together"},
		{secret.Credentials{URL: address, Key: "k k"}, "copy it again"},
	} {
		if err := c.given.Trim().Check(); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.given, err, c.want)
		}
	}
}
