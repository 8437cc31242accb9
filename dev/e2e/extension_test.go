package e2e_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/gateway"
	"github.com/toolpost/toolpost/internal/wire"
	"github.com/toolpost/toolpost/mcpserver"
)

// serveExtended, in the environment, makes the test binary a server with
// extensions on stdio.
const serveExtended = "TOOLPOST_E2E_EXTENDED"

const (
	extendedCapabilities = `"experimental":{ "acme/odd" : {"n":1.0} },"extensions":{"io.modelcontextprotocol/skills":{"directoryRead":true},"com.example/echo":{"z":1,"a":[ ]}},"tasks":{"list":{}, "cancel":{}},"futures":true`
	skill                = `{"uri":"skill://pdf/SKILL.md", "frontmatter":{"name":"pdf","n":1.0},"resources":[{"uri":"skill://pdf/SKILL.md","digest":"sha256:00","size":1e2}]}`
)

// An extended is a server of both eras with extensions.
type extended struct {
	results []string

	mu      sync.Mutex
	heard   []string
	hears   chan struct{} // closed when it hears something
	answers map[string]chan string
	n       int
	outside chan string // what it says outside of calls
}

func newExtended() *extended {
	results, _ := oddResults()
	return &extended{results: results, hears: make(chan struct{}), answers: map[string]chan string{}, outside: make(chan string, 100)}
}

