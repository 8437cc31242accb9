//lint:file-ignore SA1019 older versions of the protocol have logging

package mcpserver_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/hidden"
	"github.com/toolpost/toolpost/internal/longjson"
	"github.com/toolpost/toolpost/internal/wire"
	"github.com/toolpost/toolpost/mcpserver"
)

func TestListAndCall(t *testing.T) {
	everyWay(t, func(t *testing.T, w way) {
		s := serve(t, nil, textTool("zebra", "z"), textTool("ant", "a"))
		session := w.connect(t, s, nil)
		list, err := session.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(list.Tools) != 2 || list.Tools[0].Name != "zebra" || list.Tools[1].Name != "ant" {
			t.Errorf("tools are %v, want those given, in order", list.Tools)
		}
		if got := callText(t, session, &mcp.CallToolParams{Name: "ant"}); got != "a" {
			t.Errorf("got %q", got)
		}
	})
}

func TestErrors(t *testing.T) {
	tools := []*toolpost.Tool{
		rawTool("fails", anyObject, func(context.Context, *toolpost.Call) (*toolpost.Result, error) {
			return nil, toolpost.Failed.Errorf("no disk")
		}),
		rawTool("panics", anyObject, func(context.Context, *toolpost.Call) (*toolpost.Result, error) {
			panic("secret detail")
		}),
		rawTool("protocol", anyObject, func(context.Context, *toolpost.Call) (*toolpost.Result, error) {
			return nil, &toolpost.ProtocolError{Code: -32050, Message: "special", Data: []byte(`{"a":9007199254740993}`)}
		}),
		rawTool("nothing", anyObject, func(context.Context, *toolpost.Call) (*toolpost.Result, error) {
			return toolpost.RawResult(json.RawMessage(`[]`)), nil
		}),
		textTool("works", "fine"),
	}
	everyWay(t, func(t *testing.T, w way) {
		session := w.connect(t, serve(t, nil, tools...), nil)
		r, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "fails"})
		if err != nil || !r.IsError || r.Content[0].(*mcp.TextContent).Text != "no disk" {
			t.Errorf("fails: %+v, %v", r, err)
		}
		r, err = session.CallTool(t.Context(), &mcp.CallToolParams{Name: "panics"})
		if err != nil || !r.IsError || strings.Contains(r.Content[0].(*mcp.TextContent).Text, "secret") {
			t.Errorf("panics: %+v, %v", r, err)
		}
		for name, code := range map[string]int64{"protocol": -32050, "missing": jsonrpc.CodeInvalidParams, "nothing": jsonrpc.CodeInternalError} {
			_, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: name})
			var fault *jsonrpc.Error
			if !errors.As(err, &fault) || fault.Code != code {
				t.Errorf("%s: got %v, want code %d", name, err, code)
			} else if name == "protocol" && string(fault.Data) != `{"a":9007199254740993}` {
				t.Errorf("data is %s", fault.Data)
			}
		}
		if got := callText(t, session, &mcp.CallToolParams{Name: "works"}); got != "fine" {
			t.Errorf("after all that: %q", got)
		}
	})
}

func TestParallelCalls(t *testing.T) {
	everyWay(t, func(t *testing.T, w way) {
		const n = 50
		var running atomic.Int32
		all := make(chan struct{})
		s := serve(t, nil, rawTool("meet", anyObject, func(ctx context.Context, call *toolpost.Call) (*toolpost.Result, error) {
			if running.Add(1) == n {
				close(all)
			}
			select { // goes on only when all calls are here
			case <-all:
			case <-ctx.Done():
				return nil, ctx.Err()
			}
			return toolpost.TextResult(string(call.Arguments)), nil
		}))
		session := w.connect(t, s, nil)
		var wg sync.WaitGroup
		for i := range n {
			wg.Go(func() {
				r, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "meet", Arguments: map[string]int{"i": i}})
				if want := fmt.Sprintf(`{"i":%d}`, i); err != nil || r.Content[0].(*mcp.TextContent).Text != want {
					t.Errorf("call %d: %+v, %v", i, r, err)
				}
			})
		}
		wg.Wait()
	})
}

