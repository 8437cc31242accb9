package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/cli"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/connect"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/top"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/access/owner"
	"github.com/toolpost/toolpost/internal/access/proof"
	"github.com/toolpost/toolpost/internal/access/status"
)

// A running is the serve that a command line is about.
type running struct {
	target connect.Target
	run    *owner.Run // nil for an address

	// standard is the address of a serve without --addr. One without a configuration has no
	// note, and is looked for there.
	standard string
}

const runningHelp = `
It is the serve at ADDRESS, or the one that runs with the configuration: that of
--config FILE, otherwise the one that serve would use here. Without any, it is
the one at http://` + owner.DefaultAddress + `.`

// errNotRunning means that nothing serves the configuration.
var errNotRunning = errors.New("toolpost serve does not run with this configuration; start it with: toolpost serve")

func (r *running) flags(cmd *cobra.Command) {
	r.standard = "http://" + owner.DefaultAddress
	cmd.Flags().StringVar(&r.target.Config, "config", "", "configuration `FILE`")
	cmd.Flags().StringArrayVarP(&r.target.Headers, "header", "H", nil, connect.HeaderUsage)
}

// runPatience is how long a serve that is there may take to prove that it is the one that was
// noted. One that was stopped never does.
const runPatience = 3 * time.Second

// find returns how the serve is asked. Where there is none, the error is errNotRunning.
func (r *running) find(cmd *cobra.Command, args []string) (top.Fetch, error) {
	cfg, rest, err := r.target.Split(args, -1)
	switch {
	case err != nil:
		return nil, err
	case len(rest) > 0:
		return nil, cli.Usagef("%q is not an address; give http://… or https://…", rest[0])
	case cfg != nil:
		return statusFetcher(&cfg.Servers[0], cfg)
	}
	found, err := r.findRun(cmd)
	switch {
	case errors.Is(err, errNotRunning) && found == nil:
		return r.findStandard()
	case err != nil:
		return nil, err
	}
	server := r.run.Server(runPatience)
	r.target.Address = strings.TrimSuffix(r.run.URL, "/mcp")
	fetch, err := statusFetcher(&server, &config.Config{})
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, after uint64) (*status.Status, error) {
		s, err := fetch(ctx, after)
		return s, r.explain(err)
	}, nil
}

// findRun finds the run of the configuration, and returns the configuration, nil if there is
// none. Without a run, the error is errNotRunning.
func (r *running) findRun(cmd *cobra.Command) (*config.Config, error) {
	found, err := cli.FindConfiguration(cmd.Context(), r.target.Config, &cli.Prompter{Out: io.Discard})
	if err != nil {
		return nil, err
	}
	if found != nil {
		r.run = owner.FindRun(found)
	}
	if r.run == nil {
		return found, errNotRunning
	}
	return found, nil
}

// findStandard returns how a serve at the standard address is asked. If nothing listens there,
// the error of the request is errNotRunning.
func (r *running) findStandard() (top.Fetch, error) {
	cfg, _, err := (&connect.Target{}).Split([]string{r.standard}, -1)
	if err != nil {
		return nil, err
	}
	fetch, err := statusFetcher(&cfg.Servers[0], cfg)
	r.target.Address = r.standard
	return func(ctx context.Context, after uint64) (*status.Status, error) {
		s, err := fetch(ctx, after)
		if errors.Is(err, syscall.ECONNREFUSED) {
			err = errNotRunning
		}
		return s, err
	}, err
}

// nameOther adds to errNotRunning which serve runs at the standard address, if one does.
func (r *running) nameOther(ctx context.Context) error {
	if fetch, err := r.findStandard(); err == nil {
		if _, err := fetch(ctx, 0); err == nil {
			return fmt.Errorf("%w\nanother serve runs at %s; see it with: toolpost status %[2]s", errNotRunning, r.standard)
		}
	}
	return errNotRunning
}

// explain says what an error of a request to the run means.
func (r *running) explain(err error) error {
	switch {
	case errors.Is(err, syscall.ECONNREFUSED), err != nil && !r.run.IsAlive():
		return errNotRunning // it ended, or is ending
	case errors.Is(err, proof.ErrUnproven):
		return fmt.Errorf("toolpost serve runs with this configuration as process %d, but does not answer at %s; end it and start it again", r.run.PID, r.run.URL)
	}
	return err
}

// longestStatus is the size up to which the answer of a gateway is read.
const longestStatus = 16 << 20

// statusFetcher asks the gateway at the address of server, with the user's token
// if the gateway wants it.
func statusFetcher(server *config.Server, cfg *config.Config) (top.Fetch, error) {
	owner.UseToken(cfg)
	address, err := statusAddress(server.URL)
	if err != nil {
		return nil, err
	}
	base := http.DefaultTransport.(*http.Transport).Clone()
	client := &http.Client{Transport: base, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	if server.Wrap != nil {
		client.Transport = server.Wrap(base)
	}
	return func(ctx context.Context, after uint64) (*status.Status, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, address+"?after="+strconv.FormatUint(after, 10), nil)
		if err != nil {
			return nil, err
		}
		for name, value := range server.Headers {
			req.Header.Set(name, value)
		}
		resp, err := client.Do(req)
		if errors.Is(err, syscall.ECONNREFUSED) {
			return nil, fmt.Errorf("nothing listens at %s; is toolpost serve running there? (%w)", req.URL.Host, syscall.ECONNREFUSED)
		}
		if err != nil {
			return nil, fmt.Errorf("%w; is toolpost serve running there?", err)
		}
		defer resp.Body.Close()
		return readStatus(resp)
	}, nil
}

func readStatus(resp *http.Response) (*status.Status, error) {
	switch {
	case resp.StatusCode == http.StatusUnauthorized:
		return nil, fmt.Errorf(`the server wants a token: run toolpost top as the user who started it, or add -H "Authorization: Bearer TOKEN"`)
	case resp.StatusCode == http.StatusForbidden:
		return nil, fmt.Errorf("the server refuses this host name; use the address that toolpost serve prints, or start it with --allow-host")
	case resp.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("GET %s answers %d; the server is not a toolpost serve, or an older one", status.Path, resp.StatusCode)
	}
	s := &status.Status{}
	if err := json.NewDecoder(io.LimitReader(resp.Body, longestStatus)).Decode(s); err != nil {
		return nil, fmt.Errorf("read the answer of %s: %w", status.Path, err)
	}
	return s, nil
}

// statusAddress returns where a gateway reports its state, from the address that
// clients use.
func statusAddress(address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", cli.Usagef("ADDRESS cannot be read; want http://HOST:PORT")
	}
	prefix, _, _ := strings.Cut(u.Path, "/mcp")
	u.Path, u.RawQuery, u.Fragment = strings.TrimSuffix(prefix, "/")+status.Path, "", ""
	return u.String(), nil
}
