package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/longjson"
	"github.com/toolpost/toolpost/internal/wire"
	"github.com/toolpost/toolpost/schema"
)

// lotCore is a core with one tool, which asks once.
func lotCore(t *testing.T) (c *core, ended chan error) {
	t.Helper()
	ended = make(chan error, 999)
	tool := &toolpost.Tool{
		Definition: toolpost.Definition{Name: "ask", Input: schema.MustParse(`{"type":"object"}`)},
		Handler: func(ctx context.Context, call *toolpost.Call) (*toolpost.Result, error) {
			raw, err := call.Caller.Request(ctx, "elicitation/create", json.RawMessage(`{"n":9007199254740993}`))
			ended <- err
			return toolpost.TextResult(string(raw)), err
		},
	}
	live, err := toolpost.NewLive(t.Context(), toolpost.Tools{tool})
	if err != nil {
		t.Fatal(err)
	}
	base := &view{live: live}
	c = &core{views: &views{base: base}, log: slog.New(slog.DiscardHandler), info: json.RawMessage("{}"), life: context.Background(), opts: (*Options)(nil).orDefaults()}
	c.parked = newParkedCalls(&c.owed, c.opts)
	log := &reports{log: c.log}
	base.catalog.Store(newCatalog(live.Set(), newFeatures(nil, log), nil, log))
	return c, ended
}

// serveRaw serves r, and returns the bytes of its result.
func serveRaw(t *testing.T, c *core, r *request) (json.RawMessage, error) {
	t.Helper()
	result, err := c.dispatch(t.Context(), r)
	return result.bytes(), err
}

