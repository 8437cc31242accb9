//go:build linux

package main

import (
	_ "embed"
	"net"
	"path/filepath"
	"strings"
)

// Their versions, as install.sh reads them.
var (
	//go:embed npm.txt
	npmPeers string
	//go:embed pypi.txt
	pypiPeers string
)

// peers returns the gateways that registries serve. One that is not installed or
// does not start is reported so.
func peers(cache string) []*subject {
	p := installed{cache}
	all := []*subject{
		{name: "mcp-hub", upstream: "http", legacy: true, command: p.hub},
		{name: "mcp-hub", upstream: "stdio", legacy: true, command: p.hub},
		{name: "supergateway", upstream: "stdio", command: p.supergateway},
		{name: "npm-mcp-proxy", upstream: "stdio", command: p.npmProxy},
		{name: "pypi-mcp-proxy", upstream: "stdio", command: p.pypiProxy},
		{name: "tbxark", upstream: "http", path: "/mcp/up/", command: p.tbxark},
		{name: "tbxark", upstream: "stdio", path: "/mcp/up/", command: p.tbxark},
		{name: "fastmcp", upstream: "http", command: p.fastmcp},
		{name: "fastmcp", upstream: "stdio", command: p.fastmcp},
	}
	for _, s := range all {
		s.peer, s.env = true, quiet
	}
	return all
}

// quiet keeps peers from asking the network for a marketplace or an update.
var quiet = []string{
	"HTTP_PROXY=http://127.0.0.1:9", "HTTPS_PROXY=http://127.0.0.1:9", "NO_PROXY=127.0.0.1,localhost", "NODE_USE_ENV_PROXY=1",
	"FASTMCP_CHECK_FOR_UPDATES=off",
}

// installed are peers in the folder of install.sh.
type installed struct{ cache string }

// npm returns the command of a package.
func (p installed) npm(name string) []string {
	folder := func(name string) string {
		return filepath.Join(p.cache, name+"-"+version(npmPeers, name), "node_modules")
	}
	return []string{filepath.Join(folder("node"), "node/bin/node"), filepath.Join(folder(name), ".bin", name)}
}

func (p installed) pypi(name string) []string {
	bin := filepath.Join(p.cache, "pypi-"+name+"-"+version(pypiPeers, name), "bin")
	return []string{filepath.Join(bin, "python"), filepath.Join(bin, name)}
}

// version returns the version of a package in a list.
func version(list, name string) string {
	for line := range strings.Lines(list) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == name {
			return f[1]
		}
	}
	return "unknown"
}

func port(address string) string {
	_, port, _ := net.SplitHostPort(address) // is ours
	return port
}

func (p installed) hub(address, folder, _ string, up server) ([]string, error) {
	up.Type = "" // it finds out
	file, err := writeConfig(folder, map[string]any{"mcpServers": map[string]server{"up": up}})
	return append(p.npm("mcp-hub"), "--port", port(address), "--config", file), err
}

// supergateway starts the upstream once for each session.
func (p installed) supergateway(address, _, _ string, up server) ([]string, error) {
	return append(p.npm("supergateway"), "--stdio", strings.Join(append([]string{up.Command}, up.Args...), " "),
		"--outputTransport", "streamableHttp", "--stateful", "--port", port(address)), nil
}

func (p installed) npmProxy(address, _, _ string, up server) ([]string, error) {
	return append(append(p.npm("mcp-proxy"), "--host", "127.0.0.1", "--port", port(address), "--server", "stream", "--", up.Command), up.Args...), nil
}

func (p installed) pypiProxy(address, _, _ string, up server) ([]string, error) {
	return append(append(p.pypi("mcp-proxy"), "--port", port(address), "--", up.Command), up.Args...), nil
}

func (p installed) fastmcp(address, folder, _ string, up server) ([]string, error) {
	entry := map[string]any{"command": up.Command, "args": up.Args}
	if up.URL != "" {
		entry = map[string]any{"url": up.URL, "transport": "http"}
	}
	file, err := writeConfig(folder, map[string]any{"mcpServers": map[string]any{"up": entry}})
	return append(p.pypi("fastmcp"), "run", file, "--transport", "http", "--host", "127.0.0.1", "--port", port(address), "--no-banner"), err
}

// tbxark is TBXark/mcp-proxy, which is in no registry that install.sh reads: it is the
// program built from its repository, at CACHE/tbxark/mcp-proxy.
func (p installed) tbxark(address, folder, _ string, up server) ([]string, error) {
	entry := map[string]any{"command": up.Command, "args": up.Args}
	if up.URL != "" {
		entry = map[string]any{"url": up.URL, "transportType": "streamable-http"}
	}
	file, err := writeConfig(folder, map[string]any{
		"mcpProxy":   map[string]any{"baseURL": "http://" + address + "/mcp", "addr": address, "name": "tbxark", "version": "1", "type": "streamable-http"},
		"mcpServers": map[string]any{"up": entry},
	})
	return []string{filepath.Join(p.cache, "tbxark", "mcp-proxy"), "--config", file}, err
}
