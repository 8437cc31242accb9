package serve

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/toolpost/toolpost/gateway"
	"github.com/toolpost/toolpost/internal/policy/breaker"
	"github.com/toolpost/toolpost/store"
	"github.com/toolpost/toolpost/telemetry"
	"github.com/toolpost/toolpost/upstream"
)

// traceTime limits how long the last traces are sent at the end.
const traceTime = 2 * time.Second

// startTelemetry starts what observes requests: traces if the environment names a
// collector, metrics if they are served, at the listener admin.
func (e *Endpoint) startTelemetry() error {
	traces, err := telemetry.NewTraces(e.running, e.options.Version, e.log)
	if err != nil {
		return wrapUsage(err)
	}
	if traces != nil {
		e.observers, e.around = append(e.observers, traces.Observe), append(e.around, traces.Around)
		e.closer = append(e.closer, func() error {
			ctx, cancel := context.WithTimeout(e.running, traceTime)
			defer cancel()
			return traces.Close(ctx)
		})
	}
	if e.options.MetricsAddr == "" {
		return nil
	}
	l, err := listen(e.options.MetricsAddr)
	if err != nil {
		return err
	}
	e.admin = l
	e.closer = append(e.closer, func() error { _ = l.Close(); return nil }) // the server may have closed it
	e.metrics = telemetry.NewMetrics(e.options.Version, e.options.Commit)
	e.observers, e.around = append(e.observers, e.metrics.Observe), append(e.around, e.metrics.Around)
	return nil
}

// serveAdmin serves what operators and their programs read, until the endpoint is
// closed.
func (e *Endpoint) serveAdmin() error {
	l := e.admin
	if l == nil {
		return nil
	}
	if !l.loopback() && e.access.token == "" && !e.options.Insecure {
		return usagef("refusing to serve metrics on %s: other machines could read them without a token; "+
			"add --require-token, or --insecure to serve anyone", l.Addr())
	}
	if e.status != nil {
		e.metrics.Upstreams(e.status)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", e.metrics.Handler())
	mux.HandleFunc("GET "+healthPath, e.health)
	mux.HandleFunc("GET "+readyPath, e.readyz)
	served := e.access.requireToken(mux)
	if e.access.ask != nil && e.access.token == "" {
		served = mux // nobody is the owner: users of a login do not read metrics
	}
	server := &http.Server{
		Handler:           e.guardAdmin(l, served),
		ReadHeaderTimeout: 10 * time.Second,
		WriteTimeout:      time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(e.log.Handler(), slog.LevelDebug),
		BaseContext:       func(net.Listener) context.Context { return e.running },
	}
	e.closer = append(e.closer, server.Close)
	go func() {
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			e.log.Error("metrics are no longer served", "err", err)
		}
	}()
	e.log.Info("serving metrics", "url", "http://"+l.Addr().String()+"/metrics")
	return nil
}

// guardAdmin keeps web pages away from a listener that only this machine reaches. On
// others, the token does.
func (e *Endpoint) guardAdmin(l *listener, next http.Handler) http.Handler {
	if l.loopback() {
		return e.mcp.Guard(next)
	}
	return next
}

// addCacheBytes adds the size of the stored outputs to the metrics.
func (e *Endpoint) addCacheBytes(kept store.Store) {
	if e.metrics == nil || kept == nil {
		return
	}
	e.metrics.CacheBytes(func() (size int64) {
		for b, err := range kept.List(context.Background()) {
			if err != nil {
				break // what is counted so far is shown
			}
			size += b.Size
		}
		return size
	})
}

// admit sets who may call what is served.
func (e *Endpoint) admit(a *access) {
	e.access = a
	if e.options.hasOwnLogin() {
		a.ask = e.ask
	}
	a.ready = func() bool { return len(e.unready()) == 0 }
}

// unready returns the required servers that are not connected. A server whose tools
// are listed from an earlier run is not ready before it is connected.
func (e *Endpoint) unready() (names []string) {
	if e.status == nil {
		return nil
	}
	for _, st := range e.status() {
		if st.Required && st.State != upstream.Ready {
			names = append(names, st.Name)
		}
	}
	return names
}

// newBreaker keeps requests from servers that fail again and again.
func (e *Endpoint) newBreaker() gateway.Around { return breaker.New(e.connection).Around }

// connection describes the connection to a server for its circuit breaker.
func (e *Endpoint) connection(server string) breaker.Connection {
	for _, st := range e.status() {
		if st.Name == server {
			_, login := errors.AsType[*upstream.LoginError](st.Err)
			return breaker.Connection{Connects: st.Connects, NeedsLogin: login && st.State != upstream.Ready}
		}
	}
	return breaker.Connection{}
}

// readyz answers whether clients can use the servers that the configuration requires.
func (e *Endpoint) readyz(w http.ResponseWriter, _ *http.Request) {
	missing := e.unready()
	answerReady(w, len(missing) == 0, missing)
}

// A readiness is the answer of /readyz.
type readiness struct {
	Status  string   `json:"status"`            // ready, or not ready
	Waiting []string `json:"waiting,omitempty"` // the required servers that are not ready
}

func answerReady(w http.ResponseWriter, ready bool, waiting []string) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	answer := readiness{Status: "ready", Waiting: waiting}
	if !ready {
		answer.Status = "not ready"
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	_ = json.NewEncoder(w).Encode(answer) // the client is gone if it fails
}
