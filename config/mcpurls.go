package config

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/toolpost/toolpost/internal/suggest"
	"github.com/toolpost/toolpost/upstream"
)

// FromURLs returns the configuration in the variable MCP_URLS: addresses
// separated by commas, such as "http://body-cli:8000/sse". Servers are named by
// host and port; their tools keep their own names.
func FromURLs(urls string) (*Config, error) {
	cfg := &Config{Quiet: []string{"get_comments"}, QuietOptional: true} // polled by the clients that use MCP_URLS
	plain := ""
	var names []string
	for i, address := range strings.Split(urls, ",") {
		if address = strings.TrimSpace(address); address == "" {
			continue
		}
		if !validURL(address) {
			return nil, fmt.Errorf("read MCP_URLS: address %d is not http://… or https://…; want addresses such as http://localhost:8000/sse, separated by commas", i+1)
		}
		u, _ := url.Parse(address)
		s := Server{Prefix: &plain}
		s.URL = address
		if strings.HasSuffix(strings.TrimRight(u.Path, "/"), "/sse") {
			s.Transport = upstream.SSE
		}
		cfg.Servers = append(cfg.Servers, s)
		names = append(names, strings.NewReplacer(".", "-", ":", "-", "[", "", "]", "").Replace(u.Host))
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("read MCP_URLS: it has no addresses; want addresses such as http://localhost:8000/sse, separated by commas")
	}
	for i, name := range names {
		cfg.Servers[i].Name = suggest.Free(name, func(name string) bool {
			return slices.ContainsFunc(cfg.Servers[:i], func(s Server) bool { return s.Name == name })
		})
	}
	cfg.URLs = urls
	return cfg, nil
}
