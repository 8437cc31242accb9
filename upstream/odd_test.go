package upstream_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolpost/toolpost/upstream"
)

// The test binary plays odd servers: it is started again with this variable
// set to the part.
const partVariable = "TOOLPOST_TEST_PART"

// An odd server speaks classic MCP over stdio, as badly as its part wants.
type odd struct {
	in    *bufio.Scanner
	out   *bufio.Writer
	name  string
	tools string // the members of the result of tools/list
	gate  string // the address of a connection that a test closes

	capabilities string
	call         func(m *message)
	probe        func(m *message) // of server/discover; nil answers an error
	other        func(m *message)
}

type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
	raw    string
}

func (m *message) param(name string) string {
	var p map[string]json.RawMessage
	_ = json.Unmarshal(m.Params, &p)
	return string(p[name])
}

const oneTool = `"tools":[{"name":"t","inputSchema":{"type":"object"}}]`

func newOdd() *odd {
	o := &odd{in: bufio.NewScanner(os.Stdin), out: bufio.NewWriter(os.Stdout), name: "odd", gate: os.Getenv("GATE"), tools: oneTool, capabilities: `{"tools":{"listChanged":true}}`}
	o.in.Buffer(nil, 64<<20)
	o.call = func(m *message) { o.text(m, "ok") }
	o.other = func(*message) {}
	return o
}

func (o *odd) send(format string, args ...any) {
	fmt.Fprintf(o.out, format+"\n", args...)
	o.out.Flush()
}

