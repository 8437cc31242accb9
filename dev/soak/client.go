//lint:file-ignore SA1019 older versions of the protocol have logging, roots and sampling

//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	sessionEra   = "2025-11-25"
	statelessEra = "2026-07-28"
)

// A load is what all clients share.
type load struct {
	url      string
	rounds   int           // connections of each client; 0 means until the time is over
	calls    int           // over each connection
	patience time.Duration // a call without an answer for so long is wrong
	provoked time.Duration // how long a client waits for a hostile server
	stuck    time.Duration // how long a client that does not read stays, at most
	think    time.Duration // the longest pause between calls
	answered func(n int)   // is called after each answer; may be nil
	t        *tally
}

// A client is one connection of a client.
type client struct {
	*load
	number  int
	round   int
	era     string
	prefix  string
	changed atomic.Bool // the list, since it was read
	hostile []string    // servers that it provokes
}

// runClient connects again and again. The even clients have sessions, the odd ones
// are stateless. Of 20 pairs, two vanish, one does not read, one sends slowly, two use the
// server with a process for each session, and two call hostile servers too.
func runClient(ctx context.Context, l *load, number int) {
	for round := 0; ctx.Err() == nil && (l.rounds == 0 || round < l.rounds); round++ {
		c := &client{load: l, number: number, round: round, era: sessionEra, prefix: prefixOf(number, round)}
		if number%2 == 1 {
			c.era = statelessEra
		}
		var err error
		switch number / 2 % 20 {
		case 0, 1:
			err = c.vanish(ctx)
		case 2:
			err = c.getStuck(ctx)
		case 3:
			err = c.sendSlowly(ctx)
		case 4, 5:
			err = c.converse(ctx, own)
		case 6, 7:
			c.hostile = hostileNames()
			fallthrough
		default:
			err = c.converse(ctx, shared, auto, web, steady)
		}
		if err != nil && ctx.Err() == nil {
			l.t.fail("connection %s: %w", c.prefix, err)
			pause(ctx, time.Second)
		}
		pause(ctx, l.think)
	}
}

// pause waits for a random time below most.
func pause(ctx context.Context, most time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(rand.N(most)):
	}
}

// mine counts what reached the connection, and checks whom it belongs to.
func (c *client) mine(what, text string) {
	if len(c.hostile) > 0 && strings.HasPrefix(text, foreign) {
		c.t.add(foreign + " " + what)
		return
	}
	if c.t.add(what); !strings.HasPrefix(text, c.prefix) {
		c.t.fail("%s of %q reached %q", what, text, c.prefix)
	}
}

// options are handlers that check what they get, and answer questions with what was
// asked.
func (c *client) options() *mcp.ClientOptions {
	return &mcp.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			c.mine("progress", r.Params.Message)
		},
		LoggingMessageHandler: func(_ context.Context, r *mcp.LoggingMessageRequest) {
			c.mine("log message", fmt.Sprint(r.Params.Data))
		},
		ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			c.mine("elicitation", r.Params.Message)
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"answer": r.Params.Message}}, nil
		},
		CreateMessageHandler: func(_ context.Context, r *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
			text := ""
			if len(r.Params.Messages) == 1 {
				text = textOf(r.Params.Messages[0].Content)
			}
			c.mine("sampling", text)
			return &mcp.CreateMessageResult{Model: "none", Role: "assistant", Content: &mcp.TextContent{Text: text}}, nil
		},
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) {
			c.t.add("list change")
			c.changed.Store(true)
		},
	}
}

// connect opens a session of the official SDK.
func (c *client) connect(ctx context.Context) (session *mcp.ClientSession, end func(), err error) {
	// The gateway closes a connection that sends nothing for 10 seconds after it was
	// opened. The client must close it first, as net/http does not repeat a POST.
	transport := &checkedTransport{Transport: http.Transport{IdleConnTimeout: 3 * time.Second}, prefix: c.prefix, t: c.t}
	sdk := mcp.NewClient(&mcp.Implementation{Name: c.prefix, Version: "1"}, c.options())
	session, err = sdk.Connect(ctx, &mcp.StreamableClientTransport{Endpoint: c.url, HTTPClient: &http.Client{Transport: transport}},
		&mcp.ClientSessionOptions{ProtocolVersion: c.era})
	if err != nil {
		return nil, nil, err
	}
	return session, func() {
		_ = session.Close() // it may be lost
		transport.CloseIdleConnections()
	}, nil
}

// converse lists and makes calls, some of them in parallel.
func (c *client) converse(ctx context.Context, servers ...string) error {
	session, end, err := c.connect(ctx)
	if err != nil {
		return err
	}
	defer end()
	c.changed.Store(true)
	random := rand.New(rand.NewPCG(uint64(c.number), uint64(c.round)))
	for i := 0; i < c.calls && ctx.Err() == nil; {
		if c.changed.Swap(false) {
			c.list(ctx, session)
		}
		var parallel sync.WaitGroup
		for range min(1+random.IntN(3), c.calls-i, len(servers)) {
			p := c.plan(random, servers, i)
			parallel.Go(func() { c.call(ctx, session, p) })
			i++
		}
		if len(c.hostile) > 0 {
			name := c.hostile[random.IntN(len(c.hostile))]
			parallel.Go(func() { c.provoke(ctx, session, name) })
		}
		parallel.Wait()
		pause(ctx, c.think)
	}
	return nil
}

