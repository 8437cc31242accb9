package inprocess_test

import (
	"strings"
	"testing"

	"github.com/toolpost/toolpost/inprocess"
)

func TestCheckCredentials(t *testing.T) {
	const address, withLogin = "http://127.0.0.1:1", "http://a:b@127.0.0.1:1"
	for _, c := range []struct {
		options inprocess.Options
		want    string // "" if it is clear which count
	}{
		{inprocess.Options{URL: address, Key: " k \n"}, ""},
		{inprocess.Options{URL: address, User: "a", Password: " b \r\n"}, ""},
		{inprocess.Options{URL: address, Token: "t", As: "alice"}, ""},
		{inprocess.Options{URL: address, Anonymous: true}, ""},
		{inprocess.Options{URL: withLogin}, ""},
		{inprocess.Options{URL: withLogin, Key: "k"}, ""}, // what is before the server may want the login
		{inprocess.Options{URL: address, Key: " "}, "no credentials"},
		{inprocess.Options{URL: address, Key: "k", Token: "t"}, "several kinds"},
		{inprocess.Options{URL: withLogin, Anonymous: true}, "several kinds"},
		{inprocess.Options{URL: address, User: "a"}, "belong together"},
		{inprocess.Options{URL: address, Key: "k k"}, "copy it again"},
	} {
		if err := c.options.Trim().CheckCredentials(); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.options, err, c.want)
		}
	}
}