func TestCancel(t *testing.T) {
	everyWay(t, func(t *testing.T, w way) {
		started, ended := make(chan struct{}), make(chan error, 1)
		s := serve(t, nil, rawTool("wait", anyObject, func(ctx context.Context, _ *toolpost.Call) (*toolpost.Result, error) {
			close(started)
			<-ctx.Done()
			ended <- ctx.Err()
			return nil, ctx.Err()
		}))
		session := w.connect(t, s, nil)
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			<-started
			cancel()
		}()
		if _, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "wait"}); err == nil {
			t.Error("the canceled call has a result")
		}
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("the handler saw %v", err)
		}
	})
}

func TestProgressAndLog(t *testing.T) {
	everyWay(t, func(t *testing.T, w way) {
		s := serve(t, nil, rawTool("work", anyObject, func(ctx context.Context, call *toolpost.Call) (*toolpost.Result, error) {
			err := errors.Join(call.Progress(ctx, 1, 2, "half"), call.Log(ctx, "info", "l", "seen"), call.Log(ctx, "debug", "l", "unseen"))
			return toolpost.TextResult("done"), err
		}))
		progress, logs := make(chan *mcp.ProgressNotificationParams, 9), make(chan *mcp.LoggingMessageParams, 9)
		session := w.connect(t, s, &mcp.ClientOptions{
			ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) { progress <- r.Params },
			LoggingMessageHandler:       func(_ context.Context, r *mcp.LoggingMessageRequest) { logs <- r.Params },
		})
		p := &mcp.CallToolParams{Name: "work"}
		p.SetProgressToken("tok")
		if w.isModern() {
			p.Meta["io.modelcontextprotocol/logLevel"] = "info"
		} else if err := session.SetLoggingLevel(t.Context(), &mcp.SetLoggingLevelParams{Level: "info"}); err != nil {
			t.Fatal(err)
		}
		if got := callText(t, session, p); got != "done" {
			t.Errorf("got %q", got)
		}
		if got := soon(t, progress, "progress"); got.ProgressToken != "tok" || got.Progress != 1 || got.Total != 2 || got.Message != "half" {
			t.Errorf("progress is %+v", got)
		}
		if got := soon(t, logs, "a log message"); got.Data != "seen" || got.Level != "info" {
			t.Errorf("log is %+v", got)
		}
		callText(t, session, &mcp.CallToolParams{Name: "work"}) // wants no progress
		if len(progress) > 0 {
			t.Errorf("progress without a token: %+v", <-progress)
		}
	})
}

func TestElicitation(t *testing.T) {
	tool := rawTool("ask", anyObject, func(ctx context.Context, call *toolpost.Call) (*toolpost.Result, error) {
		var said []string
		for _, q := range []string{"first?", "second?"} {
			var answer struct {
				Content map[string]string `json:"content"`
			}
			if err := call.Ask(ctx, "elicitation/create", map[string]any{
				"message": q, "requestedSchema": json.RawMessage(`{"type":"object","properties":{"a":{"type":"string"}}}`),
			}, &answer); err != nil {
				return nil, err
			}
			said = append(said, answer.Content["a"])
		}
		return toolpost.TextResult(strings.Join(said, " ")), nil
	})
	everyWay(t, func(t *testing.T, w way) {
		s := serve(t, nil, tool)
		session := w.connect(t, s, &mcp.ClientOptions{
			ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
				return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"a": "to " + r.Params.Message}}, nil
			},
		})
		if got := callText(t, session, &mcp.CallToolParams{Name: "ask"}); got != "to first? to second?" {
			t.Errorf("got %q", got)
		}
		deaf := w.connect(t, s, nil)
		r, err := deaf.CallTool(t.Context(), &mcp.CallToolParams{Name: "ask"})
		var fault *jsonrpc.Error
		switch {
		case !w.isModern() && (err != nil || !r.IsError):
			t.Errorf("a client that cannot be asked got %+v, %v", r, err)
		case w.isModern() && (!errors.As(err, &fault) || fault.Code != mcp.CodeMissingRequiredClientCapabilities ||
			string(fault.Data) != `{"requiredCapabilities":{"elicitation":{}}}`):
			t.Errorf("a client that cannot be asked got %+v, %v", r, err)
		}
	})
}

// longText returns a result that is not in memory.
func longText(text string) *toolpost.Result {
	message := []byte(`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":` + string(wire.Quote(text)) + `}]}}`)
	spool, scanner := longjson.NewSpool("", new(longjson.Buffers)), new(longjson.Scanner)
	_ = spool.Add(message, int64(len(message)))
	_, _ = scanner.Write(message)
	return hidden.NewResult(hidden.Encoded{Long: longjson.NewObject(spool, scanner), Scan: new(wire.Answer)}).(*toolpost.Result)
}

