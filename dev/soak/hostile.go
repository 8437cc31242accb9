//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolpost/toolpost/internal/wire"
)

// Transports of hostile servers. The last two are both streamable HTTP.
const (
	overStdio     = "stdio"
	overSSE       = "sse"
	overSessions  = "sessions"
	overStateless = "stateless"
)

// foreign begins every text of a hostile server.
const foreign = "hostile"

// kinds are what hostile servers do, most of it when their tool is called.
var kinds = map[string]func(*hostile, *wire.Message, sender) error{
	"floods":    (*hostile).flood,
	"questions": (*hostile).ask,
	"enormous":  (*hostile).sendEnormous,
	"silent":    func(*hostile, *wire.Message, sender) error { return errNoAnswer },
	"mute":      func(*hostile, *wire.Message, sender) error { return errNoAnswer }, // it answers nothing at all
	"broken":    (*hostile).sendBroken,
	"changing":  (*hostile).answer, // its lists change all the time
	"closing":   (*hostile).hangUp,
	"forgetful": (*hostile).forget,
	"confused":  (*hostile).confuse,
	"deaf":      func(*hostile, *wire.Message, sender) error { return errDeaf },
}

// How a transport ends an exchange that has no answer.
var (
	errNoAnswer  = errors.New("no answer")        // the request stays open
	errHangUp    = errors.New("hang up")          // the connection is closed
	errForgotten = errors.New("session is gone")  // a session is not known any more
	errDeaf      = errors.New("reads no further") // of what the gateway sends
)

// A hostile is one hostile server.
type hostile struct {
	kind, transport string
	calls           atomic.Int64
	listed          atomic.Bool
	mu              sync.Mutex
	enormous        time.Time // when the last enormous message was sent
}

// A sender sends one message to the gateway.
type sender func(message string) error

// hostileNames returns the names of all hostile servers.
func hostileNames() (names []string) {
	for kind := range kinds {
		for _, transport := range []string{overStdio, overSSE, overSessions, overStateless} {
			if kind != "forgetful" || transport == overSSE || transport == overSessions { // others have no sessions
				names = append(names, kind+"-"+transport)
			}
		}
	}
	slices.Sort(names)
	return names
}

func newHostile(name string) *hostile {
	kind, transport, _ := strings.Cut(name, "-")
	return &hostile{kind: kind, transport: transport}
}

// receive handles a message of the gateway.
func (h *hostile) receive(m *wire.Message, send sender) error {
	switch {
	case !m.IsCall(): // a notification, or an answer, which is ignored
		return nil
	case h.kind == "mute":
		return errNoAnswer
	case m.Method == "tools/call":
		h.calls.Add(1)
		return kinds[h.kind](h, m, send)
	}
	return h.answer(m, send)
}

