package gateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/gateway"
	"github.com/toolpost/toolpost/upstream"
)

// A shower is a caller with these capabilities.
type shower struct {
	*asked
	can []string
}

func (s *shower) Supports(capability string) bool {
	return slices.Contains(s.can, capability)
}

// A call that needs a login is repeated after the login, and only then. The user is
// asked for an approval once.
func TestCallAfterLogin(t *testing.T) {
	canShow := []string{"elicitation", "elicitation.url"}
	for name, test := range map[string]struct {
		can         []string
		login       error
		needed      int // how many calls need the login
		want        string
		logins, ran int
	}{
		"logged in":              {canShow, nil, 1, "done", 1, 2},
		"connected again later":  {canShow, nil, 3, "done", 1, 4},
		"needed again":           {canShow, nil, 100, "it needs a login; run: x", 1, 4},
		"not completed":          {canShow, errors.New("declined"), 1, "it needs a login; run: x", 1, 1},
		"without the capability": {[]string{"elicitation"}, nil, 1, "it needs a login; run: x", 0, 1},
		"not needed":             {canShow, nil, 0, "done", 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := approvals(config.ApprovalRule{Action: "ask"})
			cfg.Servers[0].Config = upstream.Config{Name: "s", URL: "http://127.0.0.1:1/mcp"}
			logins, ran := 0, 0
			var began time.Time
			g, f := openWith(t, cfg, &gateway.Options{Login: func(_ context.Context, s *config.Server, call *toolpost.Call, at time.Time) error {
				logins, began = logins+1, at
				if s.Name != "s" || call.Name != "write" {
					t.Errorf("a login to %q for %q", s.Name, call.Name)
				}
				return test.login
			}})
			f.last("s").answering("write", func(context.Context, *toolpost.Call) (*toolpost.Result, error) {
				if ran++; ran <= test.needed {
					return nil, &toolpost.UnavailableError{Text: "it needs a login; run: x", Login: true}
				}
				return toolpost.TextResult("done"), nil
			})
			wantTools(t, g, "s__write")
			before := time.Now()
			user := &shower{answers(yes), test.can}
			got, _ := try(t, g.Live().Set(), "s__write", `{}`, user)
			if !strings.HasSuffix(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
			if logins != test.logins || ran != test.ran || len(user.questions) != 1 {
				t.Errorf("%d logins, the server was called %d times, the user was asked %d times", logins, ran, len(user.questions))
			}
			if logins > 0 && began.Before(before) {
				t.Errorf("the call began at %v, before %v", began, before)
			}
		})
	}
}

// A call for which no client can be asked gets its error.
func TestCallWithoutLogin(t *testing.T) {
	cfg := servers("s", "x")
	cfg.Servers[0].Config = upstream.Config{Name: "s", URL: "http://127.0.0.1:1/mcp"}
	g, f := open(t, cfg)
	f.last("s").answering("write", func(context.Context, *toolpost.Call) (*toolpost.Result, error) {
		return nil, &toolpost.UnavailableError{Text: "it needs a login; run: x", Login: true}
	})
	wantTools(t, g, "s__write")
	user := &shower{answers(yes), []string{"elicitation.url"}}
	result, err := g.Live().Call(t.Context(), &toolpost.Call{Name: "s__write", Arguments: json.RawMessage(`{}`), Caller: user})
	text := ""
	if err == nil {
		text, _ = result.FirstText()
	} else {
		text = err.Error()
	}
	if !strings.Contains(text, "run: x") || len(user.questions) != 0 {
		t.Errorf("got %q, the user was asked %q", text, user.questions)
	}
}