// take answers a message. What it sends before the answer goes to send.
func (s *extended) take(m *wire.Message, send func(string)) (result string) {
	params := string(m.Params)
	switch {
	case m.Method == "":
		s.mu.Lock()
		if c := s.answers[string(m.ID)]; c != nil {
			c <- string(m.Result) + string(m.Err)
		}
		s.mu.Unlock()
		return ""
	case m.Method == "notifications/echo/say":
		s.outside <- string(wire.Get(m.Params, "message"))
		return ""
	case m.ID == nil:
		s.mu.Lock()
		defer s.mu.Unlock()
		if strings.Contains(m.Method, "echo") {
			s.heard = append(s.heard, m.Method+params)
			close(s.hears)
			s.hears = make(chan struct{})
		}
		return ""
	}
	switch m.Method {
	case "initialize":
		return `{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"resources":{},` + extendedCapabilities + `},"serverInfo":{"name":"extended","version":"1"}}`
	case "server/discover":
		return `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{},"resources":{},` + extendedCapabilities + `},"ttlMs":0,"cacheScope":"private","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"extended","version":"1"}}}`
	case "tools/list":
		return `{"resultType":"complete","tools":[{"name":"job","inputSchema":{"type":"object"},"_meta":{"ui":{ "resourceUri":"ui://job/view","visibility":["model"] }}}]}`
	case "resources/list":
		return `{"resources":[{"uri":"ui://job/view","name":"view","mimeType":"text/html;profile=mcp-app","_meta":{"ui":{"csp":{ }}}}]}`
	case "resources/templates/list":
		return `{"resourceTemplates":[]}`
	case "resources/read":
		return `{"contents":[{"uri":` + string(wire.Quote(m.URI)) + `,"mimeType":"text/html;profile=mcp-app","text":"<b>","_meta":{"ui":{"prefersBorder" : true}}}]}`
	case "tools/call":
		s.mu.Lock()
		defer s.mu.Unlock()
		s.n++
		if m.Version >= wire.Stateless {
			return fmt.Sprintf(`{"resultType":"task","taskId":"%d","status":"working","ttlMs":1e3}`, s.n)
		}
		return fmt.Sprintf(`{"task":{"taskId":"%d","status":"working" ,"ttl":1e3}}`, s.n)
	case "tasks/list":
		return `{"tasks":[{"taskId":"1", "n":1.0},{"taskId":"2"},{"taskId":"3"}]}`
	case "tasks/get", "tasks/result", "tasks/cancel", "tasks/update":
		return `{"of":` + params + `, "x":1.0}`
	case "skills/list":
		return `{"skills":[` + skill + `],"ttlMs":5, "cacheScope":"public"}`
	case "skills/get":
		return `{"skill": ` + skill + `}`
	case "echo/params":
		return `{"params":` + params + `}`
	case "echo/notify":
		send(`{"jsonrpc":"2.0","method":"notifications/echo/said","params":{ "n":1.0}}`)
		return `{"ok":1}`
	case "echo/heard":
		s.mu.Lock()
		for len(s.heard) < 2 {
			hears := s.hears
			s.mu.Unlock()
			<-hears
			s.mu.Lock()
		}
		defer s.mu.Unlock()
		return `{"heard":` + string(wire.Quote(strings.Join(s.heard, "\n"))) + `}`
	case "echo/ask", "other/ask":
		c := make(chan string, 1)
		s.mu.Lock()
		id := fmt.Sprintf(`"ask %s"`, m.ID)
		s.answers[id] = c
		s.mu.Unlock()
		method := strings.Replace(m.Method, "ask", "question", 1)
		send(`{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `","params":{ "q":1.0}}`)
		return `{"answer":` + string(wire.Quote(<-c)) + `}`
	}
	n := 0
	if _, err := fmt.Sscanf(m.Method, "futures/n%d", &n); err == nil {
		return s.results[n]
	}
	return ""
}

func response(m *wire.Message, result string) []byte {
	if result == "" {
		return wire.AppendError(nil, m.ID, wire.Errorf(wire.CodeMethodNotFound, "no %s", m.Method))
	}
	return wire.AppendResult(nil, m.ID, []byte(result))
}

// ServeHTTP answers with events, so that something can come before the answer.
func (s *extended) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	found := wire.Read(body)
	event := func(message string) {
		fmt.Fprintf(w, "data: %s\n\n", bytes.ReplaceAll([]byte(strings.ReplaceAll(message, "\r", " ")), []byte("\n"), []byte("\ndata: ")))
		w.(http.Flusher).Flush()
	}
	if len(found) != 1 || r.Method != http.MethodPost {
		w.Header().Set("Content-Type", "text/event-stream")
		w.(http.Flusher).Flush()
		for {
			select {
			case message := <-s.outside:
				event(message)
			case <-r.Context().Done():
				return
			}
		}
	}
	m := &found[0]
	if m.Method == "initialize" {
		w.Header().Set("Mcp-Session-Id", "s")
	}
	if !m.IsCall() {
		s.take(m, nil)
		w.WriteHeader(http.StatusAccepted)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	event(string(response(m, s.take(m, event))))
}

// stdio serves until in ends.
func (s *extended) stdio(in io.Reader, out io.Writer) {
	var mu sync.Mutex
	write := func(message []byte) {
		mu.Lock()
		defer mu.Unlock()
		_, _ = out.Write(wire.Line(message))
	}
	done := make(chan struct{})
	defer close(done)
	go func() {
		for {
			select {
			case message := <-s.outside:
				write([]byte(message))
			case <-done:
				return
			}
		}
	}()
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		for _, m := range wire.Read(bytes.Clone(lines.Bytes())) {
			if !m.IsCall() {
				s.take(&m, nil)
				continue
			}
			go func() { write(response(&m, s.take(&m, func(message string) { write([]byte(message)) }))) }()
		}
	}
}

// entry returns the configuration of a server over a transport.
func extendedEntry(t *testing.T, transport, version string) string {
	if transport == "stdio" {
		exe, err := os.Executable()
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf(`{"command":%q,"env":{%q:"1","GORACE":"atexit_sleep_ms=0"},"protocolVersion":%q`, exe, serveExtended, version)
	}
	h := httptest.NewServer(newExtended())
	t.Cleanup(h.Close)
	return fmt.Sprintf(`{"url":%q,"protocolVersion":%q`, h.URL, version)
}

