package serve

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"reflect"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/access/owner"
	"github.com/toolpost/toolpost/internal/hidden"
	"github.com/toolpost/toolpost/internal/longjson"
	"github.com/toolpost/toolpost/observe"
)

// noteRun has the user's commands find the endpoint. One for a part of the configuration or
// for a single client is not what they look for.
func (e *Endpoint) noteRun(cfg *config.Config) {
	o := &e.options
	if o.Stdio || o.Bridge || o.Profile != "" || o.Dialect != "" || cfg.File == "" && cfg.URLs == "" || !e.listener.loopback() {
		return
	}
	var err error
	if e.run, err = owner.NoteRun(cfg, e.listener.url()); err != nil {
		e.log.Warn("commands such as call start servers of their own, because the address cannot be noted", "err", err)
		return
	}
	e.closer = append(e.closer, func() error { return e.run.Forget() })
}

// fingerprint identifies a configuration that is served as it is; see [owner.Fingerprint].
func (e *Endpoint) fingerprint(cfg *config.Config) string {
	if !reflect.DeepEqual(cfg.Audit, e.audited) {
		return "" // a command that starts servers itself records its calls as the file now says
	}
	return owner.Fingerprint(cfg, e.options.Version, e.options.Commit)
}

// ownerRequests answers the commands of the user who runs the endpoint, which have read the
// key of its note. For others, and with the owner's token too, there are no such paths.
func (e *Endpoint) ownerRequests(next http.Handler) http.Handler {
	if e.run == nil {
		return next
	}
	answers := map[string]http.HandlerFunc{
		owner.ToolPath: e.describeTool, owner.CallPath: e.callTool, owner.RestartPath: e.restart, owner.ServersPath: e.reportServers,
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := answers[r.URL.Path] // a mux would cost each call of a client 9 allocations
		if answer == nil || r.Method != http.MethodPost || !e.run.HasKey(r) {
			next.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Cache-Control", "no-store")
		answer(w, r)
	})
}

// directTool returns the tool of a request, or an error if what the command starts itself
// might answer otherwise.
func (e *Endpoint) directTool(r *http.Request) (*toolpost.Tool, error) {
	t, references, err := e.gateway.Direct(r.Context(), r.URL.Query().Get("tool"))
	if err != nil {
		return nil, err
	}
	if !e.secrets.Unchanged(r.Context(), references) {
		return nil, errors.New("secrets of the server may be others now")
	}
	if err := e.checkApplied(r); err != nil {
		return nil, err
	}
	return t, nil
}

// checkApplied returns an error if what was read of the gateway before may be of another
// configuration than that of a request.
func (e *Endpoint) checkApplied(r *http.Request) error {
	applied, _ := e.applied.Load().(string)
	if applied == "" || applied != r.URL.Query().Get("configuration") { // a reload takes it away before it changes anything
		return errors.New("another configuration is served")
	}
	return nil
}

// reportServers answers with what is known of the servers, a line of JSON for each.
func (e *Endpoint) reportServers(w http.ResponseWriter, r *http.Request) {
	reports := e.gateway.Report()
	if err := e.checkApplied(r); err != nil {
		refuseDirect(w, err)
		return
	}
	w.Header().Set("Content-Type", "application/x-ndjson")
	lines := json.NewEncoder(w)
	for i := range reports {
		if err := lines.Encode(&reports[i]); err != nil {
			panic(http.ErrAbortHandler) // so that the command does not take a part for the whole
		}
	}
}

// describeTool answers with the definition of a tool.
func (e *Endpoint) describeTool(w http.ResponseWriter, r *http.Request) {
	t, err := e.directTool(r)
	if err != nil {
		refuseDirect(w, err)
		return
	}
	raw, err := t.Definition.MarshalJSON()
	if err != nil {
		refuseDirect(w, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(raw) // the command is gone if it fails
}

// refuseDirect reports that nothing was called.
func refuseDirect(w http.ResponseWriter, err error) {
	http.Error(w, err.Error(), http.StatusConflict)
}

// errNotCalled reports that a call did not reach its server, and that what the command starts
// itself might answer it: the user has to be asked first, or the server is not asked now.
var errNotCalled = errors.New("the call was not executed")

// callTool calls a tool for the command, which ends the call by ending the request.
func (e *Endpoint) callTool(w http.ResponseWriter, r *http.Request) {
	arguments, err := io.ReadAll(http.MaxBytesReader(w, r.Body, owner.MaxArguments))
	if err != nil {
		refuseDirect(w, err)
		return
	}
	t, err := e.directTool(r)
	if err != nil {
		refuseDirect(w, err)
		return
	}
	query, session := r.URL.Query(), rand.Text() // as with a start of its own, it shares nothing with other calls
	defer e.views.SessionEnded(session)
	call := func(ctx context.Context, call *toolpost.Call) (*toolpost.Result, error) {
		result, err := t.Handler(ctx, call)
		if noted := observe.From(ctx).Noted(); result == nil && err == nil || noted == observe.CircuitOpen || noted == observe.Limited {
			return nil, errNotCalled
		}
		return result, err
	}
	observed := observe.All(e.observers...).Calls(observe.Client{Name: query.Get("command"), Version: e.options.Version})
	result, err := observed(call)(r.Context(), &toolpost.Call{
		Name: query.Get("tool"), Arguments: arguments, Session: session,
	})
	if errors.Is(err, errNotCalled) {
		refuseDirect(w, err)
		return
	}
	writeDirect(w, result, err)
}

// writeDirect answers with the result of a call, or with its error.
func writeDirect(w http.ResponseWriter, result *toolpost.Result, err error) {
	w.Header().Set("Content-Type", "application/json")
	if err != nil {
		failed, ok := errors.AsType[*toolpost.ProtocolError](err)
		if !ok {
			panic(http.ErrAbortHandler) // the command is gone, or the endpoint is closing
		}
		w.Header().Set(owner.AnswerHeader, owner.AnswerError)
		_ = json.NewEncoder(w).Encode(failed) // the command is gone if it fails
		return
	}
	w.Header().Set(owner.AnswerHeader, owner.AnswerResult)
	if err := writeResult(w, result); err != nil {
		panic(http.ErrAbortHandler) // so that the command does not take a part for the whole
	}
}

// writeResult writes the JSON of a result, which may be too large for memory.
func writeResult(w io.Writer, result *toolpost.Result) error {
	if long := hidden.EncodedOf(result).Long; long != nil {
		defer long.Close()
		if len(long.Edits()) == 0 {
			return long.Copy(w, longjson.Span{To: long.Size()})
		}
	}
	raw, err := result.MarshalJSON()
	if err == nil {
		_, err = w.Write(raw)
	}
	return err
}

// restart restarts a server, and answers with its state when it is ready or has failed.
func (e *Endpoint) restart(w http.ResponseWriter, r *http.Request) {
	name := r.URL.Query().Get("server")
	e.log.Info("restarting a server", "server", name)
	st, err := e.gateway.Restart(r.Context(), name)
	if err != nil {
		refuseDirect(w, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(e.serverStatus(st)) // the command is gone if it fails
}
