package claude_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/toolpost/toolpost/claude/internal/stdio"
)

// A recording is what the CLI 2.1.329 and a host wrote to each other once.
type recording struct {
	name    string
	args    []string
	env     []string
	entries []entry
}

// An entry is a line that was written, or a note on what happened.
type entry struct {
	dir  string // stdin, stdout or note
	text string // if it is no JSON: "<EOF>", or the note
	line line
}

const recordings = "testdata/recordings"

func load(name string) (*recording, error) {
	r := &recording{name: name}
	var command struct{ Args, Env []string }
	data, err := os.ReadFile(filepath.Join(recordings, name, "command.json"))
	if err == nil {
		err = json.Unmarshal(data, &command)
	}
	if err != nil {
		return nil, err
	}
	r.args, r.env = command.Args, command.Env
	entries, err := stdio.Read(os.DirFS(recordings), name+"/stdio.jsonl")
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		in := entry{dir: e.Dir}
		if json.Unmarshal(e.Line, &in.text) != nil {
			if err := json.Unmarshal(e.Line, &in.line); err != nil {
				return nil, err
			}
		}
		r.entries = append(r.entries, in)
	}
	return r, nil
}

// flag is the value of a flag, in either of the forms that the CLI takes; of a
// flag that is repeated, all of them.
func flag(args []string, name string) (value string, ok bool) {
	var values []string
	for i, a := range args {
		if a == name && i+1 < len(args) && !strings.HasPrefix(args[i+1], "--") {
			values = append(values, args[i+1])
		} else if v, is := strings.CutPrefix(a, name+"="); is {
			values = append(values, v)
		} else if a == name {
			ok = true
		}
	}
	return strings.Join(values, ","), ok || values != nil
}

// prompts are the texts that the host sent.
func (r *recording) prompts() []string {
	var all []string
	for _, e := range r.entries {
		if e.dir == "stdin" && isUser(e.line) {
			all = append(all, promptText(e.line))
		}
	}
	return all
}

func promptText(l line) string {
	if text := l.text("message", "content"); text != "" {
		return text
	}
	blocks, _ := l.at("message", "content").([]any)
	var text string
	for _, b := range blocks {
		text += line(b.(object)).text("text")
	}
	return text
}

// first is the host's first request, nil if it made none.
func (r *recording) first() line {
	for _, e := range r.entries {
		if e.dir == "stdin" && isRequest("initialize")(e.line) {
			return e.line
		}
	}
	return nil
}

// asked are the CLI's requests of a subtype; for mcp_message, those of a method.
func (r *recording) asked(subtype, method string) []line {
	var all []line
	for _, e := range r.entries {
		if e.dir == "stdout" && isRequest(subtype)(e.line) && e.line.text("request", "message", "method") == method {
			all = append(all, e.line)
		}
	}
	return all
}

// answered is the host's answer to a request.
func (r *recording) answered(id string) line {
	for _, e := range r.entries {
		if e.dir == "stdin" && isAnswer(id)(e.line) {
			return e.line
		}
	}
	return nil
}

// servers are the tools that the host served, by server, as it listed them.
func (r *recording) servers() map[string][]line {
	all := map[string][]line{}
	if m, _ := r.first().at("request", "sdkMcpServerManifests").(object); m != nil {
		for server, manifest := range m {
			all[server] = linesOf(at(manifest, "toolsListResult", "tools"))
		}
	}
	for _, q := range r.asked("mcp_message", "tools/list") {
		a := r.answered(q.text("request_id"))
		all[q.text("request", "server_name")] = linesOf(a.at("response", "response", "mcp_response", "result", "tools"))
	}
	return all
}

func linesOf(v any) []line {
	list, _ := v.([]any)
	all := make([]line, len(list))
	for i, o := range list {
		all[i] = o.(object)
	}
	return all
}

// messages are the lines of the CLI that are no part of the control protocol.
func (r *recording) messages() []line {
	var all []line
	for _, e := range r.entries {
		if e.dir == "stdout" && !strings.HasPrefix(e.line.text("type"), "control_") {
			all = append(all, e.line)
		}
	}
	return all
}

