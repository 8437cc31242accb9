package servers

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/install"
	"github.com/toolpost/toolpost/internal/netaddr"
)

// fromRegistry asks an MCP registry for the server.json of a name.
func (a *adding) fromRegistry(ctx context.Context, name string, answers *install.Answers) (*install.Plan, error) {
	if a.registry == "" {
		return nil, fmt.Errorf("%s is a name of an MCP registry; say which one with --registry URL, or download its server.json and add the file", name)
	}
	u, err := url.Parse(a.registry)
	if err != nil || u.Host == "" || u.Scheme != "https" && !(u.Scheme == "http" && netaddr.IsLoopback(u.Hostname())) {
		return nil, fmt.Errorf("--registry is not an address with https://")
	}
	address := strings.TrimSuffix(u.String(), "/") + "/v0.1/servers/" + url.PathEscape(name) + "/versions/latest"
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	resp, err := (&http.Client{CheckRedirect: staysThere}).Do(req)
	if err != nil {
		return nil, fmt.Errorf("ask the registry for %s: %w", name, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("ask the registry for %s: it answers %s", name, resp.Status)
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, install.MaxServerJSON+1))
	if err != nil {
		return nil, fmt.Errorf("ask the registry for %s: %w", name, err)
	}
	return install.FromServerJSON(data, a.from, answers)
}

// staysThere refuses to be sent to another host: the user named this registry.
func staysThere(req *http.Request, via []*http.Request) error {
	if !netaddr.SameOrigin(req.URL, via[0].URL) || len(via) > 5 {
		return fmt.Errorf("it redirects to %s; name that address with --registry if you trust it", req.URL.Host)
	}
	return nil
}