func parkRequest(c *core, name, state, responses string) *request {
	params := `{"name":"` + name + `"}`
	if state != "" {
		params = `{"name":"` + name + `","requestState":"` + state + `","inputResponses":` + responses + `}`
	}
	msgs, _, fault := wire.Parse([]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":` + params + `}`))
	if fault != nil {
		panic(fault)
	}
	return &request{Message: &msgs[0], view: c.views.base, sender: &opener{}, peer: &peer{version: wire.Stateless, can: parseCapabilities([]byte(`{"elicitation":{}}`))}}
}

// ask makes the first request, and returns the state of its response.
func askState(t *testing.T, c *core) string {
	t.Helper()
	raw, err := serveRaw(t, c, parkRequest(c, "ask", "", ""))
	if err != nil {
		t.Fatal(err)
	}
	if kind := wire.Unquote(wire.Get(raw, "resultType")); kind != "input_required" {
		t.Fatalf("got %s", raw)
	}
	if asked := wire.Get(wire.Get(raw, "inputRequests"), inputKey); string(asked) != `{"method":"elicitation/create","params":{"n":9007199254740993}}` {
		t.Errorf("asked %s", asked)
	}
	return wire.Unquote(wire.Get(raw, "requestState"))
}

const yes = `{"input":{"action":"accept","content":{"n":9007199254740993}}}`

func TestParkedCallGoesOn(t *testing.T) {
	c, _ := lotCore(t)
	state := askState(t, c)

	again, err := serveRaw(t, c, parkRequest(c, "ask", state, `{"other":{}}`)) // the answer is missing
	if err != nil || wire.Unquote(wire.Get(again, "resultType")) != "input_required" {
		t.Fatalf("got %s, %v", again, err)
	}
	next := wire.Unquote(wire.Get(again, "requestState"))
	if next == state {
		t.Error("the state is used twice")
	}
	raw, err := serveRaw(t, c, parkRequest(c, "ask", next, yes))
	if err != nil || !strings.Contains(string(raw), `\"n\":9007199254740993`) || wire.Unquote(wire.Get(raw, "resultType")) != "complete" {
		t.Errorf("got %s, %v", raw, err)
	}
}

func TestWrongStates(t *testing.T) {
	c, ended := lotCore(t)
	state := askState(t, c)
	for name, r := range map[string]*request{
		"changed":          parkRequest(c, "ask", state+"-TAMPERED", yes),
		"made up":          parkRequest(c, "ask", c.parked.prefix+"ABC", yes),
		"for another tool": parkRequest(c, "other", state, yes),
	} {
		_, err := c.dispatch(t.Context(), r)
		var fault *wire.Error
		if !errors.As(err, &fault) || fault.Code != wire.CodeInvalidParams {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := c.dispatch(t.Context(), parkRequest(c, "ask", state, yes)); err != nil {
		t.Errorf("the right one: %v", err)
	}
	if _, err := c.dispatch(t.Context(), parkRequest(c, "ask", state, yes)); err == nil {
		t.Error("a state was good twice")
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// The states of a server behind this one are not ours.
func TestStatesOfOthers(t *testing.T) {
	behind, _ := lotCore(t)
	defer behind.parked.close()
	for _, state := range []string{askState(t, behind), "sealed"} {
		c, _ := lotCore(t)
		defer c.parked.close()
		raw, err := serveRaw(t, c, parkRequest(c, "ask", state, yes))
		if err != nil || wire.Unquote(wire.Get(raw, "resultType")) != "input_required" { // the handler runs, and asks
			t.Errorf("%s: got %s, %v", state, raw, err)
		}
	}
}

func TestParkedCallExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, ended := lotCore(t)
		state := askState(t, c)
		if err := <-ended; !errors.Is(err, errNobodyAnswered) { // the clock runs on while all wait
			t.Errorf("the handler got %v", err)
		}
		if _, err := c.dispatch(t.Context(), parkRequest(c, "ask", state, yes)); err == nil {
			t.Error("the state is still good")
		}
	})
}

// fillParked takes all room for parked calls that is left.
func fillParked(c *core) {
	for i := 0; newHold(c.parked.held, quotaHolder{identity: strconv.Itoa(i)}, 0) != nil; i++ {
		for newHold(c.parked.held, quotaHolder{identity: strconv.Itoa(i)}, 0) != nil {
		}
	}
}

func TestParkedCallsAreBounded(t *testing.T) {
	c, ended := lotCore(t)
	fillParked(c)
	raw, err := serveRaw(t, c, parkRequest(c, "ask", "", ""))
	if err != nil || !strings.Contains(string(raw), errTooManyParked.Error()) {
		t.Errorf("got %s, %v", raw, err)
	}
	if err := <-ended; !errors.Is(err, errTooManyParked) {
		t.Errorf("the handler got %v", err)
	}
}

// A call that was parked has its room until it ends.
func TestParkedAgainWithoutRoom(t *testing.T) {
	c, ended := lotCore(t)
	state := askState(t, c)
	fillParked(c)
	raw, err := serveRaw(t, c, parkRequest(c, "ask", state, "{}"))
	if err != nil {
		t.Fatal(err)
	}
	state = wire.Unquote(wire.Get(raw, "requestState"))
	if raw, err := serveRaw(t, c, parkRequest(c, "ask", state, yes)); err != nil || !strings.Contains(string(raw), "accept") {
		t.Errorf("got %s, %v", raw, err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if newHold(c.parked.held, quotaHolder{}, 0) == nil {
		t.Error("the room is not given back")
	}
}

// One caller cannot take the room of the others.
func TestParkedCallsOfOneCaller(t *testing.T) {
	c, ended := lotCore(t)
	defer c.parked.close()
	for range maxParked {
		askState(t, c)
	}
	raw, err := serveRaw(t, c, parkRequest(c, "ask", "", ""))
	if err != nil || !strings.Contains(string(raw), errTooManyParked.Error()) {
		t.Errorf("got %s, %v", raw, err)
	}
	if err := <-ended; !errors.Is(err, errTooManyParked) {
		t.Errorf("the handler got %v", err)
	}
	other := parkRequest(c, "ask", "", "")
	other.sender.from.Address = "another"
	if raw, err := serveRaw(t, c, other); err != nil || wire.Unquote(wire.Get(raw, "resultType")) != "input_required" {
		t.Errorf("another caller got %s, %v", raw, err)
	}
}

// A parked call that has ended keeps its result for its caller, but gives its
// place to calls that wait.
func TestEndedCallsGiveWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, ended := lotCore(t)
		defer c.parked.close()
		var states []string
		for range maxParked {
			states = append(states, askState(t, c))
		}
		for _, state := range states[:2] {
			c.parked.byState[state].cancel(errors.New("the server behind it is gone"))
			<-ended
		}
		synctest.Wait()
		if _, err := c.dispatch(t.Context(), parkRequest(c, "ask", states[0], yes)); err == nil || !strings.Contains(err.Error(), "the server behind it is gone") {
			t.Errorf("the result of the call that has ended is %v", err)
		}
		askState(t, c) // takes the place of the first
		askState(t, c) // takes the place of the second
		if _, err := c.dispatch(t.Context(), parkRequest(c, "ask", states[1], yes)); err == nil {
			t.Error("a call that gave its place away is still there")
		}
		for _, state := range states[2:] {
			if _, err := c.dispatch(t.Context(), parkRequest(c, "ask", state, yes)); err != nil {
				t.Errorf("a call that waits: %v", err)
			}
		}
	})
}

// Nobody but its caller goes on with a parked call.
func TestParkedCallOfAnother(t *testing.T) {
	c, _ := lotCore(t)
	defer c.parked.close()
	state := askState(t, c)
	thief := parkRequest(c, "ask", state, yes)
	thief.owner.Session += " thief"
	if raw, err := serveRaw(t, c, thief); err == nil {
		t.Errorf("another caller got %s", raw)
	}
	if _, err := c.dispatch(t.Context(), parkRequest(c, "ask", state, yes)); err != nil {
		t.Errorf("its caller: %v", err)
	}
}

func TestCloseEndsParkedCalls(t *testing.T) {
	c, ended := lotCore(t)
	askState(t, c)
	c.parked.close()
	if err := <-ended; !errors.Is(err, errClosed) {
		t.Errorf("the handler got %v", err)
	}
}

func TestMissingCapability(t *testing.T) {
	c, ended := lotCore(t)
	r := parkRequest(c, "ask", "", "")
	r.can = parseCapabilities([]byte(`{"sampling":{}}`))
	_, err := c.dispatch(t.Context(), r)
	var fault *wire.Error
	if !errors.As(err, &fault) || fault.Code != wire.CodeMissingCapability ||
		string(fault.Data) != `{"requiredCapabilities":{"elicitation":{}}}` {
		t.Errorf("got %v", err)
	}
	<-ended
}

// The result of a call that nobody goes on with holds no file.
func TestResultOfADroppedCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := lotCore(t)
		message := []byte(`{"jsonrpc":"2.0","id":1,"result":{}}`)
		spool, scanner := longjson.NewSpool("", new(longjson.Buffers)), new(longjson.Scanner)
		_ = spool.Add(message, int64(len(message)))
		_, _ = scanner.Write(message)
		o := longjson.NewObject(spool, scanner)
		_, err := c.parked.serve(t.Context(), parkRequest(c, "ask", "", ""), func(ctx context.Context, caller toolpost.Caller) (payload, error) {
			_, _ = caller.Request(ctx, "elicitation/create", nil)
			return applyEdits(o, nil), nil
		})
		if err != nil {
			t.Fatal(err)
		}
		c.parked.close()
		synctest.Wait()
		if _, err := o.Load(); err == nil {
			t.Error("the result is still there")
		}
	})
}
