package owner

import (
	"encoding/json"
	"log/slog"
	"strings"

	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/gateway"
	"github.com/toolpost/toolpost/internal/cleartext"
	"github.com/toolpost/toolpost/internal/policy/pins"
	"github.com/toolpost/toolpost/internal/policy/trust"
)

// Pins returns where the definitions of the configuration's tools are pinned,
// nil if it is neither of a file nor of MCP_URLS.
func Pins(c *config.Config) *gateway.Pins {
	if c.File == "" && c.URLs == "" {
		return nil
	}
	p := &gateway.Pins{Shared: c.Lock, Command: func(args ...string) string { return Command(c, args...) }}
	file, err := LockFile(c)
	if p.Missing = err; err == nil {
		p.File = file.Path()
	}
	switch {
	case c.URLs != "":
		p.Config = "MCP_URLS"
	case !c.Lock: // else the file has a place beside it
		p.Config, _ = trust.Locate(c.File)
	}
	return p
}

// LockFile returns the file with the pins of the configuration.
func LockFile(c *config.Config) (*pins.File, error) {
	if c.URLs != "" {
		return pins.Own("MCP_URLS=" + c.URLs)
	}
	file, err := trust.Locate(c.File)
	switch {
	case err != nil:
		return nil, err
	case c.Lock:
		return pins.Beside(file), nil
	}
	return pins.Own(file)
}

// Command returns the command line that runs toolpost for this configuration.
func Command(c *config.Config, args ...string) string {
	words := []string{"toolpost"}
	for _, arg := range args {
		words = append(words, cleartext.ShellWord(arg))
	}
	if c.URLs != "" {
		return "MCP_URLS=… " + strings.Join(words, " ")
	}
	file, err := trust.Locate(c.File)
	if err != nil {
		file = c.File
	}
	return strings.Join(append(words, "--config", cleartext.ShellWord(file)), " ")
}

// Catalog returns where serve stores what the servers of the configuration list,
// nil for nowhere.
func Catalog(c *config.Config, log *slog.Logger) *gateway.Catalog {
	dir, err := CatalogDir()
	if err != nil {
		log.Warn("what servers list is not stored", "err", err)
		return nil
	}
	return &gateway.Catalog{Dir: dir, Config: identity(c)}
}

// identity names the configuration among all of the user. It may contain secrets.
func identity(c *config.Config) string {
	if c.URLs != "" {
		return "MCP_URLS=" + c.URLs
	}
	if file, err := trust.Locate(c.File); err == nil && c.File != "" {
		return file
	}
	var servers [][]string // of a command line
	for _, s := range c.Servers {
		servers = append(servers, append([]string{s.Name, s.URL, s.Command}, s.Args...))
	}
	text, _ := json.Marshal(servers) // strings
	return string(text)
}
