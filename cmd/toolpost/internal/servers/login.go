package servers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/cli"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/access/login"
	"github.com/toolpost/toolpost/internal/access/owner"
	"github.com/toolpost/toolpost/internal/cleartext"
	"github.com/toolpost/toolpost/internal/suggest"
	"github.com/toolpost/toolpost/upstream"
)

func openLogins() (*login.Logins, error) {
	v, err := owner.OpenVault()
	if err != nil {
		return nil, err
	}
	return login.New(v, nil), nil
}

const loginHelp = `Log in to a server over HTTP that wants it, as its OAuth client. SERVER is the
name of a server in the configuration, or an address.

Toolpost finds the authorization server, registers itself there unless the
configuration has a client, and opens a browser, in which you agree. It keeps
the tokens, renews them, and adds them to the requests of all commands. A
running "toolpost serve" connects to the server soon after.

With --no-browser, or where no browser can be opened, open the address that is
printed in any browser. If that runs on another machine, it ends at an address
that cannot be reached there: paste this address.

"auth" of the server's entry sets the client, its secret and scopes; see
docs/login.md. "toolpost logins" lists them, and "toolpost logout" ends one.`

// loginOptions are the flags of login and logout.
type loginOptions struct {
	config    string
	noBrowser bool
	ends      bool // the login ends
	scopes    []string
	timeout   time.Duration
	change    *cli.Change
}

// Login returns the command "login".
func Login() *cobra.Command {
	var o loginOptions
	cmd := &cobra.Command{
		Use:   "login SERVER",
		Short: "Log in to a server",
		Long:  loginHelp,
		Example: `  toolpost login linear
  toolpost login linear --no-browser
  toolpost login https://mcp.example.com/mcp --scopes read,write`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return o.login(cmd, args[0]) },
	}
	cmd.Flags().StringVar(&o.config, "config", "", "configuration `FILE`")
	cmd.Flags().BoolVar(&o.noBrowser, "no-browser", false, "print the address to open, and read the address that the browser ends at")
	cmd.Flags().StringSliceVar(&o.scopes, "scopes", nil, "ask for these `SCOPES`, separated by commas (default: those of the configuration, or of the server)")
	cmd.Flags().DurationVar(&o.timeout, "timeout", 10*time.Minute, "how long to wait for the browser")
	o.change = cli.AddChangeFlag(cmd)
	return cmd
}

// server returns the server that an argument names.
func (o *loginOptions) server(cmd *cobra.Command, name string) (*config.Server, error) {
	found, err := cli.FindConfiguration(cmd.Context(), o.config, cli.NewPrompter(cmd))
	if err != nil {
		return nil, err
	}
	var servers []config.Server
	if found != nil {
		servers = found.Servers
	}
	names := []string{}
	for i := range servers {
		s := &servers[i]
		switch {
		case s.Name != name && (!cli.IsAddress(name) || s.URL != name):
		case s.Err != nil:
			return nil, fmt.Errorf("server %q: %w", s.Name, s.Err)
		case s.URL == "":
			return nil, cli.Usagef("server %q has no url: only servers that are reached over HTTP have logins", s.Name)
		default:
			return o.withClientSecret(cmd.Context(), s)
		}
		if s.URL != "" {
			names = append(names, s.Name)
		}
	}
	if cli.IsAddress(name) {
		return &config.Server{Config: upstream.Config{Name: "server", URL: name}}, nil
	}
	return nil, noServer(name, names)
}

// withClientSecret returns a server with the secret of its OAuth client, wherever that is.
// A login can end without it.
func (o *loginOptions) withClientSecret(ctx context.Context, s *config.Server) (*config.Server, error) {
	read := owner.NewSecrets().Resolve
	resolved, err := s.ResolveLogin(ctx, read)
	if err != nil && o.ends && s.Auth != nil {
		without, auth := *s, *s.Auth
		auth.ClientSecret, without.Auth = "", &auth
		resolved, err = without.ResolveLogin(ctx, read)
	}
	if err != nil {
		return nil, fmt.Errorf("server %q: %w", s.Name, err)
	}
	return resolved, nil
}

