//go:build unix

package live

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A home is a user's, with a configuration of one server that wants a login.
type home struct {
	*testing.T
	toolpost string
	env      []string
	auth     *authServer
	server   *protectedServer
}

func newHome(t *testing.T, authServer string, more ...string) *home {
	return newHomeWith(t, authServer, object{}, more...)
}

// newHomeWith starts the authorization server with options of its script.
func newHomeWith(t *testing.T, authServer string, options object, more ...string) *home {
	auth := newAuthServer(t, authServer, options)
	h := emptyHome(t, more...)
	h.auth, h.server = auth, newProtectedServer(t, auth, false)
	return h
}

// emptyHome returns a home without servers.
func emptyHome(t *testing.T, more ...string) *home {
	h := &home{T: t, toolpost: build(t, "cmd/toolpost")}
	dir := t.TempDir()
	h.env = append([]string{
		"HOME=" + dir, "XDG_CONFIG_HOME=" + filepath.Join(dir, ".config"), "XDG_CACHE_HOME=" + filepath.Join(dir, ".cache"), "XDG_STATE_HOME=" + filepath.Join(dir, ".state"),
		"TOOLPOST_VAULT=files", "BROWSER=true", // the machine has no keyring, and the test is the browser
	}, more...)
	folder := filepath.Join(dir, ".config", "toolpost")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(folder, "toolpost.json"), `{"mcpServers": {}}`)
	return h
}

// run runs toolpost, in a process of its own each time.
func (h *home) run(args ...string) (out string, err error) {
	h.Helper()
	out, errs, err := run(h.T, h.env, h.toolpost, args...)
	return out + errs, err
}

func (h *home) must(want string, args ...string) {
	h.Helper()
	if out, err := h.run(args...); err != nil || !strings.Contains(out, want) {
		h.Fatalf("toolpost %q: %v, want %q:\n%s", args, err, want, out)
	}
}

func (h *home) fails(want string, args ...string) {
	h.Helper()
	if out, err := h.run(args...); err == nil || !strings.Contains(out, want) {
		h.Fatalf("toolpost %q: %v, want an error with %q:\n%s", args, err, want, out)
	}
}

// login runs toolpost login, whose browser agrees.
func (h *home) login(args ...string) {
	h.Helper()
	p := start(h.T, h.env, h.toolpost, append([]string{"login", "tracker"}, args...)...)
	address := ""
	until(h.T, "login prints an address", func() error {
		for line := range strings.Lines(p.output.String()) {
			if strings.HasPrefix(line, "http") && strings.HasSuffix(line, "\n") {
				address = strings.TrimSpace(line)
				return nil
			}
		}
		return errors.New("not yet")
	})
	ctx, cancel := context.WithTimeout(h.Context(), patience)
	defer cancel()
	if _, page, err := newBrowser().visit(ctx, address); err != nil {
		h.Fatalf("the browser: %v\n%s", err, page)
	}
	p.wait()
	if !strings.Contains(p.output.String(), "Logged in to tracker") {
		h.Fatalf("login: %s", p.output.String())
	}
}