// A handler that keeps its own rounds works for clients that have none, too.
func TestOwnRounds(t *testing.T) {
	handler := func(_ context.Context, call *toolpost.Call) (*toolpost.Result, error) {
		var p struct {
			InputResponses map[string]struct{ Content map[string]string }
			RequestState   string
		}
		if err := json.Unmarshal(call.Params, &p); err != nil {
			return nil, err
		}
		if p.RequestState == "s1" {
			hello := "hello " + p.InputResponses["who"].Content["a"]
			if call.Name == "long" {
				return longText(hello), nil
			}
			return toolpost.TextResult(hello), nil
		}
		return toolpost.RawResult(json.RawMessage(`{"resultType":"input_required","requestState":"s1","inputRequests":{"who":{"method":"elicitation/create",
			"params":{"message":"who?","requestedSchema":{"type":"object","properties":{"a":{"type":"string"}}}}}}}`)), nil
	}
	tools := []*toolpost.Tool{rawTool("rounds", anyObject, handler), rawTool("long", anyObject, handler)}
	everyWay(t, func(t *testing.T, w way) {
		session := w.connect(t, serve(t, nil, tools...), &mcp.ClientOptions{
			ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
				return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"a": "you"}}, nil
			},
		})
		for _, tool := range tools {
			if got := callText(t, session, &mcp.CallToolParams{Name: tool.Name}); got != "hello you" {
				t.Errorf("%s: got %q", tool.Name, got)
			}
		}
	})
	everyWay(t, func(t *testing.T, w way) {
		session := w.connect(t, serve(t, nil, tools...), nil)
		_, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "rounds"})
		var fault *jsonrpc.Error
		if !errors.As(err, &fault) || w.isModern() && fault.Code != mcp.CodeMissingRequiredClientCapabilities {
			t.Errorf("a client that declares no elicitation got %v", err)
		}
	})
}

func TestFeatures(t *testing.T) {
	echo := func(result string) toolpost.Handler {
		return func(_ context.Context, call *toolpost.Call) (*toolpost.Result, error) {
			return toolpost.RawResult(json.RawMessage(strings.ReplaceAll(result, "$NAME", call.Name))), nil
		}
	}
	features := &toolpost.Features{
		Instructions: "read me",
		Prompts: []*toolpost.Prompt{{Name: "p", Definition: json.RawMessage(`{"name":"other","description":"d"}`),
			Get:      echo(`{"messages":[{"role":"user","content":{"type":"text","text":"$NAME"}}]}`),
			Complete: echo(`{"completion":{"values":["v"]}}`)}},
		Resources: []*toolpost.Resource{
			{URI: "x://1", Definition: json.RawMessage(`{"name":"one"}`), Read: echo(`{"contents":[{"uri":"$NAME","text":"fixed"}]}`)},
			{URI: "x://t/{id}", Template: true, Definition: json.RawMessage(`{"name":"t"}`), Read: echo(`{"contents":[{"uri":"$NAME","text":"made"}]}`)},
			{URI: "x://panics", Read: func(context.Context, *toolpost.Call) (*toolpost.Result, error) { panic("no") }},
			{URI: "x://bad", Definition: json.RawMessage(`{"name":`)},
		},
	}
	everyWay(t, func(t *testing.T, w way) {
		s := serve(t, nil)
		s.SetFeatures(features)
		session := w.connect(t, s, nil)
		if init := session.InitializeResult(); init.Instructions != "read me" || init.Capabilities.Completions == nil {
			t.Errorf("initialize says %+v", init)
		}
		prompts, err := session.ListPrompts(t.Context(), nil)
		if err != nil || len(prompts.Prompts) != 1 || prompts.Prompts[0].Name != "p" || prompts.Prompts[0].Description != "d" {
			t.Errorf("prompts: %+v, %v", prompts, err)
		}
		if p, err := session.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "p"}); err != nil || p.Messages[0].Content.(*mcp.TextContent).Text != "p" {
			t.Errorf("prompt: %+v, %v", p, err)
		}
		resources, err := session.ListResources(t.Context(), nil)
		if err != nil || len(resources.Resources) != 2 || resources.Resources[0].URI != "x://1" {
			t.Errorf("resources: %+v, %v", resources, err)
		}
		templates, err := session.ListResourceTemplates(t.Context(), nil)
		if err != nil || len(templates.ResourceTemplates) != 1 || templates.ResourceTemplates[0].URITemplate != "x://t/{id}" {
			t.Errorf("templates: %+v, %v", templates, err)
		}
		for uri, want := range map[string]string{"x://1": "fixed", "x://t/7": "made"} {
			r, err := session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
			if err != nil || r.Contents[0].Text != want || r.Contents[0].URI != uri {
				t.Errorf("%s: %+v, %v", uri, r, err)
			}
		}
		for uri, code := range map[string]int64{"x://none": -32002, "x://panics": jsonrpc.CodeInternalError} {
			if w.isModern() && code == -32002 {
				code = jsonrpc.CodeInvalidParams
			}
			_, err := session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
			var fault *jsonrpc.Error
			if !errors.As(err, &fault) || fault.Code != code {
				t.Errorf("%s: %v, want code %d", uri, err, code)
			}
		}
		c, err := session.Complete(t.Context(), &mcp.CompleteParams{
			Ref: &mcp.CompleteReference{Type: "ref/prompt", Name: "p"}, Argument: mcp.CompleteParamsArgument{Name: "a"}})
		if err != nil || len(c.Completion.Values) != 1 {
			t.Errorf("completion: %+v, %v", c, err)
		}
	})
}