func (o *odd) reply(m *message, result string) {
	o.send(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
}

func (o *odd) text(m *message, s string) {
	o.reply(m, fmt.Sprintf(`{"content":[{"type":"text","text":%q}]}`, s))
}

func (o *odd) next() *message {
	if !o.in.Scan() {
		return nil
	}
	m := &message{raw: o.in.Text()}
	_ = json.Unmarshal(o.in.Bytes(), m)
	return m
}

func (o *odd) serve() {
	for m := o.next(); m != nil; m = o.next() {
		o.handle(m)
	}
}

func (o *odd) handle(m *message) {
	switch m.Method {
	case "server/discover":
		if o.probe != nil {
			o.probe(m)
			return
		}
		o.send(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}`, m.ID)
	case "initialize":
		o.reply(m, `{"protocolVersion":"2025-06-18","capabilities":`+o.capabilities+`,"serverInfo":{"name":"`+o.name+`","version":"1"}}`)
	case "tools/list":
		o.reply(m, "{"+o.tools+"}")
	case "tools/call":
		o.call(m)
	default:
		o.other(m)
	}
}

// forever waits for the end by a signal.
func forever() { <-make(chan struct{}) }

// once says whether this process is the first to ask, by a file.
func once() bool {
	f, err := os.OpenFile(os.Getenv("ONCE"), os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return false
	}
	return f.Close() == nil
}

func parts() map[string]func(*odd) {
	return map[string]func(*odd){
		"sdk": func(*odd) { _ = sdkServer(context.Background()).Run(context.Background(), &mcp.StdioTransport{}) },
		"raw": func(o *odd) {
			o.tools = os.Getenv("TOOLS")
			o.call = func(m *message) {
				if strings.Contains(m.raw, `"name":"params"`) {
					o.text(m, string(m.Params))
					return
				}
				o.reply(m, os.Getenv("RESULT"))
			}
			o.serve()
		},
		"banner": func(o *odd) {
			o.send("Welcome to the \x1b[32mserver\x1b[0m\n\n{not json}\n[1,2]\n123\n{\"level\":\"info\"}")
			o.call = func(m *message) {
				o.send("log between frames")
				o.text(m, "ok")
			}
			o.serve()
		},
		"indented": func(o *odd) {
			o.call = func(m *message) {
				o.send("{\r\n  \"jsonrpc\": \"2.0\",\r\n  \"id\": %s,\r\n  \"result\": {\"content\": [\n{\"type\":\"text\",\"text\":\"ok\"}]}\r\n}\r", m.ID)
			}
			o.serve()
		},
		"prober":        prober,
		"recites":       recites,
		"odd-messages":  oddMessages,
		"asks-and-ends": asksAndEnds,
		"gated": func(o *odd) { // is ready when its test closes the connection
			if c, err := net.Dial("tcp", os.Getenv("GATE")); err == nil {
				_, _ = io.Copy(io.Discard, c)
			}
			o.serve()
		},
		"completes": func(o *odd) {
			o.call = func(m *message) {
				o.send(`{"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{"elicitationId":"e"}}`)
				o.text(m, "ok")
			}
			o.serve()
		},
		"both": func(*odd) {
			s := sdkServer(context.Background())
			s.AddTool(&mcp.Tool{Name: "elicit", InputSchema: json.RawMessage(`{"type":"object"}`)}, elicitTool)
			_ = s.Run(context.Background(), &mcp.StdioTransport{})
		},
		"string-ids": func(o *odd) {
			o.call = func(m *message) {
				o.send(`{"jsonrpc":"2.0","id":"%s","result":{"content":[{"type":"text","text":"ok"}]}}`, m.ID)
			}
			o.serve()
		},
		"slow-prompts": func(o *odd) {
			o.capabilities = `{"tools":{},"prompts":{}}`
			o.serve()
		},
		"speaks": func(o *odd) { fmt.Println("Listening on 3000"); forever() },
		"npx": func(*odd) {
			fmt.Fprintln(os.Stderr, "Error [ERR_MODULE_NOT_FOUND]: Cannot find package '/home/u/.npm/_npx/15b07286cbcc3329/node_modules/zod/index.js'")
			os.Exit(1)
		},
		"rooted": rooted,
		"exit": func(*odd) {
			fmt.Fprintln(os.Stderr, "fatal: DATABASE_URL is not set, key", os.Getenv("SECRET"))
			os.Exit(3)
		},
		"hang":           func(*odd) { fmt.Fprintln(os.Stderr, "waiting for a lock"); _, _ = io.Copy(io.Discard, os.Stdin) },
		"hang-on-probe":  func(o *odd) { o.probe = func(*message) { forever() }; o.serve() },
		"quiet-on-probe": func(o *odd) { o.probe = func(*message) {}; o.serve() },
		"exit-on-probe":  func(o *odd) { o.probe = func(*message) { os.Exit(1) }; o.serve() },
		"picky": func(o *odd) { // the first message must be initialize, and nothing is ever cancelled before
			first := true
			o.other = func(m *message) {
				if first && m.Method == "notifications/cancelled" {
					os.Exit(1)
				}
				first = false
			}
			o.probe = func(*message) {}
			o.serve()
		},
		"stderr": func(o *odd) {
			for range 1 << 10 {
				fmt.Fprintln(os.Stderr, strings.Repeat("x", 1<<10))
			}
			o.call = func(*message) { fmt.Fprintln(os.Stderr, "last words"); os.Exit(1) }
			o.serve()
		},
		"half": func(o *odd) {
			o.call = func(m *message) {
				fmt.Fprintf(o.out, `{"jsonrpc":"2.0","id":%s,"resu`, m.ID)
				o.out.Flush()
				os.Exit(1)
			}
			o.serve()
		},
		"stubborn": func(o *odd) {
			signal.Ignore(syscall.SIGTERM)
			o.serve()
			forever()
		},
		"parent": func(o *odd) {
			child := exec.Command("sleep", "60")
			child.Stdout, child.Stderr = os.Stdout, os.Stderr // it holds our pipes open
			if err := child.Start(); err != nil {
				panic(err)
			}
			o.call = func(m *message) {
				if m.param("arguments") == `{"die":true}` {
					os.Exit(1)
				}
				o.text(m, fmt.Sprint(child.Process.Pid))
			}
			o.serve()
		},
		"big": func(o *odd) { o.call = func(m *message) { o.text(m, strings.Repeat("x", 5<<20)) }; o.serve() },
		"long": func(o *odd) {
			const long = `{"content":[{"type":"text","text":%q}]}`
			var waiting *message
			x := strings.Repeat("x", 100<<10)
			o.call = func(m *message) {
				switch m.param("arguments") {
				case `{"as":"wait"}`:
					waiting = m
					o.send(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":1}}`, m.ID)
					return
				case `{"as":"head"}`:
					o.send(`{"jsonrpc":"2.0","id":%s,"result":`+long+`}`, m.ID, x)
				case `{"as":"tail"}`:
					o.send(`{"result":`+long+`,"jsonrpc":"2.0","id":%s}`, x+`"id":1}`, m.ID)
				case `{"as":"lines"}`:
					o.send("{\n\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":\n"+long+"\n}", m.ID, x[:64<<10-60])
				case `{"as":"told"}`:
					o.send(`{"jsonrpc":"2.0","method":"notifications/message","params":%q}`, x)
					o.send("%s", x)
					o.text(m, "fine")
				}
				if waiting != nil {
					o.text(waiting, "waited")
					waiting = nil
				}
			}
			o.serve()
		},
		"answer": func(o *odd) {
			answer, _ := os.ReadFile(os.Getenv("ANSWER"))
			o.call = func(m *message) { o.send("%s", strings.ReplaceAll(string(answer), "$ID", string(m.ID))) }
			o.serve()
		},
		"args": func(*odd) {
			fmt.Fprintf(os.Stderr, "invalid token in %q\n", os.Args[1:])
			os.Exit(1)
		},
		"deaf":  func(o *odd) { o.call = func(*message) { forever() }; o.serve() },
		"crash": crash,
		"loop": func(o *odd) {
			o.tools = oneTool + `,"nextCursor":"again"`
			o.serve()
		},
		"progress": func(o *odd) { o.call = func(m *message) { progress(o, m) }; o.serve() },
		"ask":      func(o *odd) { o.call = func(m *message) { ask(o, m) }; o.serve() },
		"storm": func(o *odd) {
			o.call = func(m *message) {
				for i := range 5000 {
					o.send(`{"jsonrpc":"2.0","id":"q%d","method":"sampling/createMessage","params":{}}`, i)
				}
				o.text(m, "calm")
			}
			o.serve()
		},
		"roots": func(o *odd) {
			var answer string
			o.other = func(m *message) {
				switch {
				case m.Method == "notifications/initialized":
					o.send(`{"jsonrpc":"2.0","id":"q","method":"roots/list"}`)
				case string(m.ID) == `"q"`:
					answer = string(m.Result)
				}
			}
			o.call = func(m *message) { o.text(m, answer) }
			o.serve()
		},
		"tell":   tellAndAsk,
		"cancel": cancelled,
		"grow":   grow,
		"flood": func(o *odd) { // every listing is another, and followed by a flood of changes
			n := 0
			for m := o.next(); m != nil; m = o.next() {
				if m.Method == "tools/list" {
					n++
					o.tools = fmt.Sprintf(`"tools":[{"name":"t%d","inputSchema":{"type":"object"}}]`, n)
				}
				if o.handle(m); m.Method == "tools/list" {
					for range 5000 {
						fmt.Fprintln(o.out, `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
					}
					o.out.Flush()
				}
			}
		},
		"env":     func(o *odd) { o.call = func(m *message) { o.text(m, strings.Join(os.Environ(), "\n")) }; o.serve() },
		"gateway": func(*odd) { gateway() },
		"pid": func(o *odd) { // it tells its process, and then does not look at its input
			o.name = fmt.Sprint(os.Getpid())
			for m := o.next(); m != nil; m = o.next() {
				if o.handle(m); m.Method == "tools/list" {
					forever()
				}
			}
		},
		"mute": func(o *odd) { // it wants answers, does not read them, and then says nothing more
			if once() {
				o.call = func(m *message) {
					o.text(m, "first")
					for i := range 5000 {
						o.send(`{"jsonrpc":"2.0","id":"%d%s","method":"ping"}`, i, strings.Repeat("x", 100))
					}
					os.Stdout.Close()
					forever()
				}
			}
			o.serve()
		},
		"refuse": func(o *odd) {
			o.call = func(m *message) {
				o.send(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32004,"message":"no","data":{"n":9007199254740993}}}`, m.ID)
			}
			o.serve()
		},
		"nothing": func(o *odd) {
			o.call = func(m *message) {
				o.send(`{"jsonrpc":"2.0","id":%s}`, m.ID)
				o.send(`{"jsonrpc":"2.0","id":%s,"result":{}}`, m.ID)
			}
			o.serve()
		},
	}
}

// crash ends during the first call, of the process or of all of them.
func crash(o *odd) {
	o.tools = `"tools":[{"name":"t","inputSchema":{"type":"object"}},{"name":"r","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}]`
	o.call = func(m *message) {
		if once() || strings.Contains(string(m.Params), "again") {
			os.Exit(1)
		}
		o.text(m, "back")
	}
	o.serve()
}

func progress(o *odd, m *message) {
	var p struct {
		Meta struct {
			Token json.RawMessage `json:"progressToken"`
		} `json:"_meta"`
	}
	_ = json.Unmarshal(m.Params, &p)
	for i := range 20 {
		if p.Meta.Token != nil {
			o.send(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%d,"x":9007199254740993}}`, p.Meta.Token, i)
		}
		o.send(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":%d}}`, i)
	}
	o.text(m, string(p.Meta.Token))
	if p.Meta.Token != nil { // too late
		o.send(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":20}}`, p.Meta.Token)
	}
}

// ask asks the client and tells its answer. With "back" it takes the question back.
func ask(o *odd, m *message) {
	o.send(`{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","x-odd":9007199254740993}}}`)
	if strings.Contains(m.raw, "back") {
		o.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"q"}}`)
		o.text(m, "taken back")
		return
	}
	for answer := o.next(); answer != nil; answer = o.next() {
		if string(answer.ID) == `"q"` {
			o.text(m, answer.raw)
			return
		}
	}
}

// tellAndAsk tells two things before it asks, all at once.
func tellAndAsk(o *odd) {
	o.call = func(m *message) {
		var p struct {
			Meta struct {
				Token json.RawMessage `json:"progressToken"`
			} `json:"_meta"`
		}
		_ = json.Unmarshal(m.Params, &p)
		o.send(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":1}}
{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":2}}
{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{}}`, p.Meta.Token)
		for answer := o.next(); answer != nil; answer = o.next() {
			if string(answer.ID) == `"q"` {
				o.text(m, "ok")
				return
			}
		}
	}
	o.serve()
}

