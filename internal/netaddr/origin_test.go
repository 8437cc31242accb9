package netaddr_test

import (
	"net/url"
	"testing"

	"github.com/toolpost/toolpost/internal/netaddr"
)

func TestSameOrigin(t *testing.T) {
	for _, test := range []struct {
		a, b string
		same bool
	}{
		{"http://localhost:80/a", "http://localhost/b?c", true},
		{"http://LOCALHOST:8080/sse", "http://localhost:8080/m", true},
		{"https://Host.Example/", "https://host.example:443/x", true},
		{"HTTPS://host.example/", "https://host.example/", true},
		{"https://host.example:0443/", "https://host.example/", true},
		{"https://host.example:/", "https://host.example/", true},
		{"http://[::1]:8080/", "http://[0:0:0:0:0:0:0:1]:8080/", true},
		{"http://user:password@host.example/", "http://host.example/", true},
		{"http://host.example:443/", "https://host.example/", false},
		{"https://host.example:80/", "https://host.example/", false},
		{"http://host.example/", "https://host.example/", false},
		{"https://host.example/", "https://other.example/", false},
		{"https://host.example/", "https://host.example.evil.example/", false},
		{"https://host.example@evil.example/", "https://host.example/", false},
		{"http://localhost:8080/", "http://localhost:8081/", false},
		{"http://127.0.0.1/", "http://localhost/", false},
	} {
		a, errA := url.Parse(test.a)
		b, errB := url.Parse(test.b)
		if errA != nil || errB != nil {
			t.Fatal(errA, errB)
		}
		if netaddr.SameOrigin(a, b) != test.same || netaddr.SameOrigin(b, a) != test.same {
			t.Errorf("%s and %s: want %v", test.a, test.b, test.same)
		}
	}
}