// result is the last one, nil if there is none.
func (r *recording) result() line {
	var last line
	for _, m := range r.messages() {
		if m.text("type") == "result" {
			last = m
		}
	}
	return last
}

// exit is the CLI's exit code.
func (r *recording) exit() int {
	for _, e := range r.entries {
		if status, ok := strings.CutPrefix(e.text, "process: exit "); ok && e.dir == "note" {
			code, err := strconv.Atoi(strings.TrimPrefix(status, "status "))
			if err != nil {
				complain("the recording has %q", e.text)
			}
			return code
		}
	}
	return 0
}

// A player plays a recording.
type player struct {
	*fake
	*recording
	ids      map[string]string // of the host's requests: recorded, now
	uuids    map[string]string // of prompts: recorded, now
	first    line              // the host's first request now
	requests map[string]line   // of the CLI, by id
	gone     map[string]bool   // requests whose answers nobody waits for
	skipped  map[any]bool      // what the host does not ask for now: ids of requests, and of messages in them
	wrapped  bool              // the structured output, now
}

// The host may end the input before the recording does if this is set.
const earlyVariable = "TOOLPOST_FAKE_EARLY"

// replay plays a recording to its end: it writes the CLI's lines in order, and
// at each line of the host waits for the one that does the same now.
func (f *fake) replay(name string) {
	r, err := load(name)
	if err != nil {
		complain("load the recording: %v", err)
	}
	p := &player{fake: f, recording: r, ids: map[string]string{}, uuids: map[string]string{}, requests: map[string]line{}, gone: map[string]bool{}, skipped: map[any]bool{}}
	p.start()
	for _, e := range r.entries {
		switch {
		case e.text == "SIGTERM sent":
			os.Exit(143) // as the CLI does on it
		case e.dir == "stdout":
			p.say(e.line)
		case e.dir == "stdin" && e.text == "":
			p.hear(e.line)
		}
	}
	if len(r.messages()) == 0 { // it did not get to read the protocol
		os.Stderr.WriteString("Error: not in the recording\n")
		os.Exit(r.exit())
	}
	p.take("the end of the input", func(line) bool { return false })
	for _, l := range p.queue {
		logs := l.text("request", "message", "method") == "notifications/message"
		if !p.gone[l.text("response", "request_id")] && !isRequest("interrupt")(l) && !logs {
			complain("the host wrote more than it had to: %.500s", encode(l))
		}
	}
	os.Exit(r.exit())
}

// start checks how the CLI was started.
func (p *player) start() {
	given := os.Args[1:]
	for _, name := range []string{"--input-format", "--output-format"} {
		if v, _ := flag(given, name); v != "stream-json" {
			complain("%s is %q", name, v)
		}
	}
	for _, name := range []string{"CLAUDECODE", "NODE_OPTIONS"} {
		if v, ok := os.LookupEnv(name); ok {
			complain("the environment has %s=%s", name, v)
		}
	}
	if os.Getenv("CLAUDE_CODE_SDK_READS_SESSION_STATE") != "1" || os.Getenv("CLAUDE_CODE_ENTRYPOINT") == "" {
		complain("the environment does not say what the host is: %q", os.Environ())
	}
	for _, name := range []string{
		"--verbose", "--model", "--max-turns", "--include-partial-messages", "--permission-prompt-tool",
		"--permission-prompts", "--replay-user-messages", "--strict-mcp-config", "--include-hook-events",
		"--tools", "--setting-sources", "--no-such-flag",
	} {
		want, ok := flag(p.args, name)
		if got, has := flag(given, name); ok && (!has || got != want) {
			complain("%s is %q, not %q: %q", name, got, want, given)
		}
	}
	for _, name := range []string{"--allowedTools", "--disallowedTools"} {
		want, _ := flag(p.args, name)
		got, _ := flag(given, name)
		for tool := range strings.SplitSeq(want, ",") {
			if !strings.Contains(got, tool) {
				complain("%s is %q, without %q", name, got, tool)
			}
		}
	}
	// The SDK always introduces itself.
	if p.recording.first() == nil && len(p.messages()) > 0 {
		p.initialize()
	}
}

