package login_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/toolpost/toolpost/internal/access/login"
)

// Addresses that a server names do not lead into networks that it is not in, by
// whatever name or form.
func TestForeignAddressesAreRefused(t *testing.T) {
	hosts := map[string]string{
		"public.example": "93.184.216.34", "cloud.example": "169.254.169.254", "office.example": "10.1.2.3",
		"me.example": "127.0.0.1", "six.example": "::ffff:10.0.0.1", "to4.example": "2002:a9fe:a9fe::1", "nat64.example": "64:ff9b::a9fe:a9fe",
		"carrier.example": "100.64.0.7", "alibaba.example": "100.100.100.200",
	}
	for _, test := range []struct {
		kind, address string
		dialled       string // "" if refused
	}{
		{"", "https://public.example/x", "93.184.216.34:443"},
		{"", "http://public.example/x", ""},
		{"", "https://cloud.example/x", ""},
		{"", "https://office.example/x", ""},
		{"", "https://me.example/x", ""},
		{"", "https://six.example/x", ""},
		{"", "https://to4.example/x", ""},
		{"", "https://nat64.example/x", ""},
		{"", "https://carrier.example/x", ""},
		{"", "https://169.254.169.254/x", ""},
		{"", "https://[::ffff:10.0.0.1]/x", ""},
		{"", "https://2130706433/x", ""},
		{"", "https://0x7f.1/x", ""},
		{"", "http://127.0.0.1/x", ""},
		{"", "https://user:pass@public.example/x", ""},
		{"", "https://publi\u0441.example/x", ""}, // a Cyrillic letter
		{"", "file:///etc/passwd", ""},
		{"private", "https://office.example/x", "10.1.2.3:443"},
		{"private", "https://carrier.example/x", "100.64.0.7:443"},
		{"private", "http://office.example/x", ""},
		{"private", "https://me.example/x", ""},
		{"private", "https://cloud.example/x", ""},
		{"private", "https://alibaba.example/x", ""},
		{"loopback", "http://127.0.0.1:8080/x", "127.0.0.1:8080"},
		{"loopback", "https://office.example/x", "10.1.2.3:443"},
		{"loopback", "http://office.example/x", ""},
		{"loopback", "http://me.example/x", ""},
		{"loopback", "https://cloud.example/x", ""},
	} {
		d := &login.Dialled{}
		resp, err := login.Client(test.kind, hosts, d).Get(test.address)
		if err == nil {
			resp.Body.Close()
		}
		var want []string
		if test.dialled != "" {
			want = []string{test.dialled}
		}
		if !slices.Equal(d.List(), want) || errors.Is(err, login.ErrRefused) != (want == nil) && test.address != "file:///etc/passwd" {
			t.Errorf("from a %q server, %s: dialled %q, want %q: %v", test.kind, test.address, d.List(), want, err)
		}
	}
}