// answer answers a request as a good server does, except that lists may be broken or
// change.
func (h *hostile) answer(m *wire.Message, send sender) error {
	tools := `{"name":"provoke","inputSchema":{"type":"object"}}`
	result := `{"resultType":"complete"}`
	switch m.Method {
	case "server/discover":
		if h.transport != overStateless {
			return send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}`, m.ID))
		}
		result = `{"resultType":"complete","supportedVersions":["` + statelessEra + `"],"capabilities":` + hostileCapabilities + `,"serverInfo":{"name":"hostile","version":"1"}}`
	case "initialize":
		result = `{"protocolVersion":"` + sessionEra + `","capabilities":` + hostileCapabilities + `,"serverInfo":{"name":"hostile","version":"1"}}`
	case "tools/list":
		h.listed.Store(true)
		switch h.kind {
		case "broken":
			tools += "," + strings.Join(brokenEntries, ",")
		case "changing":
			tools += fmt.Sprintf(`,{"name":"t%d","description":"%d","inputSchema":{"type":"object"}}`, rand.IntN(50), rand.IntN(3))
		}
		result = `{"resultType":"complete","tools":[` + tools + `]}`
	case "prompts/list", "resources/list", "resources/templates/list":
		entries := ""
		if h.kind == "broken" {
			entries = strings.Join(brokenEntries, ",")
		}
		member := map[string]string{"prompts/list": "prompts", "resources/list": "resources", "resources/templates/list": "resourceTemplates"}[m.Method]
		result = fmt.Sprintf(`{"resultType":"complete",%q:[%s]}`, member, entries)
	case "tools/call":
		result = `{"resultType":"complete","content":[{"type":"text","text":"hostile"}]}`
	}
	return send(resultOf(string(m.ID), result))
}

const hostileCapabilities = `{"tools":{"listChanged":true},"prompts":{"listChanged":true},"resources":{"listChanged":true,"subscribe":true},"logging":{}}`

func resultOf(id, result string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, id, result)
}

// brokenEntries are entries of lists, and brokenResults the results of calls, with
// null, halves of surrogate pairs and values of wrong types.
var (
	brokenEntries = []string{
		`null`, `1`, `"x"`, `[]`, `{}`, `{"name":null}`, `{"name":{},"uri":{}}`, `{"name":"\ud800","uri":"x:\udc00","inputSchema":{"type":"object"}}`,
		`{"name":"a","uri":"x:a","uriTemplate":"x:{","description":null,"title":7,"inputSchema":null,"annotations":null,"icons":null,"_meta":null,"arguments":null}`,
		`{"name":"b","uri":"x:b","uriTemplate":"x:{b}","mimeType":[],"size":"big","inputSchema":{"type":null,"properties":{"\ud83d":{"description":"\udc00","pattern":"["}}},"outputSchema":{"$ref":"#/none"},"arguments":[null,{"name":1}]}`,
		`{"name":"c","inputSchema":[],"outputSchema":"x","annotations":[1],"execution":{"taskSupport":7}}`,
		`{"name":"provoke","inputSchema":{"type":"object"}}`,
	}
	brokenResults = []string{
		`null`, `[]`, `7`, `"x"`, `{}`, `{"content":null}`, `{"content":{}}`, `{"content":[null]}`, `{"content":[{"type":"text","text":null}]}`,
		`{"content":[{"type":"text","text":"hostile \ud800"}],"structuredContent":null,"isError":null,"_meta":null}`,
		`{"content":[{"type":"image","data":7},{"type":"resource","resource":null},{"type":"resource_link","uri":null},{"type":null},{"type":"\udc00"}]}`,
		`{"content":[],"structuredContent":[1],"isError":"yes","resultType":7}`,
	}
)

// sendBroken answers with a result that is wrong.
func (h *hostile) sendBroken(m *wire.Message, send sender) error {
	return send(resultOf(string(m.ID), brokenResults[int(h.calls.Load())%len(brokenResults)]))
}

// floodTime is how long a flood lasts, without reading, before the call is answered.
const floodTime = 3 * time.Second

// burst sends messages as fast as the gateway takes them, with a short pause after
// each hundred, so that the flood leaves the machine some time.
func burst(messages []string, arguments func(n int) []any, until time.Time, send sender) error {
	for n := 0; time.Now().Before(until); n++ {
		for _, message := range messages {
			if err := send(fmt.Sprintf(message, arguments(n)...)); err != nil {
				return err
			}
		}
		if n%20 == 0 {
			time.Sleep(20 * time.Millisecond)
		}
	}
	return nil
}

// flood sends notifications, log messages and answers to requests that do not exist.
func (h *hostile) flood(m *wire.Message, send sender) error {
	token := string(wire.Get(wire.Get(m.Params, "_meta"), "progressToken"))
	if token == "" {
		token = "1"
	}
	if err := burst(floodMessages(), func(n int) []any { return []any{n, token} }, time.Now().Add(floodTime), send); err != nil {
		return err
	}
	return h.answer(m, send)
}

func floodMessages() []string {
	return []string{
		`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%[2]s,"progress":%[1]d,"message":"hostile"}}`,
		`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","data":"hostile %[1]d"}}`,
		`{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"x":%[1]d}}`,
		`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"x:%[1]d"}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%[1]d}}`,
		`{"jsonrpc":"2.0","method":"notifications/hostile/x","params":{"x":%[1]d}}`,
		`{"jsonrpc":"2.0","id":1%[1]d00000,"result":{}}`,
		`{"jsonrpc":"2.0","id":null,"error":{"code":%[1]d,"message":"hostile"}}`,
		`not JSON %[1]d`,
	}
}

// ask sends questions and reads no answers. Without sessions, questions are results.
func (h *hostile) ask(m *wire.Message, send sender) error {
	if h.transport == overStateless {
		all := make([]string, 100)
		for i := range all {
			all[i] = fmt.Sprintf(`"%d":{"method":"roots/list"},"e%[1]d":{"method":"elicitation/create","params":{"mode":"form","message":"hostile","requestedSchema":{"type":"object","properties":{}}}}`, i)
		}
		return send(resultOf(string(m.ID), `{"resultType":"input_required","requestState":"x","inputRequests":{`+strings.Join(all, ",")+`}}`))
	}
	if err := burst(questionMessages(), func(n int) []any { return []any{n} }, time.Now().Add(floodTime), send); err != nil {
		return err
	}
	return h.answer(m, send)
}