// TestAuthNewUser is what a new user does whose Claude Code is linked to Toolpost: two
// commands later it uses a server that wants a login.
func TestAuthNewUser(t *testing.T) {
	t.Parallel()
	cli := claude.bin(t)
	read := using("mcp__toolpost__tracker__read", `{}`)
	script := []step{read}
	for range 60 { // the CLI connects to servers in the background
		script = append(script, func(tools []offered) (string, string, bool) {
			_, _, connected := read(tools)
			return "Bash", `{"command":"sleep 0.5"}`, !connected
		})
	}
	api := newModel(t, anthropic{}, script...)
	h := newHome(t, "oidc-provider", append([]string{
		"ANTHROPIC_BASE_URL=" + api.URL, "ANTHROPIC_API_KEY=sk-ant-dummy", "ENABLE_TOOL_SEARCH=false",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_TELEMETRY=1", "DISABLE_ERROR_REPORTING=1", "DISABLE_AUTOUPDATER=1",
	}, quiet...)...)
	bin := t.TempDir() // a link names toolpost by its name if it is in the folder of temporary files
	if err := os.Symlink(h.toolpost, filepath.Join(bin, "toolpost")); err != nil {
		t.Fatal(err)
	}
	h.env = append(h.env, "PATH="+bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	h.must("", "link", "claude-code", "--yes")

	h.must("toolpost login tracker", "add", h.server.resource(), "--name", "tracker", "--yes")
	h.login()

	out, errs, err := run(t, h.env, cli, "-p", "hello", "--model=claude-sonnet-4-5", "--allowedTools=mcp__toolpost,Bash")
	if err != nil || strings.TrimSpace(out) != "done" {
		t.Fatalf("claude: %v\n%s%s", err, out, errs)
	}
	if !api.saw("read something") {
		var names []string
		for _, tool := range api.offered() {
			names = append(names, tool.name)
		}
		t.Errorf("the model did not get the result; it was offered %q; %s", names, errs)
	}
}

// TestAuthLogin is the life of a login at two independent authorization servers. Each
// command is a process of its own: the login outlives them.
func TestAuthLogin(t *testing.T) {
	for name := range authServers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t, name)
			auth := `{}`
			if name == "oauth2-mock-server" { // it registers nobody
				auth = `{"clientId": "of a test"}`
			}
			config := filepath.Join(t.TempDir(), "toolpost.json")
			write(t, config, `{"mcpServers": {"tracker": {"url": "`+h.server.resource()+`", "auth": `+auth+`}}}`)
			call := func(tool string) []string { return []string{"call", "--config", config, "tracker__" + tool} }

			h.fails("toolpost login tracker", call("read")...)
			h.login("--config", config)
			h.must("read something", call("read")...)
			h.must("read something", call("read")...)
			if n := len(h.auth.granted("authorization_code")); n != 1 {
				t.Errorf("%d logins for several processes", n)
			}

			// The server refuses the token: it is renewed once, and the new one is kept.
			h.server.refuseToken()
			h.must("read something", call("read")...)
			h.must("read something", call("read")...)
			if n := len(h.auth.granted("refresh_token")); n != 1 {
				t.Errorf("%d renewals, want 1", n)
			}

			// A tool needs one more scope: the next login asks for both.
			h.fails("mcp:write", call("write")...)
			h.must("read something", call("read")...)
			h.login("--config", config)
			h.must("wrote something", call("write")...)
			h.must("read something", call("read")...)

			// The login is revoked elsewhere: the user is asked to log in again.
			h.auth.revoke()
			h.server.refuseToken()
			h.fails("toolpost login tracker", call("read")...)
			h.login("--config", config)
			h.must("read something", call("read")...)

			h.must("Logged out of tracker", "logout", "tracker", "--config", config)
			h.fails("toolpost login tracker", call("read")...)
			for _, r := range h.auth.requested("/token") {
				if r.Status == 200 && r.Resource != h.server.resource() {
					t.Errorf("a token for %q, want %q: %+v", r.Resource, h.server.resource(), r)
				}
			}
		})
	}
}

// TestAuthRotation has access tokens that expire at once. Each process renews
// them with the refresh token that the one before received: both servers accept
// each refresh token once.
func TestAuthRotation(t *testing.T) {
	for name := range authServers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHomeWith(t, name, object{"lifetime": 8}) // they are renewed 10 s before
			auth := `{}`
			if name == "oauth2-mock-server" {
				auth = `{"clientId": "of a test"}`
			}
			config := filepath.Join(t.TempDir(), "toolpost.json")
			write(t, config, `{"mcpServers": {"tracker": {"url": "`+h.server.resource()+`", "auth": `+auth+`}}}`)
			h.login("--config", config)
			const calls = 3
			for range calls {
				h.must("read something", "call", "--config", config, "tracker__read")
			}
			if n := len(h.auth.granted("refresh_token")); n < calls {
				t.Errorf("%d renewals, want at least %d", n, calls)
			}
			if n := len(h.auth.granted("authorization_code")); n != 1 {
				t.Errorf("%d logins", n)
			}
		})
	}
}
