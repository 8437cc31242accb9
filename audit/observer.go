package audit

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
	"sync"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/access/trail"
	"github.com/toolpost/toolpost/internal/lazyregexp"
	"github.com/toolpost/toolpost/internal/wire"
	"github.com/toolpost/toolpost/observe"
)

// Observe records the end of every call, get, read and request of an extension. It
// is an [observe.Observer]: it returns once the record is in the file, so that the
// answer leaves after it.
func (l *Log) Observe(ctx context.Context, r *observe.Request) (context.Context, func(*observe.Response)) {
	if !isRecorded(r.Method) {
		return ctx, nil
	}
	c := &call{log: l, request: r, id: rand.Text()}
	return context.WithValue(ctx, callKey{}, c), c.end
}

// isRecorded reports whether a request is a call. MCP's own lists and completions have no
// effects, and clients send them at every key. A method of an extension may change
// something, whatever its name.
func isRecorded(method string) bool {
	switch method {
	case "tools/list", "prompts/list", "resources/list", "resources/templates/list", "tasks/list", "completion/complete", "server/discover":
		return false
	}
	return true
}

// Around records the start of a call of a tool that does not declare to be read-only,
// before the call is sent; with [Options].Required, of all calls. It is for the option
// Around of package gateway. A call that cannot be recorded is refused if records are
// required.
func (l *Log) Around(to *observe.Target, next toolpost.Handler) toolpost.Handler {
	return func(ctx context.Context, call *toolpost.Call) (*toolpost.Result, error) {
		c := callOf(ctx)
		if c == nil || !l.opts.Required && !changes(to) || !c.startOnce() {
			return next(ctx, call)
		}
		r := c.record(to)
		r.Phase, r.Time = trail.PhaseStart, time.Now().UTC()
		if err := l.add(r, true); err != nil && l.opts.Required {
			observe.From(ctx).Note(observe.Denied)
			return nil, toolpost.Denied.Errorf("This call was not executed, because the audit log cannot be written. The user can correct that; the log of the gateway has the reason.")
		}
		return next(ctx, call)
	}
}

// changes reports whether a request may change something.
func changes(to *observe.Target) bool {
	if to.Method != "tools/call" {
		return false
	}
	return to.Definition == nil || to.Definition.Annotations.ReadOnly == nil || !*to.Definition.Annotations.ReadOnly
}

// A call is one that is being recorded.
type call struct {
	log     *Log
	request *observe.Request
	id      string
	once    sync.Once // of its start
}

type callKey struct{}

func callOf(ctx context.Context) *call {
	c, _ := ctx.Value(callKey{}).(*call)
	return c
}

// startOnce reports whether this is the first request to a server of the call.
func (c *call) startOnce() (first bool) {
	c.once.Do(func() { first = true })
	return first
}

// end records the end of the call.
func (c *call) end(response *observe.Response) {
	r := c.record(c.request.Target())
	r.Time, r.Duration = time.Now().UTC(), float64(response.Duration.Microseconds())/1000
	r.Outcome, r.ErrorCode, r.BytesOut = response.Outcome, response.Code, response.Bytes
	r.Decision = decision(response.Outcome)
	if result := response.Result; result != nil {
		r.IsError, r.Ref = result.IsError(), result.OutputRef()
		r.Result = c.log.result(result, response.Bytes)
	}
	_ = c.log.add(r, false) // reported
}

// record returns what is known about the call.
func (c *call) record(to *observe.Target) *trail.Record {
	q := c.request
	r := &trail.Record{
		Approval: approvalOf(q),
		Method:   q.Method, ID: c.id, Trace: traceOf(q.Params), Tool: c.log.redact.name(q.Called()),
		Principal: c.log.principal(q),
		BytesIn:   int64(len(q.Arguments)),
	}
	if q.Called() != q.Name {
		r.Through = c.log.redact.name(q.Name)
	}
	if args := c.log.redact.json(q.Arguments); len(args) > 0 { // a digest of what was sent would confirm guesses of a secret
		r.ArgsSHA256 = strings.TrimPrefix(trail.Digest(args), "sha256:")
		if c.log.opts.Level != LevelMeta {
			r.Args = args
		}
	}
	if to != nil {
		r.Upstream, r.ServerTool = to.Server, c.log.redact.name(to.Name)
		r.Definition = c.log.definitions.digest(to.Definition)
	}
	return r
}

func (l *Log) principal(q *observe.Request) trail.Principal {
	p := trail.Principal{Client: trail.Clip(q.Client.Name), Profile: trail.Clip(q.Profile), User: trail.Clip(q.Client.Identity), Transport: q.Transport, Address: q.Client.Address}
	if q.Client.Version != "" {
		p.Client += "/" + trail.Clip(q.Client.Version)
	}
	if q.Session != "" {
		mac := hmac.New(sha256.New, l.key)
		mac.Write([]byte(q.Session))
		p.Session = hex.EncodeToString(mac.Sum(nil)[:8])
	}
	return p
}

// result returns what is recorded of a result.
func (l *Log) result(result *toolpost.Result, size int64) json.RawMessage {
	switch {
	case l.opts.Level != LevelFull:
		return nil
	case size > maxValue: // it may be too large for memory
		return trail.TooLong(int(size))
	}
	raw, err := result.MarshalJSON()
	if err != nil {
		return nil
	}
	return l.redact.json(raw)
}

func decision(o observe.Outcome) trail.Decision {
	switch o {
	case observe.Denied, observe.Limited, observe.CircuitOpen:
		return trail.Decision{Effect: "deny", Rule: o}
	}
	return trail.Decision{Effect: "allow"}
}

// traceParent is the form of a W3C traceparent.
var traceParent = lazyregexp.New(`^[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}`)

// traceOf returns the trace that the client says a request belongs to.
func traceOf(params json.RawMessage) string {
	if m := traceParent.FindStringSubmatch(wire.Unquote(wire.Get(wire.Get(params, "_meta"), "traceparent"))); m != nil {
		return m[1]
	}
	return ""
}

// definitions are the digests of definitions of tools.
type definitions struct {
	mu  sync.Mutex
	all map[*toolpost.Definition]string
}

// maxDefinitions is how many digests are kept: those of tools that are gone are
// forgotten together with the others.
const maxDefinitions = 10_000

func (d *definitions) digest(of *toolpost.Definition) string {
	if of == nil {
		return ""
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if known, ok := d.all[of]; ok {
		return known
	}
	if d.all == nil || len(d.all) >= maxDefinitions {
		d.all = map[*toolpost.Definition]string{}
	}
	text := ""
	if raw, err := json.Marshal(of); err == nil {
		text = trail.Digest(raw)
	}
	d.all[of] = text
	return text
}

func approvalOf(q *observe.Request) trail.Approval {
	rule, decision := q.Approval()
	return trail.Approval{Rule: rule, Decision: decision}
}