// skips reports whether a line belongs to what an MCP server asked the CLI, or
// logged. Both are the server's business: the CLI takes logs without asking for
// them, and refuses all requests but a ping.
func (p *player) skips(l line) bool {
	id, method := l.at("request", "message", "id"), l.text("request", "message", "method")
	switch {
	case method == "notifications/message", method != "" && id != nil:
		p.skipped[l.text("request_id")] = true
		p.skipped[id] = id != nil
		return true
	case id != nil && p.skipped[id]:
		p.skipped[l.text("request_id")] = true
		return true
	}
	return p.skipped[l.text("response", "request_id")]
}

// say writes a line of the CLI.
func (p *player) say(l line) {
	if l.text("request", "message", "method") == "" && p.skips(l) {
		return
	}
	switch l.text("type") {
	case "control_response":
		response := l["response"].(object)
		response["request_id"] = p.ids[l.text("response", "request_id")]
	case "control_cancel_request":
		p.gone[l.text("request_id")] = true
	case "control_request":
		p.requests[l.text("request_id")] = l
		p.ask(l)
	}
	for _, name := range []string{"command_uuid", "user_message_uuid"} {
		if now := p.uuids[l.text(name)]; now != "" {
			l[name] = now
		}
	}
	if answered, ok := l["user_message_uuids"].([]any); ok {
		for i, uuid := range answered {
			answered[i] = p.uuids[uuid.(string)]
		}
	}
	if p.wrapped {
		wrap(l)
	}
	p.write(l)
}

// ask prepares a request of the CLI.
func (p *player) ask(l line) {
	switch l.text("request", "subtype") {
	case "hook_callback":
		event := l.text("request", "input", "hook_event_name")
		hooks := linesOf(p.first.at("request", "hooks", event))
		if len(hooks) == 0 {
			complain("the host has no hook for %s: %s", event, encode(p.first))
		}
		ids, _ := hooks[0]["hookCallbackIds"].([]any)
		if len(ids) != 1 {
			complain("the hook of %s has the ids %v", event, ids)
		}
		l["request"].(object)["callback_id"] = ids[0]
	case "mcp_message":
		if l.text("request", "message", "method") != "notifications/cancelled" {
			return
		}
		// The call was running when it was cancelled; the tool says that it is.
		began := p.request("mcp_message")
		p.write(success(began.text("request_id"), nil))
		for id, q := range p.requests { // the host may leave that call unanswered
			if v := q.at("request", "message", "id"); v != nil && v == l.at("request", "message", "params", "requestId") {
				p.gone[id] = true
			}
		}
	}
}

// hear waits for what the host wrote.
func (p *player) hear(l line) {
	if p.skips(l) {
		return
	}
	var now line
	switch l.text("type") {
	case "user":
		now = p.take("the prompt "+promptText(l), isUser)
		if now != nil && promptText(now) != promptText(l) {
			complain("the prompt is %s, not %s", encode(now), encode(l))
		}
		if now != nil && l["client_composed"] != nil && now["client_composed"] != l["client_composed"] {
			complain("the prompt is not marked as verbatim: %s", encode(now))
		}
		if uuid := l.text("uuid"); uuid != "" {
			p.uuids[uuid] = now.text("uuid")
		}
	case "control_request":
		subtype := l.text("request", "subtype")
		now = p.take("the request "+subtype, isRequest(subtype))
		p.ids[l.text("request_id")] = now.text("request_id")
		if now != nil {
			p.checkRequest(l, now)
		}
	case "control_response":
		id := l.text("response", "request_id")
		if p.gone[id] {
			return
		}
		now = p.take("the answer to "+encode(p.requests[id]), isAnswer(id))
		if now != nil {
			p.checkAnswer(p.requests[id], l, now)
		}
	}
	if now != nil {
		return
	}
	if os.Getenv(earlyVariable) == "" {
		complain("the input ended before %.500s", encode(l))
	}
	os.Exit(0)
}