// openGateway serves a gateway with the configuration file.
func openGateway(t *testing.T, file string) *mcpserver.Server {
	t.Helper()
	cfg, err := config.Parse("toolpost.json", []byte(file), nil)
	if err != nil {
		t.Fatal(err)
	}
	g, err := gateway.Start(t.Context(), cfg, &gateway.Options{Dialect: "none"})
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	s, err := mcpserver.New(t.Context(), g, &mcpserver.Options{Views: g.Views()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.Close()
		g.Close()
	})
	return s
}

// A peer is a client that speaks raw JSON.
type peer struct {
	t       *testing.T
	version string
	name    string
	// do sends a message, and returns what comes until its response.
	do     func(message string, call bool, answer func(*wire.Message) string) []wire.Message
	server string // the result of the handshake
	n      int
}

func dial(t *testing.T, s *mcpserver.Server, transport, version, name string) *peer {
	c := &peer{t: t, version: version, name: name}
	if transport == "stdio" {
		c.do = overStdio(t, s)
	} else {
		c.do = c.overHTTP(s)
	}
	if version == wire.Stateless {
		c.server = c.result("server/discover", "{}")
	} else {
		c.server = c.result("initialize", `{"protocolVersion":"`+version+`","capabilities":{"extensions":{"com.example/echo":{}}},"clientInfo":{"name":"`+name+`","version":"1"}}`)
		c.notify("notifications/initialized", "{}")
	}
	return c
}

func overStdio(t *testing.T, s *mcpserver.Server) func(string, bool, func(*wire.Message) string) []wire.Message {
	in, client := io.Pipe()
	server, out := io.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = s.ServeStdio(t.Context(), in, out)
	}()
	t.Cleanup(func() { client.Close(); go io.Copy(io.Discard, server); <-done })
	lines := bufio.NewReader(server)
	return func(message string, call bool, answer func(*wire.Message) string) (found []wire.Message) {
		io.WriteString(client, message+"\n")
		for call {
			line, err := lines.ReadBytes('\n')
			if err != nil {
				t.Fatal(err)
			}
			m := wire.Read(line)[0]
			found = append(found, m)
			if m.Method == "" {
				break
			}
			if m.ID != nil {
				io.WriteString(client, answer(&m)+"\n")
			}
		}
		return found
	}
}

func (c *peer) overHTTP(s *mcpserver.Server) func(string, bool, func(*wire.Message) string) []wire.Message {
	h := httptest.NewServer(s)
	c.t.Cleanup(h.Close)
	session := ""
	post := func(message string) *http.Response {
		r, err := http.NewRequestWithContext(c.t.Context(), http.MethodPost, h.URL+"/mcp", strings.NewReader(message))
		if err != nil {
			c.t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		m := wire.Read([]byte(message))[0]
		if m.Method != "initialize" {
			r.Header.Set("Mcp-Protocol-Version", c.version)
		}
		if c.version == wire.Stateless {
			r.Header.Set("Mcp-Method", m.Method)
			if name := m.Name + m.URI; m.Named() && name != "" {
				r.Header.Set("Mcp-Name", name)
			}
		} else if session != "" {
			r.Header.Set("Mcp-Session-Id", session)
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			c.t.Fatal(err)
		}
		if id := resp.Header.Get("Mcp-Session-Id"); id != "" {
			session = id
		}
		return resp
	}
	return func(message string, call bool, answer func(*wire.Message) string) (found []wire.Message) {
		resp := post(message)
		defer resp.Body.Close()
		if !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
			body, _ := io.ReadAll(resp.Body)
			return wire.Read(body)
		}
		lines, data := bufio.NewReader(resp.Body), []string(nil)
		for {
			line, err := lines.ReadString('\n')
			text, isData := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "data: ")
			switch {
			case err != nil:
				return found
			case isData:
				data = append(data, text)
			case line == "\n" && data != nil:
				m := wire.Read([]byte(strings.Join(data, "\n")))[0]
				data, found = nil, append(found, m)
				if m.Method != "" && m.ID != nil {
					post(answer(&m)).Body.Close()
				}
			}
		}
	}
}