// A client that connects early learns what the servers may turn out to have.
func TestAnnouncesWhatMayCome(t *testing.T) {
	everyWay(t, func(t *testing.T, w way) {
		s := serve(t, nil)
		s.SetFeatures(&toolpost.Features{Proxy: toolpost.Proxy{Incomplete: true}})
		can := w.connect(t, s, nil).InitializeResult().Capabilities
		if can.Completions == nil || can.Prompts == nil || can.Resources == nil || !can.Resources.Subscribe {
			t.Errorf("announced %+v", can)
		}
	})
}

// A resource that is not listed is asked for where there may be such.
func TestUnlistedResource(t *testing.T) {
	everyWay(t, func(t *testing.T, w way) {
		s := serve(t, nil)
		s.SetFeatures(&toolpost.Features{Proxy: toolpost.Proxy{ReadUnlisted: func(_ context.Context, call *toolpost.Call) (*toolpost.Result, error) {
			if call.Name != "report://42" {
				return nil, toolpost.ErrNotFound
			}
			return toolpost.RawResult(json.RawMessage(`{"contents":[{"uri":"report://42","text":"here"}]}`)), nil
		}}})
		session := w.connect(t, s, nil)
		r, err := session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "report://42"})
		if err != nil || r.Contents[0].Text != "here" {
			t.Errorf("got %+v, %v", r, err)
		}
		if _, err := session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "report://43"}); err == nil || !strings.Contains(err.Error(), "unknown resource") {
			t.Errorf("got %v", err)
		}
	})
}

func TestAnnouncesOnlyWhatIsThere(t *testing.T) {
	everyWay(t, func(t *testing.T, w way) {
		session := w.connect(t, serve(t, &mcpserver.Options{Name: "me", Version: "3"}), nil)
		init := session.InitializeResult()
		if c := init.Capabilities; c.Tools == nil || c.Prompts != nil || c.Resources != nil || c.Completions != nil {
			t.Errorf("capabilities are %+v", c)
		}
		if init.ServerInfo == nil || init.ServerInfo.Name != "me" || init.ServerInfo.Version != "3" {
			t.Errorf("the server is %+v", init.ServerInfo)
		}
	})
}

func TestLogNamesTheClient(t *testing.T) {
	everyWay(t, func(t *testing.T, w way) {
		var log syncBuffer
		who := rawTool("who", anyObject, answer(toolpost.TextResult("yes")))
		quiet := *who
		quiet.Name, quiet.Policy.Polled = "quiet", true
		session := w.connect(t, serve(t, &mcpserver.Options{Logger: logger(&log)}, who, &quiet), nil)
		callText(t, session, &mcp.CallToolParams{Name: "who"})
		callText(t, session, &mcp.CallToolParams{Name: "quiet"})
		if !strings.Contains(log.String(), "tool=who client=tester") || strings.Contains(log.String(), "quiet") {
			t.Errorf("the log is %s", log.String())
		}
	})
}
