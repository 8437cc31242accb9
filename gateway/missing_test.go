package gateway_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/observe"
	"github.com/toolpost/toolpost/upstream"
)

// All tools that are missing without a prefix are those of the only server.
func TestMissingOfOnlyServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := servers("plain", "x")
		cfg.Servers[0].Prefix = new("")
		g, f := open(t, cfg)
		f.last("plain").fail(errors.New(`server "plain": no command`))
		synctest.Wait()
		if err := g.Views().Missing(observe.Client{}, "any"); err == nil || !strings.Contains(err.Error(), "no command") {
			t.Error(err)
		}
		f.last("plain").connect("t")
		synctest.Wait()
		if err := g.Views().Missing(observe.Client{}, "any"); err != nil {
			t.Error(err)
		}
	})
}

// A tool of a server that has never been ready is missing for the reason of its
// server.
func TestMissing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := servers("a", "x", "b", "x", "slow", "x", "npx", "x", "off", "x", "plain", "x", "a__b", "x")
		cfg.Servers[4].Disabled = true
		cfg.Servers[5].Prefix = new("")
		cfg.Servers[6].Prefix = new("a__b__")
		g, f := open(t, cfg)
		f.last("a").connect("t")
		f.last("b").fail(errors.New(`server "b": 401 Unauthorized`))
		f.last("npx").set(func(f *fake) { f.status.State = upstream.Installing })
		f.last("a__b").fail(errors.New(`server "a__b": no command`))
		synctest.Wait()
		for tool, want := range map[string]string{
			"a__typo":   "",
			"unknown":   "",
			"b__echo":   `server "b": 401 Unauthorized`,
			"slow__t":   `server "slow" is still connecting`,
			"npx__t":    `server "npx" is still installing`,
			"off__t":    `server "off" is disabled`,
			"a__b__t":   `server "a__b": no command`,
			"a__bother": "",
		} {
			switch err := g.Views().Missing(observe.Client{}, tool); {
			case want == "" && err != nil, want != "" && (err == nil || !strings.Contains(err.Error(), want)):
				t.Errorf("%s: got %v, want %q", tool, err, want)
			}
		}
	})
}

// A profile does not learn of tools and servers that are not in it, whatever the reason
// why clients have no such tool.
func TestMissingOfAnotherProfile(t *testing.T) {
	cfg := servers("s", "x", "other", "x", "away", "x")
	cfg.Approvals = []config.ApprovalList{{Name: "approvals", Rules: []config.ApprovalRule{{Action: "deny", Tools: []string{"rm"}, Reason: "the vault is behind it"}}}}
	cfg.Profiles = []config.Profile{
		{Name: "one", Servers: []string{"other"}},
		{Name: "two", Exclude: []string{"s__rm"}},
		{Name: "three", Servers: []string{"s", "away"}},
	}
	g, f := open(t, cfg)
	f.last("s").connect("read", "rm")
	f.last("other").connect("t")
	f.last("away").fail(errors.New(`server "away": no command`))
	wantTools(t, g, "other__t", "s__read")
	for _, test := range []struct {
		profile, tool string
		want          bool
	}{
		{"one", "s__rm", false}, {"two", "s__rm", false}, {"three", "s__rm", true},
		{"one", "away__t", false}, {"three", "away__t", true},
	} {
		err := g.Views().Missing(observe.Client{View: test.profile}, test.tool)
		if (err != nil) != test.want {
			t.Errorf("profile %s is told about %s: %v", test.profile, test.tool, err)
		}
	}
}