func (c *peer) params(params string) string {
	if c.version == wire.Stateless {
		meta := `"_meta":{"` + wire.MetaVersion + `":"` + c.version + `","` + wire.MetaClientInfo + `":{"name":"` + c.name + `","version":"1"},"` + wire.MetaCapabilities + `":{}}`
		return string(wire.Append([]byte(params), meta))
	}
	return params
}

func (c *peer) notify(method, params string) {
	c.do(`{"jsonrpc":"2.0","method":"`+method+`","params":`+c.params(params)+`}`, false, nil)
}

// call returns the messages before the response, and the response.
func (c *peer) call(method, params string) (before []wire.Message, response wire.Message) {
	c.t.Helper()
	c.n++
	all := c.do(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%s,"params":%s}`, c.n, wire.Quote(method), c.params(params)), true, func(m *wire.Message) string {
		return `{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":{"to":` + string(wire.Quote(m.Method+string(m.Params))) + `, "n":1.0}}`
	})
	if len(all) == 0 {
		c.t.Fatalf("%s: no response", method)
	}
	return all[:len(all)-1], all[len(all)-1]
}

func (c *peer) result(method, params string) string {
	c.t.Helper()
	_, m := c.call(method, params)
	if m.Err != nil {
		return string(m.Err)
	}
	return string(m.Result)
}

// want returns a result as a client of the version gets it.
func (c *peer) want(raw, meta string) string {
	if c.version == wire.Stateless {
		return completed(raw, meta)
	}
	return raw
}

func eras(t *testing.T, run func(t *testing.T, server string, client func(name string) *peer)) {
	for _, below := range []string{"http", "stdio"} {
		for _, server := range []string{wire.LastSession, wire.Stateless} {
			for _, above := range []string{"http", "stdio"} {
				for _, client := range []string{wire.LastSession, wire.Stateless} {
					t.Run(below+" "+server+" to "+above+" "+client, func(t *testing.T) {
						s := openGateway(t, `{"mcpServers":{"x":`+extendedEntry(t, below, server)+`,"prefix":""}}}`)
						run(t, server, func(name string) *peer { return dial(t, s, above, client, name) })
					})
				}
			}
		}
	}
}

// Methods, notifications, capabilities and resources of extensions pass byte for
// byte, between every pair of eras and over every transport.
func TestExtensionsPass(t *testing.T) {
	results, meta := oddResults()
	eras(t, func(t *testing.T, server string, client func(string) *peer) {
		c := client("raw")
		if !strings.Contains(c.server, `,`+extendedCapabilities+`}`) {
			t.Errorf("the handshake says %s", c.server)
		}
		for i := 0; i < len(results); i += 7 {
			if strings.ContainsAny(results[i], "\r\n") { // lines have none
				continue
			}
			if got, want := c.result(fmt.Sprintf("futures/n%d", i), "{}"), c.want(results[i], meta[i]); got != want {
				t.Errorf("result %d\n%s\nwant\n%s", i, got, want)
			}
		}
		odd := `{ "z" : 1.0,"a":[ ],"u":"\u0041\/", "requestState":"s","inputResponses":{ },"task":{"ttl":1e3}}`
		got := wire.Get([]byte(c.result("echo/params", odd)), "params")
		for name, want := range wire.Members([]byte(odd)) {
			if own := wire.Get(got, name); !bytes.Equal(own, want) {
				t.Errorf("params have %s as %s, want %s", name, own, want)
			}
		}
		if c.version != wire.Stateless && !strings.HasPrefix(string(got), odd[:len(odd)-1]) {
			t.Errorf("params %s, want %s", got, odd)
		}
		for method, want := range map[string]string{
			"skills/list": `{"skills":[` + skill + `],"ttlMs":5, "cacheScope":"public"}`,
			"skills/get":  `{"skill": ` + skill + `}`,
		} {
			if got, want := c.result(method, `{"uri":"skill://pdf/SKILL.md"}`), c.want(want, ""); got != want {
				t.Errorf("%s: %s, want %s", method, got, want)
			}
		}
		want := `{"contents":[{"uri":"ui://job/view","mimeType":"text/html;profile=mcp-app","text":"<b>","_meta":{"ui":{"prefersBorder" : true}}}]}`
		if got := c.result("resources/read", `{"uri":"ui://job/view"}`); !strings.HasPrefix(got, want[:len(want)-1]) {
			t.Errorf("resources/read: %s, want %s", got, want)
		}
		if got, want := c.result("tools/list", "{}"), `"_meta":{"ui":{ "resourceUri":"ui://job/view","visibility":["model"] }}`; !strings.Contains(got, want) {
			t.Errorf("tools/list: %s, want %s in it", got, want)
		}
		if got := c.result("nobody/knows", "{}"); !strings.Contains(got, `"code":-32601`) {
			t.Errorf("nobody/knows: %s", got)
		}
	})
}

