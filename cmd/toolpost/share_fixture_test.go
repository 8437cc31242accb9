package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/toolpost/toolpost/internal/wire"
)

// A solitary is a server over stdio that is written by hand, for one client: it asks,
// logs and changes its tools, and what it sends names no call. Its tools:
//
//	pid      returns the id of its process
//	ask      asks the client with the method and the params of its arguments, and returns the answer
//	roots    returns the roots that it knows; it asks for them when they change, and with
//	         ROOTS=1 when it starts, with "late" when it answers its first call, with "slow" the
//	         same if it knows the client, otherwise when it lists its tools
//	log      logs "in", answers, and logs "after"
//	hang     never answers
//	change   replaces the tool version_N by version_N+1; and with FEATURES in its
//	         environment the prompt prompt_N and the resource x://N, and x://shared is updated
type solitary struct {
	asked   int
	calls   map[string]json.RawMessage // of ask, by the ids of the questions
	roots   string
	client  json.RawMessage // the params of initialize
	version int
	watched map[string]bool
}

func serveSolitary() {
	s := &solitary{calls: map[string]json.RawMessage{}, roots: "none", watched: map[string]bool{}}
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		s.take(slices.Clone(in.Bytes()))
	}
}

func (s *solitary) send(format string, args ...any) {
	fmt.Printf(`{"jsonrpc":"2.0",`+format+"}\n", args...)
}

func (s *solitary) text(id json.RawMessage, text string) {
	s.send(`"id":%s,"result":{"content":[{"type":"text","text":%s}]}`, id, wire.Quote(text))
}

func (s *solitary) ask(method, params string) (id string) {
	s.asked++
	id = fmt.Sprintf(`"q%d"`, s.asked)
	s.send(`"id":%s,"method":%q,"params":%s`, id, method, params)
	return id
}

func (s *solitary) take(m json.RawMessage) {
	id, params := wire.Get(m, "id"), wire.Get(m, "params")
	switch method := wire.Unquote(wire.Get(m, "method")); method {
	case "initialize":
		s.client = params
		more := ""
		if os.Getenv("FEATURES") != "" {
			more = `,"prompts":{"listChanged":true},"resources":{"listChanged":true,"subscribe":true},"completions":{}`
		}
		s.send(`"id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true},"logging":{}%s},"serverInfo":{"name":"solitary","version":"1"}}`, id, more)
	case "notifications/initialized":
		if os.Getenv("ROOTS") == "1" {
			s.askRoots()
		}
	case "notifications/roots/list_changed":
		if os.Getenv("ROOTS") != "" {
			s.askRoots()
		}
	case "tools/list":
		if os.Getenv("ROOTS") == "slow" && wire.Unquote(wire.Get(wire.Get(s.client, "clientInfo"), "name")) != "g" {
			s.askRoots()
		}
		var tools []string
		for _, name := range []string{"pid", "ask", "roots", "log", "hang", "change", "client", fmt.Sprint("version_", s.version)} {
			tools = append(tools, fmt.Sprintf(`{"name":%q,"inputSchema":{"type":"object"}}`, name))
		}
		s.send(`"id":%s,"result":{"tools":[%s]}`, id, strings.Join(tools, ","))
	case "tools/call":
		if how := os.Getenv("ROOTS"); (how == "late" || how == "slow") && s.asked == 0 {
			s.askRoots()
		}
		s.call(id, wire.Unquote(wire.Get(params, "name")), wire.Get(params, "arguments"))
	case "":
		answer := wire.Get(m, "result")
		if answer == nil {
			answer = wire.Get(m, "error")
		}
		if call := s.calls[string(id)]; call != nil {
			s.text(call, string(answer))
		} else {
			s.roots = string(answer)
		}
		delete(s.calls, string(id))
	default:
		if id != nil {
			s.send(`"id":%s,"result":%s`, id, s.feature(method, params))
		}
	}
}

func (s *solitary) askRoots() { s.calls[s.ask("roots/list", "{}")] = nil }

// feature returns the result of a request that is not about tools.
func (s *solitary) feature(method string, params json.RawMessage) string {
	switch method {
	case "prompts/list":
		return fmt.Sprintf(`{"prompts":[{"name":"prompt_%d"}]}`, s.version)
	case "resources/list":
		return fmt.Sprintf(`{"resources":[{"uri":"x://shared","name":"shared"},{"uri":"x://%d","name":"r"}]}`, s.version)
	case "prompts/get":
		return fmt.Sprintf(`{"messages":[{"role":"user","content":{"type":"text","text":"of %d"}}]}`, os.Getpid())
	case "resources/read":
		return fmt.Sprintf(`{"contents":[{"uri":%s,"text":"of %d"}]}`, wire.Get(params, "uri"), os.Getpid())
	case "completion/complete":
		return fmt.Sprintf(`{"completion":{"values":["of %d"]}}`, os.Getpid())
	case "resources/subscribe", "resources/unsubscribe":
		s.watched[wire.Unquote(wire.Get(params, "uri"))] = method == "resources/subscribe"
	}
	return "{}"
}

func (s *solitary) call(id json.RawMessage, tool string, arguments json.RawMessage) {
	const log = `"method":"notifications/message","params":{"level":"info","data":%q}`
	switch tool {
	case "pid":
		s.text(id, fmt.Sprint(os.Getpid()))
	case "ask":
		s.calls[s.ask(wire.Unquote(wire.Get(arguments, "method")), string(wire.Get(arguments, "params")))] = id
	case "roots":
		s.text(id, s.roots)
	case "log":
		s.send(log, "in")
		s.text(id, "logged")
		s.send(log, "after")
	case "hang":
	case "change":
		s.version++
		s.send(`"method":"notifications/tools/list_changed"`)
		if os.Getenv("FEATURES") != "" {
			s.send(`"method":"notifications/prompts/list_changed"`)
			s.send(`"method":"notifications/resources/list_changed"`)
		}
		if s.watched["x://shared"] {
			s.send(`"method":"notifications/resources/updated","params":{"uri":"x://shared"}`)
		}
		s.text(id, "changed")
	case "client":
		s.text(id, string(s.client))
	case fmt.Sprint("version_", s.version):
		s.text(id, tool)
	default:
		s.send(`"id":%s,"error":{"code":-32602,"message":"unknown tool %s"}`, id, tool)
	}
}