func (p *player) checkRequest(was, now line) {
	request := func(l line, path ...string) any { return l.at(append([]string{"request"}, path...)...) }
	if was.text("request", "subtype") != "initialize" {
		for name, v := range request(was).(object) {
			if !reflect.DeepEqual(request(now, name), v) {
				complain("%s of the request is %s, not %s", name, encode(now), encode(was))
			}
		}
		return
	}
	p.first = now
	if want, ok := flag(p.args, "--system-prompt"); ok && !reflect.DeepEqual(request(now, "systemPrompt"), []any{want}) {
		complain("the system prompt is not %q in %.2000s", want, encode(now))
	}
	if want := request(was, "systemPrompt"); want != nil && !reflect.DeepEqual(request(now, "systemPrompt"), want) {
		complain("the system prompt is not %q in %.2000s", want, encode(now))
	}
	p.checkServers(request(now, "mcpServers"))
	servers, _ := request(now, "sdkMcpServers").([]any)
	for server := range p.servers() {
		if !slices.Contains(servers, any(server)) {
			complain("the server %s is not announced: %.2000s", server, encode(now))
		}
		p.checkTools(server, request(now, "sdkMcpServerManifests", server, "toolsListResult", "tools"))
	}
	events, _ := request(was, "hooks").(object)
	for event, hooks := range events {
		if event == "SessionStart" || event == "SessionEnd" {
			continue // the CLI never calls them, and the SDK says so
		}
		for _, name := range []string{"matcher", "timeout"} {
			if want, got := linesOf(hooks)[0][name], request(now, "hooks", event); len(linesOf(got)) != 1 || linesOf(got)[0][name] != want {
				complain("%s of the hook for %s is not %v in %s", name, event, want, encode(got))
			}
		}
	}
	p.checkSchema(was, now)
}

// checkServers compares the servers that the CLI starts.
func (p *player) checkServers(now any) {
	var config struct{ McpServers map[string]object }
	text, _ := flag(p.args, "--mcp-config")
	_ = json.Unmarshal([]byte(text), &config) // nil if there is none
	for name, server := range config.McpServers {
		if server["type"] != "sdk" && !reflect.DeepEqual(at(now, name), any(server)) {
			complain("the server %s is %s, not %s", name, encode(at(now, name)), encode(server))
		}
	}
}

// checkSchema compares the schemas of the structured output. One whose root is
// no plain object may be wrapped now; then the model's values are, too.
func (p *player) checkSchema(was, now line) {
	want, got := p.schema(), now.at("request", "jsonSchema")
	if got == nil {
		text, _ := flag(os.Args[1:], "--json-schema")
		_ = json.Unmarshal([]byte(text), &got) // nil if there is none
	}
	p.wrapped = at(got, "properties", "value") != nil && at(want, "properties") == nil
	for _, name := range []string{"type", "properties", "required"} {
		if !p.wrapped && at(want, "properties") != nil && !reflect.DeepEqual(at(want, name), at(got, name)) {
			complain("the output's schema is %s, not %s", encode(got), encode(want))
		}
	}
}

// schema is that of the structured output, nil if there was none.
func (r *recording) schema() (s any) {
	if s := r.first().at("request", "jsonSchema"); s != nil {
		return s
	}
	text, _ := flag(r.args, "--json-schema")
	_ = json.Unmarshal([]byte(text), &s) // nil if there is none
	return s
}

// wrap puts the values of a line into the object that the schema asks for now.
func wrap(l line) {
	for _, block := range linesOf(l.at("message", "content")) {
		if block.text("name") == "StructuredOutput" {
			block["input"] = object{"value": block["input"]}
		}
	}
	if v := l["structured_output"]; v != nil {
		v = object{"value": v}
		l["structured_output"], l["result"] = v, encode(v)
	}
}

