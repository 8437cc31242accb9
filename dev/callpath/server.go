//go:build unix

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
)

// serve is an MCP server over stdio. It answers a call once the socket that it dials then
// is closed by the other side.
func serve(socket string) {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var m struct {
			ID     json.RawMessage
			Method string
		}
		if json.Unmarshal(lines.Bytes(), &m) != nil || m.ID == nil {
			continue
		}
		answer := `"error":{"code":-32601,"message":"method not found"}`
		switch m.Method {
		case "initialize":
			answer = `"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"server","version":"1"}}`
		case "tools/list":
			answer = `"result":{"tools":[{"name":"wait","description":"Waits.","inputSchema":{"type":"object","properties":{"bytes":{"type":"integer"}}}}]}`
		case "tools/call":
			if c, err := net.Dial("unix", socket); err == nil {
				_, _ = io.Copy(io.Discard, c) // until it is closed
			}
			answer = `"result":{"content":[{"type":"text","text":"a text"}]}`
		}
		fmt.Printf("{\"jsonrpc\":\"2.0\",\"id\":%s,%s}\n", m.ID, answer)
	}
}