// cancelled tells in the second call what the first was ended with.
func cancelled(o *odd) {
	var first *message
	told := "nothing"
	o.call = func(m *message) {
		if first == nil {
			first = m
			o.send(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"begun"}}`)
			return
		}
		o.text(m, told)
	}
	o.other = func(m *message) {
		if m.Method == "notifications/cancelled" && first != nil && m.param("requestId") == string(first.ID) {
			told = "cancelled"
		}
	}
	o.serve()
}

// grow has one more tool after each call, and tells so a hundred times.
func grow(o *odd) {
	n := 1
	o.call = func(m *message) {
		if m.param("arguments") != `{"same":true}` {
			o.tools = strings.TrimSuffix(o.tools, "]") + fmt.Sprintf(`,{"name":"t%d","inputSchema":{"type":"object"}}]`, n)
			n++
		}
		for range 100 {
			o.send(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
		}
		o.text(m, "ok")
	}
	o.serve()
}

// gateway is a process with a server that does not look at its input.
func gateway() {
	self, _ := os.Executable()
	u, err := upstream.Start(&upstream.Config{Command: self, Env: map[string]string{partVariable: "pid"}}, nil)
	if err != nil {
		panic(err)
	}
	if err := u.Ready(context.Background()); err != nil {
		panic(err)
	}
	fmt.Println(u.Status().Server)
	forever()
}

// sdkServer is an ordinary server of the official SDK. Its calls end with life:
// who closes a connection may not have told of all that is cancelled, and the
// SDK waits for it.
func sdkServer(life context.Context) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "ordinary", Version: "1.2"}, &mcp.ServerOptions{
		Instructions: "Be kind.",
		CompletionHandler: func(_ context.Context, r *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
			return &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: []string{r.Params.Ref.Name + r.Params.Ref.URI + r.Params.Argument.Value}}}, nil
		},
		SubscribeHandler:   func(context.Context, *mcp.SubscribeRequest) error { return nil },
		UnsubscribeHandler: func(context.Context, *mcp.UnsubscribeRequest) error { return nil },
	})
	s.AddTool(&mcp.Tool{Name: "echo", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: string(r.Params.Arguments)}}}, nil
	})
	s.AddTool(&mcp.Tool{Name: "slow", InputSchema: json.RawMessage(`{"type":"object"}`)}, func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if token := r.Params.GetProgressToken(); token != nil {
			_ = r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Message: "begun"})
		}
		select {
		case <-ctx.Done():
		case <-life.Done():
		}
		return nil, context.Canceled
	})
	s.AddTool(&mcp.Tool{Name: "ask", InputSchema: json.RawMessage(`{"type":"object"}`)}, askTool)
	s.AddPrompt(&mcp.Prompt{Name: "p", Arguments: []*mcp.PromptArgument{{Name: "a"}}}, func(_ context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		return &mcp.GetPromptResult{Description: r.Params.Arguments["a"]}, nil
	})
	read := func(_ context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: r.Params.URI, Text: "content"}}}, nil
	}
	s.AddResource(&mcp.Resource{URI: "test://r", Name: "r"}, read)
	s.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: "test://{x}/y", Name: "t"}, read)
	return s
}

// askTool asks in the way of the protocol version.
func askTool(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	params := &mcp.ElicitParams{Message: "name?", RequestedSchema: map[string]any{"type": "object"}}
	answer, _ := r.Params.InputResponses["name"].(*mcp.ElicitResult)
	switch {
	case r.ProtocolVersion() < "2026-07-28":
		var err error
		if answer, err = r.Session.Elicit(ctx, params); err != nil {
			return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: err.Error()}}}, nil
		}
	case answer == nil:
		return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"name": params}, RequestState: "sealed"}, nil
	case r.Params.RequestState != "sealed":
		return nil, fmt.Errorf("state %q", r.Params.RequestState)
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprint(answer.Action, " ", answer.Content["name"])}}}, nil
}

// play plays the part that this process was started for, if it was.
func play() bool {
	part := parts()[os.Getenv(partVariable)]
	if part == nil {
		return false
	}
	go func() { time.Sleep(time.Minute); os.Exit(9) }() // nothing stays behind a broken test
	part(newOdd())
	return true
}