func (o *loginOptions) login(cmd *cobra.Command, name string) error {
	server, err := o.server(cmd, name)
	if err != nil {
		return err
	}
	if owner.HasHeader(server.Headers, "Authorization") && server.Auth == nil {
		return cli.Usagef("server %q has an Authorization header in its configuration; remove the header to log in", name)
	}
	logins := owner.Logins(nil) // Login checks the address before it uses the vault
	ctx, cancel := context.WithTimeoutCause(cmd.Context(), o.timeout, fmt.Errorf("the browser did not come back within %v; run the command again, or with --no-browser", o.timeout))
	defer cancel()
	status, err := logins.Login(ctx, server, o.scopes, o.person(cmd))
	if err != nil {
		return fmt.Errorf("log in to %q: %w", name, err)
	}
	who := ""
	if status.Account != "" {
		who = " as " + status.Account
	}
	fmt.Fprintln(cmd.ErrOrStderr(), cleartext.Printable(fmt.Sprintf("Logged in to %s%s. The login is kept in %s.", name, who, logins.Place())))
	o.change.Done(name)
	o.change.Place = logins.Place()
	return nil
}

// person shows the login page and reads what the user pastes.
func (o *loginOptions) person(cmd *cobra.Command) *login.Person {
	prompt := cli.NewPrompter(cmd)
	p := &login.Person{Visit: func(_ context.Context, page *login.Page) error {
		return o.visit(cmd, page)
	}}
	if o.noBrowser || prompt.Terminal {
		p.Paste = func(ctx context.Context) (string, error) {
			return prompt.Line(ctx, "Paste the address at which the browser ends, if it does not say that it is done: ")
		}
	}
	return p
}

// visit shows who asks for the user's password, and opens the page. A page that is not
// at the authorization server may be one that another server's users know: the user
// opens it, if at all.
func (o *loginOptions) visit(cmd *cobra.Command, page *login.Page) error {
	out := cmd.ErrOrStderr()
	say := func(format string, args ...any) {
		fmt.Fprintln(out, cleartext.Printable(fmt.Sprintf(format, args...))) // foreign servers wrote parts of it
	}
	say("The login page is at %s.", page.Host)
	switch {
	case page.Foreign:
		say("Warning: this is not the authorization server that the MCP server names, which is %s. A hostile server could use the login page of another service to get your account there. Open the page only if %s belongs to the service that you want to use.", page.Issuer, page.Host)
		say("Open this address in a browser:")
	case o.noBrowser:
		say("Open this address in a browser:")
	default:
		say("Opening a browser. If none opens, open this address:")
	}
	if _, err := fmt.Fprintln(cmd.OutOrStdout(), cleartext.Printable(page.Address)); err != nil {
		return err
	}
	if o.noBrowser || page.Foreign {
		return nil
	}
	if err := cli.OpenBrowser(page.Address); err != nil {
		say("No browser can be opened: %v.", err)
	}
	return nil
}

// Logout returns the command "logout".
func Logout() *cobra.Command {
	o := loginOptions{ends: true}
	cmd := &cobra.Command{
		Use:   "logout SERVER",
		Short: "End the login to a server",
		Long: `Revoke the tokens of a login at the authorization server, if it supports that,
and remove them here. SERVER is the name of a server in the configuration, or an
address.`,
		Example: `  toolpost logout linear`,
		Args:    cobra.ExactArgs(1),
		RunE:    func(cmd *cobra.Command, args []string) error { return o.logout(cmd, args[0]) },
	}
	cmd.Flags().StringVar(&o.config, "config", "", "configuration `FILE`")
	o.change = cli.AddChangeFlag(cmd)
	return cmd
}

func (o *loginOptions) logout(cmd *cobra.Command, name string) error {
	server, err := o.server(cmd, name)
	if err != nil {
		return err
	}
	logins, err := openLogins()
	switch {
	case err != nil && owner.NoKeyring() != nil:
		return cli.Usagef("there is no login to %q, because nothing can be kept yet: %v", name, err)
	case err != nil:
		return err
	}
	found, err := logins.Logout(cmd.Context(), server)
	if err != nil {
		return fmt.Errorf("log out of %q: %w", name, err)
	}
	if !found {
		return cli.Usagef("there is no login to %q; \"toolpost logins\" lists them", name)
	}
	fmt.Fprintln(cmd.ErrOrStderr(), cleartext.Printable("Logged out of "+name+"."))
	o.change.Done(name)
	return nil
}

