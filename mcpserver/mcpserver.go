// Package mcpserver serves a live toolset, prompts and resources over MCP:
// stdio, streamable HTTP of both protocol eras on one address, and legacy SSE.
package mcpserver

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/toolpost/toolpost"
)

// Options configure a Server; nil means defaults.
type Options struct {
	Name           string // "toolpost" if empty
	Version        string
	Logger         *slog.Logger
	SessionTimeout time.Duration // idle sessions of the stateful era end; 30 min if 0
	MaxBody        int64         // bytes of one request; 16 MiB if 0
	Hosts          []string      // Host headers accepted beside loopback ones
	Origins        []string      // Origin headers accepted beside same-origin ones
}

// A Server serves a live toolset to any number of sessions.
type Server struct{}

// New returns a server for live. Sessions are told when its tools change.
func New(live *toolpost.Live, opts *Options) *Server { return &Server{} }

// SetFeatures replaces the prompts, resources and instructions; sessions are
// told about the difference.
func (s *Server) SetFeatures(f *toolpost.Features) {}

// ResourceUpdated tells subscribed sessions that a resource changed.
func (s *Server) ResourceUpdated(ctx context.Context, uri string) {}

// ServeStdio serves one session on in and out until in ends or ctx is done.
func (s *Server) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error { return nil }

// Handler serves /mcp (streamable HTTP, both eras) and /sse (legacy SSE).
func (s *Server) Handler() http.Handler { return http.NotFoundHandler() }

// Close ends all sessions.
func (s *Server) Close() error { return nil }