func TestExtensionMessages(t *testing.T) {
	eras(t, func(t *testing.T, server string, client func(string) *peer) {
		c, other := client("raw"), client("other")
		before, _ := c.call("echo/notify", "{}")
		if len(before) != 1 || before[0].Method != "notifications/echo/said" || string(before[0].Params) != `{ "n":1.0}` {
			t.Errorf("heard %+v", before)
		}
		c.notify("notifications/echo/first", `{ "n":1.0}`)
		c.notify("notifications/tools/list_changed", `{}`) // is not an extension's
		c.notify("echo/second", `{"a" :2}`)
		if got, want := c.result("echo/heard", "{}"), `"notifications/echo/first{ \"n\":1.0}\necho/second{\"a\" :2}"`; c.version != wire.Stateless && !strings.Contains(got, want) {
			t.Errorf("the server heard %s, want %s", got, want)
		}
		defer func() {
			if before, _ := other.call("futures/n0", "{}"); len(before) != 0 {
				t.Errorf("the other client heard %+v", before)
			}
		}()
		if server == wire.Stateless { // which sends no requests
			return
		}
		got := c.result("echo/ask", "{}")
		if c.version == wire.Stateless {
			if !strings.Contains(got, "-32601") {
				t.Errorf("asked a client that takes no requests: %s", got)
			}
			return
		}
		if want := `{"answer":"{\"to\":\"echo/question{ \\\"q\\\":1.0}\", \"n\":1.0}"}`; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if got := c.result("other/ask", "{}"); !strings.Contains(got, "-32601") {
			t.Errorf("asked what the client does not declare: %s", got)
		}
	})
}

// The tasks of a client are nobody else's.
func TestTasksOfClients(t *testing.T) {
	eras(t, func(t *testing.T, server string, client func(string) *peer) {
		a, b := client("a"), client("b")
		created := []string{a.result("tools/call", `{"name":"job","task":{}}`), b.result("tools/call", `{"name":"job","task":{}}`)}
		for i, want := range []string{`"taskId":"1"`, `"taskId":"2"`} {
			if !strings.Contains(created[i], want) {
				t.Errorf("created %s, want %s", created[i], want)
			}
		}
		for _, method := range []string{"tasks/get", "tasks/result", "tasks/cancel", "tasks/update"} {
			if got, want := a.result(method, `{"taskId":"1"}`), `{"of":{"taskId":"1"`; !strings.HasPrefix(got, want) || !strings.Contains(got, `, "x":1.0`) {
				t.Errorf("%s: %s, want %s", method, got, want)
			}
			for _, c := range []*peer{a, b} {
				foreign := map[*peer]string{a: "2", b: "1"}[c]
				for _, method := range []string{method, strings.ToUpper(method)} {
					if got := c.result(method, `{"taskId":"`+foreign+`"}`); !strings.Contains(got, `"code":-326`) || strings.Contains(got, `"of"`) {
						t.Errorf("%s of another's task: %s", method, got)
					}
				}
			}
		}
		if got, want := a.result("tasks/list", "{}"), `{"tasks":[{"taskId":"1", "n":1.0}]`; a.version != wire.Stateless && !strings.HasPrefix(got, want) || strings.Contains(got, `"2"`) {
			t.Errorf("a lists %s, want %s", got, want)
		}
	})
}