// A listedLogin is one login of "status --json".
type listedLogin struct {
	Name string `json:"name,omitempty"` // in the configuration
	*login.Status
	Place string `json:"place"`
}

// Logins returns the command "logins".
func Logins() *cobra.Command {
	var (
		o      loginOptions
		asJSON bool
	)
	cmd := &cobra.Command{
		Use:   "logins",
		Short: "List the logins to servers",
		Long: `List the logins to servers: who logged in, with which scopes, until when, and
where the tokens are kept. No secret is shown.`,
		Example: `  toolpost logins
  toolpost logins --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			all, place, err := o.list(cmd)
			switch {
			case err != nil && len(all) == 0:
				return err
			case asJSON:
				return errors.Join(cli.WriteJSON(cmd.OutOrStdout(), all), err)
			}
			showLogins(cmd.OutOrStdout(), all, place)
			return err
		},
	}
	cmd.Flags().StringVar(&o.config, "config", "", "configuration `FILE`")
	cli.AddJSONFlag(cmd, &asJSON)
	return cmd
}

// list returns the logins, with the names of their servers in the configuration. A
// configuration that cannot be used gives no names.
func (o *loginOptions) list(cmd *cobra.Command) (all []listedLogin, place string, err error) {
	logins, err := openLogins()
	if err != nil && owner.NoKeyring() != nil {
		fmt.Fprintf(cmd.ErrOrStderr(), "toolpost: nothing can be kept yet: %v\n", err)
		return []listedLogin{}, "", nil
	}
	if err != nil {
		return nil, "", err
	}
	found, err := cli.FindConfiguration(cmd.Context(), o.config, &cli.Prompter{Out: io.Discard})
	if err != nil && o.config != "" {
		return nil, "", err
	}
	stored, err := logins.List()
	all = []listedLogin{}
	for _, s := range stored {
		one := listedLogin{Status: s, Place: logins.Place()}
		for i := range serversOf(found) {
			if cfg := &found.Servers[i].Config; cfg.URL != "" && login.Address(cfg.URL) == s.Server {
				one.Name = cfg.Name
			}
		}
		all = append(all, one)
	}
	return all, logins.Place(), err
}

func serversOf(found *config.Config) []config.Server {
	if found == nil {
		return nil
	}
	return found.Servers
}

func showLogins(w io.Writer, all []listedLogin, place string) {
	for _, l := range all {
		name := l.Server
		if l.Name != "" {
			name = l.Name + " (" + l.Server + ")"
		}
		state := string(l.State)
		if l.Why != "" {
			state += ": " + l.Why
		}
		lines := []string{name, "  " + state}
		for _, part := range [][2]string{{"as", l.Account}, {"scopes", strings.Join(l.Scopes, " ")}, {"wanted", strings.Join(l.Wanted, " ")}, {"expires", expires(l.Status)}, {"issuer", l.Issuer}, {"client", l.Client}} {
			if part[1] != "" {
				lines = append(lines, fmt.Sprintf("  %-8s %s", part[0], part[1]))
			}
		}
		for _, line := range lines {
			fmt.Fprintln(w, cleartext.Printable(line))
		}
	}
	if len(all) == 0 {
		fmt.Fprintln(w, "There are no logins.")
	}
	if place != "" {
		fmt.Fprintln(w, cleartext.Printable("Logins are kept in "+place+"."))
	}
}

func expires(s *login.Status) string {
	switch {
	case s.State == login.LoginNeeded:
		return ""
	case s.Expires.IsZero():
		return "never"
	case s.Renews:
		return s.Expires.Local().Format("2006-01-02 15:04") + ", then renewed"
	}
	return s.Expires.Local().Format("2006-01-02 15:04")
}

// noServer returns the error for an unknown server; it suggests those over HTTP.
func noServer(name string, names []string) error {
	if near := suggest.Nearest(name, names); near != "" {
		return cli.Usagef("there is no server %q; did you mean %q?", name, near)
	}
	if len(names) > 0 {
		return cli.Usagef("there is no server %q in the configuration; give its address, or one of %q", name, names)
	}
	return cli.Usagef("there is no server %q: the configuration has no server that is reached over HTTP; give its address", name)
}
