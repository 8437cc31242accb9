package main

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/cli"
	"github.com/toolpost/toolpost/internal/policy/breaker"
	"github.com/toolpost/toolpost/store"
	"github.com/toolpost/toolpost/telemetry"
	"github.com/toolpost/toolpost/upstream"
)

// traceTime limits how long the last traces are sent at the end.
const traceTime = 2 * time.Second

// startTelemetry starts what observes requests: traces if the environment names a
// collector, metrics if they are served. It returns the listener of metrics, nil if
// there is none.
func (s *service) startTelemetry(running context.Context, o *serveOptions) (*listener, error) {
	v := cli.ReadBuild()
	build := telemetry.Build{Version: v.Version, Commit: v.Commit, Go: v.Go}
	traces, err := telemetry.NewTraces(running, build, s.log)
	if err != nil {
		return nil, cli.WrapUsage(err)
	}
	if traces != nil {
		s.observers, s.around = append(s.observers, traces.Observe), append(s.around, traces.Around)
		s.closer = append(s.closer, func() error {
			ctx, cancel := context.WithTimeout(running, traceTime)
			defer cancel()
			return traces.Close(ctx)
		})
	}
	if o.metrics == "" {
		return nil, nil
	}
	l, err := listen(o.metrics)
	if err != nil {
		return nil, err
	}
	s.closer = append(s.closer, func() error { _ = l.Close(); return nil }) // the server may have closed it
	s.metrics = telemetry.NewMetrics(build)
	s.observers, s.around = append(s.observers, s.metrics.Observe), append(s.around, s.metrics.Around)
	return l, nil
}

// serveAdmin serves what operators and their programs read, until the service is
// closed.
func (s *service) serveAdmin(running context.Context, l *listener, o *serveOptions) error {
	if l == nil {
		return nil
	}
	if !l.loopback() && s.access.token == "" && !o.access.insecure {
		return cli.Usagef("refusing to serve metrics on %s: other machines could read them without a token; "+
			"add --require-token, or --insecure to serve anyone", l.Addr())
	}
	if s.status != nil {
		s.metrics.Upstreams(s.status)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", s.metrics.Handler())
	mux.HandleFunc("GET "+healthPath, s.health)
	mux.HandleFunc("GET "+readyPath, s.readyz)
	server := &http.Server{
		Handler:           s.guardAdmin(l, s.access.requireToken(mux)),
		ReadHeaderTimeout: 10 * time.Second,
		WriteTimeout:      time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
		BaseContext:       func(net.Listener) context.Context { return running },
	}
	s.closer = append(s.closer, server.Close)
	go func() {
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			s.log.Error("metrics are no longer served", "err", err)
		}
	}()
	s.log.Info("serving metrics", "url", "http://"+l.Addr().String()+"/metrics")
	return nil
}

// guardAdmin keeps web pages away from a listener that only this machine reaches. On
// others, the token does.
func (s *service) guardAdmin(l *listener, next http.Handler) http.Handler {
	if l.loopback() {
		return s.mcp.Guard(next)
	}
	return next
}

// addCacheBytes adds the size of the stored outputs to the metrics.
func (s *service) addCacheBytes(kept store.Store) {
	if s.metrics == nil || kept == nil {
		return
	}
	s.metrics.CacheBytes(func() (size int64) {
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
func (s *service) admit(a *access) {
	s.access = a
	a.ready = func() bool { return len(s.unready()) == 0 }
}

// unready returns the required servers that are not connected. A server whose tools
// are listed from an earlier run is not ready before it is connected.
func (s *service) unready() (names []string) {
	if s.status == nil {
		return nil
	}
	for _, st := range s.status() {
		if st.Required && st.State != upstream.Ready {
			names = append(names, st.Name)
		}
	}
	return names
}

// connection describes the connection to a server for its circuit breaker.
func (s *service) connection(server string) breaker.Connection {
	for _, st := range s.status() {
		if st.Name == server {
			_, login := errors.AsType[*upstream.LoginError](st.Err)
			return breaker.Connection{Connects: st.Connects, NeedsLogin: login && st.State != upstream.Ready}
		}
	}
	return breaker.Connection{}
}

// readyz answers whether clients can use the servers that the configuration requires.
func (s *service) readyz(w http.ResponseWriter, _ *http.Request) {
	missing := s.unready()
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