// Methods of MCP cannot be reached under another spelling, and what the
// configuration refuses does not pass.
func TestExtensionsAreNoWayAround(t *testing.T) {
	c := dial(t, openGateway(t, `{"mcpServers":{"x":`+extendedEntry(t, "http", wire.LastSession)+`,"prefix":"","tools":{"deny":["job"]}}}}`), "http", wire.LastSession, "raw")
	for _, method := range []string{
		"tools/call", "Tools/Call", "TOOLS/CALL", "tools//call", "/tools/call", "tools/call/", "./tools/call", "x/../tools/call", "tools.call", "tools:call", "tools/call ",
		" tools/call", "tools/call\u0000", "tools/ca\u200bll", "tools%2Fcall", "tools\\call", "tools/other", "Resources/Read", "logging/x", "initialize", "notifications/x", strings.Repeat("a", 200),
	} {
		if got := c.result(method, `{"name":"job"}`); !strings.Contains(got, `"code":-326`) || strings.Contains(got, "task") {
			t.Errorf("%q: %s", method, got)
		}
	}
	for config, passes := range map[string][]string{
		`"extensions":false`:                  nil,
		`"extensions":[]`:                     nil,
		`"extensions":["futures","*/skills"]`: {"skills/list", "futures/n0"},
		`"extensions":true`:                   {"skills/list", "futures/n0", "echo/params", "tasks/list"},
	} {
		c := dial(t, openGateway(t, `{"mcpServers":{"x":`+extendedEntry(t, "http", wire.LastSession)+`,"prefix":"",`+config+`}}}`), "http", wire.LastSession, "raw")
		for _, method := range []string{"skills/list", "futures/n0", "echo/params", "tasks/list"} {
			if got := c.result(method, "{}"); slices.Contains(passes, method) == strings.Contains(got, `"code":-32601`) {
				t.Errorf("%s, %s: %s", config, method, got)
			}
		}
		if len(passes) == 0 && strings.Contains(c.server, "extensions") {
			t.Errorf("%s: the handshake says %s", config, c.server)
		}
	}
}

// With a process for each session, tasks of two sessions have the same ids, and
// requests and notifications reach the own process.
func TestExtensionsOfProcesses(t *testing.T) {
	s := openGateway(t, `{"mcpServers":{"x":`+extendedEntry(t, "stdio", wire.LastSession)+`,"prefix":"","share":"per-session"}}}`)
	for _, name := range []string{"a", "b"} {
		c := dial(t, s, "http", wire.LastSession, name)
		if got := c.result("tools/call", `{"name":"job","task":{}}`); !strings.Contains(got, `"taskId":"1"`) {
			t.Errorf("%s created %s", name, got)
		}
		if got, want := c.result("tasks/get", `{"taskId":"1"}`), `{"of":{"taskId":"1"}, "x":1.0}`; got != want {
			t.Errorf("%s got %s, want %s", name, got, want)
		}
		if got, want := c.result("tasks/list", `{}`), `{"tasks":[{"taskId":"1", "n":1.0}]}`; got != want {
			t.Errorf("%s lists %s, want %s", name, got, want)
		}
		c.notify("echo/one", `{"to":"`+name+`"}`)
		c.notify("echo/two", `{"to":"`+name+`"}`)
		if got, want := c.result("echo/heard", `{}`), `{"heard":"echo/one{\"to\":\"`+name+`\"}\necho/two{\"to\":\"`+name+`\"}"}`; got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
		if got := c.result("echo/ask", "{}"); !strings.Contains(got, "echo/question") {
			t.Errorf("%s: %s", name, got)
		}
	}
}
