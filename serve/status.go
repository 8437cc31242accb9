package serve

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/toolpost/toolpost/internal/access/status"
	"github.com/toolpost/toolpost/upstream"
)

// statusPath is where the owner is answered with the state of the endpoint.
const statusPath = status.Path

// report answers with what serve does and did last: a [status.Status]. The query
// after=N leaves out older calls and log lines.
func (e *Endpoint) report(w http.ResponseWriter, r *http.Request) {
	after, _ := strconv.ParseUint(r.URL.Query().Get("after"), 10, 64) // otherwise everything
	var servers []status.Server
	if e.status != nil {
		for _, st := range e.status() {
			servers = append(servers, e.serverStatus(st))
		}
	}
	state := e.monitor.Status(after, servers)
	tools, _ := e.live.Set().Tools(context.Background()) // a Set never fails
	state.Version, state.Tools = e.options.Version, len(tools)
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_ = json.NewEncoder(w).Encode(state) // the client is gone if it fails
}

// serverStatus is the state of a server, without secrets.
func (e *Endpoint) serverStatus(st upstream.Status) status.Server {
	return status.Server{
		Name: st.Name, State: string(st.State), Transport: string(st.Transport), Version: st.Version, Tools: st.Tools, Error: e.secrets.Known.Replace(st.Reason()),
	}
}
