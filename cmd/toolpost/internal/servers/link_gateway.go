package servers

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/cli"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/clients"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/access/owner"
	"github.com/toolpost/toolpost/internal/cleartext"
)

// prepare decides how clients reach the gateway.
func (l *linking) prepare(cmd *cobra.Command) error {
	if l.name == "" {
		return cli.Usagef("--name is empty; want a name such as toolpost")
	}
	if l.url != "" {
		return l.useAddress(cmd)
	}
	found, err := cli.FindConfiguration(cmd.Context(), l.config, cli.NewPrompter(cmd))
	if err != nil {
		return err
	}
	if found == nil && l.move {
		found = &config.Config{File: owner.ConfigName} // the move writes it
	}
	if found == nil || found.File == "" {
		return cli.Usagef("there is no %s that clients could serve; run \"toolpost import\" or \"toolpost add\" first, name one with --config, or connect them to a serve that runs with --url http://%s/mcp", owner.ConfigName, owner.DefaultAddress)
	}
	if err := l.useGateway(found, ""); err != nil {
		return err
	}
	l.useFile(found.Variables())
	return nil
}

// useFile has clients start a gateway with the configuration, which reads variables.
func (l *linking) useFile(variables []string) {
	file := l.gateway.File
	program := append(cli.Program(), "serve", "--stdio", "--config", file)
	e := &clients.Endpoint{Command: program[0], Args: program[1:], Variables: variables}
	if l.profile != "" {
		e.Args = append(e.Args, "--profile", l.profile)
	}
	l.endpoint = func(clients.File) *clients.Endpoint { return e }
	l.variables = variables
}

// warnOfVariables warns that clients start the gateway without the user's shell.
func (l *linking) warnOfVariables(w io.Writer) {
	if len(l.variables) > 0 {
		fmt.Fprintf(w, "%s reads %s from the environment. Clients that you start from a desktop may not have it; an \"envFile\" works everywhere.\n",
			cleartext.Printable(l.gateway.File), cleartext.Printable(strings.Join(l.variables, ", ")))
	}
}

// useAddress has clients use a running serve.
func (l *linking) useAddress(cmd *cobra.Command) error {
	u, err := url.Parse(l.url)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return cli.Usagef("--url is not an address; want http://… such as http://%s/mcp", owner.DefaultAddress)
	}
	if u.Path == "" || u.Path == "/" {
		u.Path = "/mcp"
	}
	if l.profile != "" {
		u = u.JoinPath(l.profile)
	}
	need, err := needsToken(cmd.Context(), u.String())
	if err != nil {
		fmt.Fprintf(cmd.ErrOrStderr(), "Nothing answers at %s yet; start it with: toolpost serve\n", cleartext.Printable(u.String()))
	}
	if err := l.useAddressOf(cmd, u); err != nil {
		return err
	}
	address := &clients.Endpoint{URL: u.String()}
	program := append(cli.Program(), "serve", u.String(), "--stdio")
	bridge := &clients.Endpoint{Command: program[0], Args: program[1:]}
	l.endpoint = func(f clients.File) *clients.Endpoint {
		if need || f.StartsServers() {
			return bridge
		}
		return address
	}
	return nil
}

// patienceForAnswer bounds how long link waits for a running serve.
const patienceForAnswer = 2 * time.Second

// needsToken reports whether the server at an address refuses clients without a
// token. The error means that nothing answers.
func needsToken(ctx context.Context, address string) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, patienceForAnswer)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return false, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return false, err
	}
	_ = resp.Body.Close() // only the status counts
	return resp.StatusCode == http.StatusUnauthorized, nil
}