// A plan is a call to be made.
type plan struct {
	server, tool string
	in           nonce
	cancelAfter  time.Duration // 0 does not cancel
}

// plan chooses a call. Some are canceled on their way, some have a large answer,
// some ask. A process that several clients share cannot ask: it is unclear which of
// them is meant.
func (c *client) plan(random *rand.Rand, servers []string, i int) *plan {
	p := &plan{server: servers[random.IntN(len(servers))], tool: "__echo", in: nonce{Nonce: fmt.Sprint(c.prefix, i), Wait: random.IntN(30)}}
	switch n := random.IntN(20); {
	case n == 0:
		p.cancelAfter = time.Duration(1 + random.Int64N(int64(30*time.Millisecond)))
	case n == 1:
		p.in.Size = 128 << 10
	case n < 6 && p.server != shared:
		p.tool = "__ask"
	}
	return p
}

// list checks that no tool is missing: lists stay complete while servers are away.
func (c *client) list(ctx context.Context, session *mcp.ClientSession) {
	listed, err := session.ListTools(ctx, nil)
	switch {
	case ctx.Err() != nil:
		return
	case err != nil:
		c.t.fail("list of %s: %w", c.prefix, err)
		return
	}
	c.t.add("list")
	if missing := missingTools(listed.Tools); missing != nil {
		c.t.fail("the list of %s lacks %v", c.prefix, missing)
	}
}

func missingTools(listed []*mcp.Tool) (missing []string) {
	for _, server := range []string{shared, auto, own, web, steady} {
		for _, tool := range []string{"__echo", "__ask"} {
			if !slices.ContainsFunc(listed, func(t *mcp.Tool) bool { return t.Name == server+tool }) {
				missing = append(missing, server+tool)
			}
		}
	}
	return missing
}

// call makes one call.
func (c *client) call(ctx context.Context, session *mcp.ClientSession, p *plan) {
	calling, cancel := context.WithTimeout(ctx, c.patience)
	defer cancel()
	if p.cancelAfter > 0 {
		defer time.AfterFunc(p.cancelAfter, cancel).Stop()
	}
	params := &mcp.CallToolParams{Name: p.server + p.tool, Arguments: p.in}
	params.SetProgressToken(p.in.Nonce)
	result, err := session.CallTool(calling, params)
	switch {
	case errors.Is(calling.Err(), context.DeadlineExceeded) && ctx.Err() == nil:
		c.t.fail("call %s of %s has no answer after %v", p.in.Nonce, params.Name, c.patience)
	case calling.Err() != nil:
		c.t.add("canceled")
	case err != nil:
		c.t.fail("call %s of %s: %w", p.in.Nonce, params.Name, err)
	default:
		c.check(p.server, p.in.Nonce, result)
	}
}

// provoke calls the tool of a hostile server, whose answer may be anything. It cancels
// the call soon, except one with an enormous answer: the SDK's client closes its session
// when it stops reading one.
func (c *client) provoke(ctx context.Context, session *mcp.ClientSession, name string) {
	patience := c.provoked
	if strings.HasPrefix(name, "enormous") {
		patience = c.patience
	}
	calling, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	params := &mcp.CallToolParams{Name: name + "__provoke", Arguments: nonce{}}
	params.SetProgressToken(c.prefix + name)
	result, err := session.CallTool(calling, params)
	switch {
	case calling.Err() != nil:
		c.t.add("hostile call canceled")
	case err != nil || result.IsError:
		c.t.add("hostile call failed")
	default:
		c.t.add("hostile call answered")
	}
}

// Parts of errors that are the gateway's fault: a friendly server's question was
// refused, or a friendly server's process was not to be had.
const (
	refusedQuestion = "fulfilling input request"
	noProcess       = "processes for its clients, which is the limit"
)

// check checks that the result is that of the call. Only servers that are disturbed
// may fail.
func (c *client) check(server, id string, result *mcp.CallToolResult) {
	text := "nothing"
	if len(result.Content) > 0 {
		text = textOf(result.Content[0])
	}
	switch {
	case !result.IsError && text == id:
		n := c.t.add("answered")
		if c.answered != nil {
			c.answered(n)
		}
	case result.IsError && server != steady && !strings.Contains(text, refusedQuestion) && !strings.Contains(text, noProcess):
		c.t.add("server lost")
	default:
		c.t.fail("call %s of %s was answered with %.300q", id, server, text)
	}
}

// askOnce has the server with default settings ask while there is a single client.
// Otherwise its first question would be refused: nothing shows before that it asks.
func askOnce(ctx context.Context, url string, t *tally) error {
	c := &client{load: &load{url: url, t: t}, era: sessionEra, prefix: prefixOf(9998, 0)}
	session, end, err := c.connect(ctx)
	if err != nil {
		return err
	}
	defer end()
	id := c.prefix + "0"
	result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: auto + "__ask", Arguments: nonce{Nonce: id}})
	if err == nil {
		c.check(steady, id, result) // nothing is disturbed yet
	}
	return err
}

// awaitTools returns when all tools are listed.
func awaitTools(ctx context.Context, url string) error {
	for round := 0; ; round++ {
		c := &client{load: &load{url: url, t: newTally()}, era: sessionEra, prefix: prefixOf(9999, round)}
		session, end, err := c.connect(ctx)
		if err != nil {
			return err
		}
		listed, err := session.ListTools(ctx, nil)
		end()
		if err != nil || missingTools(listed.Tools) == nil {
			return err
		}
		pause(ctx, 100*time.Millisecond)
	}
}
