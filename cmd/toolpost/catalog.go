package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"

	"github.com/toolpost/toolpost/gateway"
	"github.com/toolpost/toolpost/internal/catalog"
	"github.com/toolpost/toolpost/internal/policy/trust"
)

// catalog returns where serve stores what the servers of the configuration list,
// nil for nowhere.
func (c *configuration) catalog(fresh bool, log *slog.Logger) *gateway.Catalog {
	if fresh {
		return nil
	}
	dir, err := catalog.Dir()
	if err != nil {
		log.Warn("what servers list is not stored", "err", err)
		return nil
	}
	return &gateway.Catalog{Dir: dir, Config: c.identity()}
}

// identity names the configuration among all of the user. It may contain secrets.
func (c *configuration) identity() string {
	if c.urls != "" {
		return "MCP_URLS=" + c.urls
	}
	if file, err := trust.Locate(c.file); err == nil && c.file != "" {
		return file
	}
	var servers [][]string // of a command line
	for _, s := range c.Servers {
		servers = append(servers, append([]string{s.Name, s.URL, s.Command}, s.Args...))
	}
	text, _ := json.Marshal(servers) // strings
	return string(text)
}

// clearCatalog removes what servers listed.
func clearCatalog(stderr io.Writer) error {
	dir, err := catalog.Dir()
	if err != nil {
		return err
	}
	folder, err := catalog.Open(dir)
	if err != nil {
		return err
	}
	servers, size, err := folder.Clear()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(stderr, "removed the lists of %d servers, %d bytes\n", servers, size)
	return err
}
