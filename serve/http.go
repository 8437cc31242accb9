package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/toolpost/toolpost/gateway"
	"github.com/toolpost/toolpost/internal/access/callers"
	"github.com/toolpost/toolpost/internal/access/proof"
	"github.com/toolpost/toolpost/internal/hidden"
	"github.com/toolpost/toolpost/serve/internal/httpserve"
)

// drainTime is how long calls under way may go on after a signal.
const drainTime = 5 * time.Second

func (e *Endpoint) serveHTTP(ctx context.Context) error {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+healthPath, e.health)
	mux.HandleFunc("GET "+statusPath, e.report)
	mux.HandleFunc("GET "+readyPath, e.readyz)
	mux.Handle("/", e.mcp)
	server := httpserve.New(&http.Server{
		Handler:           e.withInstance(e.protect(e.withMCP(mux))),
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(e.log.Handler(), slog.LevelDebug),
		BaseContext:       func(net.Listener) context.Context { return e.running },
	})
	defer server.Close()
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(e.listener) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serve %s: %w", e.listener.Addr(), err)
	case <-ctx.Done():
		e.log.Info("stopping", "cause", context.Cause(ctx))
		e.endWaiting()
	}
	err := e.stop(server)
	e.log.Info("stopped")
	return err
}

// protect decides who reaches what is served: first by the Host and Origin, so that a
// web page of another site gets nothing without a token either, then by the key of the run
// or by the token.
func (e *Endpoint) protect(next http.Handler) http.Handler {
	return e.mcp.Guard(e.ownerRequests(e.publicMetadata(e.access.requireToken(next))))
}

// withMCP serves MCP at its usual address, and leaves other addresses to others.
func (e *Endpoint) withMCP(others http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/mcp" { // a mux would cost each call more
			e.mcp.ServeHTTP(w, r)
			return
		}
		others.ServeHTTP(w, r)
	})
}

// publicMetadata answers, without a token, where callers log in.
func (e *Endpoint) publicMetadata(next http.Handler) http.Handler {
	if e.access.login == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet && callers.IsMetadata(r.URL.Path) {
			e.access.login.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// withInstance sets the header by which a Toolpost that is its own upstream finds out.
func (e *Endpoint) withInstance(next http.Handler) http.Handler {
	if e.gateway == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header()[hidden.InstanceHeader] = []string{e.gateway.Instances()}
		if e.run != nil && r.URL.Path == healthPath {
			proof.Answer(w, r, proof.RunHeader, e.run.Key)
		}
		next.ServeHTTP(w, r)
	})
}

// stop ends in order: calls under way, whose clients may have to connect again to
// answer their questions, new connections, sessions, and whatever is still connected.
func (e *Endpoint) stop(server *httpserve.Server) error {
	ctx, cancel := context.WithTimeout(e.running, drainTime)
	defer cancel()
	if !e.mcp.Drain(ctx) {
		e.log.Warn("calls were interrupted", "after", drainTime)
	}
	var down sync.WaitGroup
	down.Go(func() { _ = server.Shutdown(ctx) })
	err := e.mcp.Close() // ends the streams that Shutdown waits for
	down.Wait()          // until the last answers are on their way
	if failed := server.Close(); err == nil && !errors.Is(failed, http.ErrServerClosed) {
		err = failed
	}
	return err
}

// listens reports whether a request opens a stream that only listens.
func listens(r *http.Request) bool {
	return r.Method == http.MethodGet || r.Header.Get("Mcp-Method") == "subscriptions/listen"
}

// A healthReport is the answer of /healthz.
type healthReport struct {
	Status  string         `json:"status"`
	Tools   int            `json:"tools"`
	Servers []serverHealth `json:"servers"`
}

type serverHealth struct {
	Name      string `json:"name"`
	State     string `json:"state"`
	Transport string `json:"transport,omitempty"`
	Version   string `json:"protocolVersion,omitempty"`
	Tools     int    `json:"tools"`
	Error     string `json:"error,omitempty"`

	Withheld []string `json:"withheld,omitempty"` // tools that wait for the user's approval
}

// health answers ok as long as toolpost serves: servers come and go.
func (e *Endpoint) health(w http.ResponseWriter, _ *http.Request) {
	tools, _ := e.live.Set().Tools(context.Background()) // a Set never fails
	h := healthReport{Status: "ok", Tools: len(tools), Servers: []serverHealth{}}
	if e.status != nil {
		withheld := e.snapshot().Withheld
		for _, st := range e.status() {
			server := serverHealth{Name: st.Name, State: string(st.State), Transport: string(st.Transport), Version: st.Version, Tools: st.Tools}
			if st.Err != nil {
				server.Error = e.secrets.Known.Replace(st.Err.Error())
			}
			server.Withheld = withheldOf(withheld, st.Name)
			h.Servers = append(h.Servers, server)
		}
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_ = json.NewEncoder(w).Encode(h)
}

// withheldOf returns the names of the tools of one server that are withheld.
func withheldOf(all []gateway.WithheldTool, server string) (names []string) {
	for _, w := range all {
		if w.Server == server {
			names = append(names, w.Tool)
		}
	}
	return names
}
