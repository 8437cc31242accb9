// Package upstream makes one MCP server a toolset, over any transport and
// protocol version, and keeps the connection alive.
package upstream

import "time"

// A Config says how to reach one server: Command, or URL.
type Config struct {
	Name string // names the server in errors and logs

	// A server that is started here and spoken to over stdio.
	Command string
	Args    []string
	Env     map[string]string // added to a small, safe part of our own environment
	Dir     string

	// A server that is reached over HTTP.
	URL       string
	Headers   map[string]string
	Transport Transport // found by trying if empty

	ProtocolVersion string        // pins the MCP version, such as "2025-11-25"; negotiated if empty
	ConnectTimeout  time.Duration // of one attempt; 30 s if 0
	ProbeTimeout    time.Duration // of the modern handshake, before the classic one; 5 s if 0
	CallTimeout     time.Duration // of one call; none if 0
	MaxLine         int           // bytes of one message; 64 MiB if 0
}

// A Transport is a way to speak MCP.
type Transport string

// The transports (MCP 2026-07-28, Transports; SSE is that of 2024-11-05).
const (
	Stdio Transport = "stdio"
	HTTP  Transport = "http"
	SSE   Transport = "sse"
)
