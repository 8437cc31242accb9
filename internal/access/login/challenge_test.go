package login

import (
	"net/http"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

// TestParseChallenges compares what is read with what the MCP SDK reads, where that
// reads the header at all.
func TestParseChallenges(t *testing.T) {
	type params = map[string]string
	one := func(scheme string, p params) []authChallenge { return []authChallenge{{scheme, p}} }
	for _, test := range []struct {
		header   string
		want     []authChallenge
		onlyOurs bool
	}{
		{`Bearer`, one("bearer", params{}), false},
		{`Bearer realm="a, b=c", error="invalid_token"`, one("bearer", params{"realm": "a, b=c", "error": "invalid_token"}), false},
		{`bearer ERROR=invalid_token,scope="a b"`, one("bearer", params{"error": "invalid_token", "scope": "a b"}), false},
		{`Bearer resource_metadata=https://example.com/.well-known/x?a=b`, one("bearer", params{"resource_metadata": "https://example.com/.well-known/x?a=b"}), false},
		{`Bearer realm="say \"hi\" \\"`, one("bearer", params{"realm": `say "hi" \`}), false},
		{`Basic realm="x", Bearer scope=a`, []authChallenge{{"basic", params{"realm": "x"}}, {"bearer", params{"scope": "a"}}}, false},
		{`Negotiate, Bearer scope=a`, []authChallenge{{"negotiate", params{}}, {"bearer", params{"scope": "a"}}}, false},
		{`Negotiate YWJj==, Bearer scope=a`, []authChallenge{{"negotiate", params{}}, {"bearer", params{"scope": "a"}}}, true},
		{`Bearer error = invalid_token , scope = "a"`, one("bearer", params{"error": "invalid_token", "scope": "a"}), true},
		{`Bearer scope="", error="invalid_token"`, one("bearer", params{"scope": "", "error": "invalid_token"}), true},
		{`, Bearer ,, scope=a,`, one("bearer", params{"scope": "a"}), true},
		{``, nil, false}, {`,`, nil, false}, {`realm="x"`, nil, true},
		{`Bearer realm="x`, nil, false}, {`Bearer realm="x\`, nil, false}, {`Bearer realm="x" scope=a`, nil, false},
		{`"Bearer"`, nil, false}, {`Bearer some text`, nil, false}, {`Bearer "x"`, nil, false},
	} {
		got := parseChallenges(test.header)
		if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(authChallenge{})); diff != "" {
			t.Errorf("%s: %s", test.header, diff)
		}
		peer, _ := oauthex.ParseWWWAuthenticate([]string{test.header})
		same := slices.EqualFunc(peer, got, func(a oauthex.Challenge, b authChallenge) bool {
			return a.Scheme == b.scheme && len(a.Params) == len(b.params) && (len(a.Params) == 0 || cmp.Equal(a.Params, b.params))
		})
		if same == test.onlyOurs {
			t.Errorf("%s: the SDK reads %v", test.header, peer)
		}
	}
}

// TestReadChallenge checks that a malformed header and another scheme take nothing
// from the one that asks for a token.
func TestReadChallenge(t *testing.T) {
	got := readChallenge(http.Header{"Www-Authenticate": {`Bearer realm="x`, `Basic realm="x"`, `Bearer error="invalid_token", scope="a b", resource_metadata="https://example.com/m"`}})
	want := challenge{bearer: true, metadata: "https://example.com/m", code: "invalid_token", scopes: []string{"a", "b"}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(challenge{})); diff != "" {
		t.Error(diff)
	}
}

// FuzzParseChallenges: no header ends the process, and every challenge has a scheme.
func FuzzParseChallenges(f *testing.F) {
	f.Add(`Bearer realm="a\"b", scope=c, Negotiate abc==`)
	f.Add(`Bearer =, "`)
	f.Fuzz(func(t *testing.T, header string) {
		for _, c := range parseChallenges(header) {
			if c.scheme == "" {
				t.Errorf("%q: a challenge without a scheme", header)
			}
		}
	})
}
