package owner

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/gateway"
	"github.com/toolpost/toolpost/internal/access/proof"
)

// Where a run answers the commands of its user, and nobody else: a request has the key of the
// run in KeyHeader. The query has the Fingerprint of the command's configuration and the name
// of the command, that of the first two also the tool, and that of the third the server.
//
//	POST ToolPath                ──▶ 200 its definition
//	POST CallPath, the arguments ──▶ 200 AnswerHeader: the MCP result, or a JSON-RPC error
//	                                 409 not called: what the command starts may answer otherwise
//	POST RestartPath             ──▶ 200 the state of the server, when it is ready or has failed
//	                                 409 why it cannot be restarted
//	POST ServersPath             ──▶ 200 a line of JSON for each server
//	                                 409 another configuration is served
const (
	ToolPath    = "/owner/tool"
	CallPath    = "/owner/call"
	RestartPath = "/owner/restart"
	ServersPath = "/owner/servers"

	KeyHeader    = "Toolpost-Run-Key"
	AnswerHeader = "Toolpost-Answer" // AnswerResult or AnswerError
	AnswerResult = "result"
	AnswerError  = "error"
)

// MaxArguments is the size up to which a run takes the arguments of a call.
const MaxArguments = 16 << 20

// maxDefinition is more than a tool's definition has.
const maxDefinition = 16 << 20

// maxReports is the size up to which reports about servers are read. It is more than ten
// servers with large lists have.
const maxReports = 256 << 20

// ErrNotSame reports that a run did not call a tool, because what the command starts itself
// may answer otherwise.
var ErrNotSame = errors.New("what runs may not answer as a new start would")

// HasKey reports whether a request is of the user of the run.
func (r *Run) HasKey(req *http.Request) bool {
	return hmac.Equal([]byte(req.Header.Get(KeyHeader)), []byte(r.Key))
}

// A RunClient uses a run for a command of its user.
type RunClient struct {
	run   *Run
	http  *http.Client
	query url.Values
}

// Client returns a client for a command with the Fingerprint of its configuration. Each
// connection proves within a time that it leads to the process of the run.
func (r *Run) Client(within time.Duration, fingerprint, command string) *RunClient {
	return &RunClient{
		run: r, query: url.Values{"configuration": {fingerprint}, "command": {command}},
		http: &http.Client{
			Transport:     proof.OfRun(r.Key, within, http.DefaultTransport.(*http.Transport)),
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
}

// Close ends the connections.
func (c *RunClient) Close() { c.http.CloseIdleConnections() }

func (c *RunClient) post(ctx context.Context, path, about, name string, body []byte) (*http.Response, error) {
	query := maps.Clone(c.query)
	if about != "" {
		query.Set(about, name)
	}
	address := strings.TrimSuffix(c.run.URL, "/mcp") + path + "?" + query.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set(KeyHeader, c.run.Key)
	return c.http.Do(req)
}

// Tool returns the definition of a tool that the run would call as a new start would.
func (c *RunClient) Tool(ctx context.Context, name string) (d toolpost.Definition, err error) {
	resp, err := c.post(ctx, ToolPath, "tool", name, nil)
	if err != nil {
		return d, err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxDefinition))
	if err != nil || resp.StatusCode != http.StatusOK {
		return d, cmp.Or(err, ErrNotSame)
	}
	return d, d.UnmarshalJSON(raw)
}

// Call calls a tool. It was not called if the error is ErrNotSame. What became of it may be
// unknown, which the error says: it must not be called again then.
func (c *RunClient) Call(ctx context.Context, name string, arguments json.RawMessage) (*toolpost.Result, error) {
	if len(arguments) > MaxArguments {
		return nil, ErrNotSame
	}
	resp, err := c.post(ctx, CallPath, "tool", name, arguments)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case errors.Is(err, proof.ErrUnproven):
		return nil, ErrNotSame
	case err != nil:
		return nil, c.unknownFate(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusConflict {
		return nil, ErrNotSame
	}
	raw, err := io.ReadAll(resp.Body)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, c.unknownFate(err)
	case resp.StatusCode != http.StatusOK:
		return nil, c.unknownFate(fmt.Errorf("it answered %d", resp.StatusCode))
	case resp.Header.Get(AnswerHeader) == AnswerResult:
		return toolpost.RawResult(raw), nil
	}
	failed := &toolpost.ProtocolError{}
	if err := json.Unmarshal(raw, failed); err != nil {
		return nil, c.unknownFate(err)
	}
	return nil, failed
}

// Restart restarts a server of the run, and returns its state as JSON when it is ready or has
// failed. A [UsageError] says why it cannot be restarted.
func (c *RunClient) Restart(ctx context.Context, server string) (state json.RawMessage, err error) {
	resp, err := c.post(ctx, RestartPath, "server", server, nil)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxDefinition))
	switch {
	case err != nil:
		return nil, err
	case resp.StatusCode == http.StatusConflict:
		return nil, usagef("%s", strings.TrimSpace(string(raw)))
	case resp.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("it answers %d; the serve that runs is another version, so end it and start it again", resp.StatusCode)
	}
	return raw, nil
}

// URL returns the address of the run.
func (c *RunClient) URL() string { return c.run.URL }

// Servers returns what the run has of each server.
func (c *RunClient) Servers(ctx context.Context) (reports []gateway.ServerReport, err error) {
	resp, err := c.post(ctx, ServersPath, "", "", nil)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, ErrNotSame
	}
	lines := json.NewDecoder(io.LimitReader(resp.Body, maxReports))
	for {
		var r gateway.ServerReport
		switch err := lines.Decode(&r); {
		case errors.Is(err, io.EOF):
			return reports, nil
		case err != nil:
			return nil, err
		}
		reports = append(reports, r)
	}
}

// unknownFate is the error of a call that may have been executed.
func (c *RunClient) unknownFate(err error) error {
	if failed, ok := errors.AsType[*url.Error](err); ok {
		err = failed.Err // the address is long and says nothing to a person
	}
	return fmt.Errorf("the call went to the toolpost serve that runs as process %d, and its answer was lost: %w; it may have been executed, and is not repeated", c.run.PID, err)
}