func questionMessages() []string {
	return []string{
		`{"jsonrpc":"2.0","id":"e%d","method":"elicitation/create","params":{"message":"hostile","requestedSchema":{"type":"object","properties":{}}}}`,
		`{"jsonrpc":"2.0","id":"s%d","method":"sampling/createMessage","params":{"messages":[{"role":"user","content":{"type":"text","text":"hostile"}}],"maxTokens":1}}`,
		`{"jsonrpc":"2.0","id":"r%d","method":"roots/list"}`,
		`{"jsonrpc":"2.0","id":"p%d","method":"ping"}`,
		`{"jsonrpc":"2.0","id":"u%d","method":"unknown"}`,
	}
}

// Sizes of enormous messages: one that the gateway takes, and one that it must refuse.
const (
	largeSize    = 24 << 20
	enormousSize = 72 << 20
)

// enormousPause is the time between enormous messages of one server.
const enormousPause = 10 * time.Second

// sendEnormous answers with a large result, a notification that is longer than any
// message may be, or a message that is.
func (h *hostile) sendEnormous(m *wire.Message, send sender) error {
	h.mu.Lock()
	late := time.Since(h.enormous) > enormousPause
	if late {
		h.enormous = time.Now()
	}
	h.mu.Unlock()
	switch n := rand.IntN(3); {
	case !late:
	case n == 0:
		return send(resultOf(string(m.ID), `{"resultType":"complete","content":[{"type":"text","text":"`+strings.Repeat("x", largeSize)+`"}]}`))
	case n == 1:
		if err := send(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","data":"` + strings.Repeat("x", enormousSize) + `"}}`); err != nil {
			return err
		}
	default:
		return send(resultOf(string(m.ID), `{"resultType":"complete","content":[{"type":"image","mimeType":"x/y","data":"`+strings.Repeat("x", enormousSize)+`"}]}`))
	}
	return h.answer(m, send)
}

// hangUp ends the connection after a part of the answer, after the answer, or without
// one.
func (h *hostile) hangUp(m *wire.Message, send sender) error {
	part := rand.IntN(4)
	if part == 0 {
		return h.answer(m, send)
	}
	if err := h.answer(m, func(message string) error { return send(message[:len(message)*(part-1)/2]) }); err != nil {
		return err
	}
	return errHangUp
}

// forget forgets each third call's session.
func (h *hostile) forget(m *wire.Message, send sender) error {
	if h.calls.Load()%3 == 0 {
		return errForgotten
	}
	return h.answer(m, send)
}

// confuse sends answers with ids that are wrong, or used, before or instead of the
// right one.
func (h *hostile) confuse(m *wire.Message, send sender) error {
	result := `{"resultType":"complete","content":[{"type":"text","text":"hostile"}]}`
	for _, id := range []string{string(m.ID) + "0", `"` + string(m.ID) + `"`, "null", "-1", "1", "1e400", "[]", `{"x":1}`} {
		if err := send(resultOf(id, result)); err != nil {
			return err
		}
	}
	if h.calls.Load()%2 == 0 {
		return errNoAnswer
	}
	for range 2 {
		if err := send(resultOf(string(m.ID), result)); err != nil {
			return err
		}
	}
	return send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s,"error":{"code":1,"message":"hostile"}}`, m.ID, result))
}

// pester sends what a server sends outside of calls, until ctx ends.
func (h *hostile) pester(ctx context.Context, send sender) {
	messages := []string{`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`, `{"jsonrpc":"2.0","method":"notifications/prompts/list_changed"}`, `{"jsonrpc":"2.0","method":"notifications/resources/list_changed"}`}
	every := 20 * time.Millisecond
	switch h.kind {
	case "changing":
	case "floods":
		messages, every = nil, 100*time.Millisecond
		for _, message := range floodMessages() {
			messages = append(messages, strings.Repeat(fmt.Sprintf(message, 1, "1")+"\n", 10))
		}
	default:
		return
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		for _, message := range messages {
			for line := range strings.Lines(message) {
				if send(strings.TrimSuffix(line, "\n")) != nil {
					return
				}
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