// checkTools compares tools with those that the CLI took; what it would drop
// must not be offered.
func (p *player) checkTools(server string, v any) {
	tools := linesOf(v)
	if len(tools) == 0 {
		complain("the server %s lists no tools: %v", server, v)
	}
	was := p.servers()[server]
	for _, t := range tools {
		if t.at("inputSchema", "type") != "object" || t.text("name") == "" {
			complain("the CLI would drop all tools because of %s", encode(t))
		}
		if !slices.ContainsFunc(was, func(w line) bool { return w.text("name") == t.text("name") }) {
			complain("the tool %s is not in the recording", encode(t))
		}
	}
}

// checkAnswer compares the host's answer with what the CLI needs.
func (p *player) checkAnswer(asked, was, now line) {
	body := func(l line) line {
		o, _ := l.at("response", "response").(object)
		return o
	}
	kind := asked.text("request", "subtype")
	if now.text("response", "subtype") == "error" {
		if kind != "can_use_tool" || was.text("response", "subtype") != "error" {
			complain("the answer to %s is the error %s", encode(asked), encode(now))
		}
		return
	}
	switch kind {
	case "can_use_tool":
		wanted, denied := body(was), "deny"
		if wanted == nil {
			wanted = line{"behavior": denied} // an error is as good as a denial
		}
		for name, v := range wanted {
			if !reflect.DeepEqual(body(now)[name], v) {
				complain("the permission is %s, not %s", encode(now), encode(was))
			}
		}
	case "hook_callback":
		for name, v := range body(was) {
			if !reflect.DeepEqual(body(now)[name], v) {
				complain("the hook's answer is %s, not %s", encode(now), encode(was))
			}
		}
	case "mcp_message":
		p.checkMCP(asked, line{"is": body(was)["mcp_response"]}, line{"is": body(now)["mcp_response"]})
	}
}

func (p *player) checkMCP(asked, was, now line) {
	method := asked.text("request", "message", "method")
	if now.text("is", "jsonrpc") != "2.0" {
		complain("the answer to %s is no JSON-RPC: %s", encode(asked), encode(now))
	}
	if id := asked.at("request", "message", "id"); id != nil && method != "" && now.at("is", "id") != id {
		complain("the answer to %s has another id: %s", encode(asked), encode(now))
	}
	switch method {
	case "initialize":
		if v := now.text("is", "result", "protocolVersion"); v != "2025-11-25" {
			complain("the protocol version is %q", v)
		}
		if now.text("is", "result", "serverInfo", "name") == "" || now.at("is", "result", "capabilities", "tools") == nil {
			complain("the answer to initialize is %s", encode(now))
		}
	case "tools/list":
		p.checkTools(asked.text("request", "server_name"), now.at("is", "result", "tools"))
	case "tools/call":
		checkResult(was, now)
	case "resources/list", "resources/read":
		for _, name := range []string{"resources", "contents"} {
			if want := was.at("is", "result", name); want != nil && !reflect.DeepEqual(now.at("is", "result", name), want) {
				complain("the answer to %s is %s, not %s", method, encode(now), encode(was))
			}
		}
	}
}

// checkResult compares what the model gets to see of a call.
func checkResult(was, now line) {
	text := func(l line) (all string) {
		if m := l.text("is", "error", "message"); m != "" {
			return m
		}
		for _, part := range linesOf(l.at("is", "result", "content")) {
			if part.text("type") == "image" {
				all += "(" + part.text("mimeType") + " " + part.text("data") + ")"
			}
			all += part.text("text")
		}
		return all
	}
	failed := func(l line) bool { return l.at("is", "error") != nil || l.at("is", "result", "isError") == true }
	if failed(was) != failed(now) || text(was) != text(now) {
		complain("the result is %.2000s, not %.2000s", encode(now), encode(was))
	}
	if now.at("is", "result", "structuredContent") != nil && text(now) != "" && !failed(now) {
		complain("the model would see the structured content in place of the text: %s", encode(now))
	}
}
