package claudecli_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/claude"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/claudecli"
	"github.com/toolpost/toolpost/schema"
	"github.com/toolpost/toolpost/usage"
)

var five = object{"A": 2, "B": 3}

// TestConversation has thinking, parallel calls, results with an image and an
// error, and a follow-up, all in one CLI.
func TestConversation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, m := newWorld(t, nil, func(f *fake) {
			if got := f.prompt(); !slices.Equal(got, []string{"add"}) {
				t.Errorf("prompt %q", got)
			}
			f.call("toolu_1", "add", five) // a call may arrive before its message
			f.say("tool_use", object{"type": "thinking", "thinking": "hmm", "signature": "c2ln"}, text("I add."),
				use("toolu_1", "add", five), use("toolu_2", "add", five))
			f.call("toolu_2", "add", five)
			if got := f.answer("toolu_2"); got != "error: Error executing tool: no" {
				t.Errorf("the error is %q", got)
			}
			if got := f.answer("toolu_1"); got != `[{"text":"5","type":"text"},{"source":{"data":"cG5n","media_type":"image/png","type":"base64"},"type":"image"},{"source":{"data":"cGRm","media_type":"application/pdf","type":"base64"},"type":"document"}]` {
				t.Errorf("the result is %s", got)
			}
			f.say("end_turn", text("It is 5."))
			f.result("It is 5.", nil)
			if got := f.prompt(); !slices.Equal(got, []string{"thanks"}) {
				t.Errorf("prompt %q", got)
			}
			f.say("end_turn", text("Welcome."))
			f.result("Welcome.", nil)
		})
		r := &model.Request{System: "be brief", Tools: tools(t), Messages: []*model.Message{model.UserText("add")}}
		response, deltas := respond(t, m, r)
		if want := `0:thinking::hmm 1:text::I add. 2:tool_call:add: 2:tool_call:add:{"A":2,"B":3} 3:tool_call:add: 3:tool_call:add:{"A":2,"B":3}`; deltas != want {
			t.Errorf("deltas %s", deltas)
		}
		if response.Stop != model.StopCalls || response.ID != "msg_1" || response.Model != "claude-sonnet-9" || len(response.Losses) > 0 ||
			response.Usage != (usage.Tokens{Input: 10, CacheRead: 3, CacheWrite: 5, LongCacheWrite: 4, Output: 7}) {
			t.Errorf("response %+v", response)
		}
		parts := response.Message.Parts
		if len(parts) != 4 || string(parts[0].Raw) != `{"signature":"c2ln","thinking":"hmm","type":"thinking"}` || parts[0].Text != "hmm" ||
			parts[2].Name != "add" || string(parts[2].Arguments) != `{"A":2,"B":3}` || parts[2].ID != "toolu_1" || *parts[2].Origin != m.Origin() {
			t.Errorf("parts %+v", parts)
		}
		media := toolpost.NewResult(toolpost.Part{Type: "text", Text: "5"},
			toolpost.Part{Type: "image", MIMEType: "image/png", Data: []byte("png")}, toolpost.Part{Type: "resource", MIMEType: "application/pdf", Data: []byte("pdf")}).Message("toolu_1")
		r.Messages = append(r.Messages, assistant(response), results(media, toolpost.Failed.Resultf("no").Message("toolu_2")))
		response, _ = respond(t, m, r)
		if response.Stop != model.StopEnd || response.Message.Text() != "It is 5." || len(response.Losses) > 0 || response.Usage.Output != 7 {
			t.Errorf("response %+v", response)
		}
		r.Messages = append(r.Messages, assistant(response), model.UserText("thanks"))
		if response, _ = respond(t, m, r); response.Message.Text() != "Welcome." || len(response.Losses) > 0 {
			t.Errorf("response %+v", response)
		}
	})
}

// TestRestart: a history that no session has seen is sent as text.
func TestRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var prompt []string
		_, m := newWorld(t, nil, func(f *fake) {
			prompt = f.prompt()
			f.say("end_turn", text("Fine."))
			f.result("Fine.", nil)
		})
		r := &model.Request{Messages: []*model.Message{
			{Role: model.RoleUser, Parts: []model.Part{{Type: model.TypeText, Text: "see </conversation>\n{}"}, {Type: model.TypeImage, MIMEType: "image/png", Data: []byte("png")}}},
			{Role: model.RoleAssistant, Parts: []model.Part{{Type: model.TypeThinking, Text: "secret"}, {Type: model.TypeCall, ID: "c", Name: "add", Arguments: []byte(`{"A":1}`)}}},
			{Role: model.RoleUser, Parts: []model.Part{{Type: model.TypeResult, Result: toolpost.TextResult("1").Message("c")}, {Type: model.TypeText, Text: "go on"},
				{Type: model.TypeDocument, MIMEType: "text/plain", Name: "a.txt", Data: []byte("hi")}, {Type: model.TypeDocument, MIMEType: "application/zip", Data: []byte("zip")}}},
		}}
		response, _ := respond(t, m, r)
		var losses []string
		for _, l := range response.Losses {
			losses = append(losses, l.String())
		}
		if got, want := strings.Join(losses, "\n"), `message 0, part 0: it was sent as text: the CLI takes no earlier messages
message 0, part 1: it was attached to the prompt: the CLI takes no earlier messages
message 1, part 0: it was left out: the CLI takes no thinking of earlier messages
message 1, part 1: it was sent as text: the CLI takes no earlier messages
message 2, part 0: it was sent as text: the CLI takes no earlier messages
message 2, part 3: the CLI takes no application/zip; it was described in words`; got != want {
			t.Errorf("losses\n%s", got)
		}
		_, history, _ := strings.Cut(prompt[0], "\n\n")
		prompt[0] = history
		want := []string{`{"role":"user","text":"see </conversation>\n{}"}
{"role":"user","attachment":1}
{"role":"assistant","tool_call":"add","id":"c","arguments":{"A":1}}
{"role":"user","text":"1","result_of":"c"}
`, "Attachment 1:", `{"source":{"data":"cG5n","media_type":"image/png","type":"base64"},"type":"image"}`, "go on",
			`{"source":{"data":"hi","media_type":"text/plain","type":"text"},"title":"a.txt","type":"document"}`, "[application/zip document of 3 bytes, which cannot be shown to you]"}
		if !slices.Equal(prompt, want) {
			t.Errorf("prompt\n%s", strings.Join(prompt, "\n---\n"))
		}
	})
}

// answering answers n prompts.
func answering(n int) func(*fake) {
	return func(f *fake) {
		for range n {
			f.prompt()
			f.say("end_turn", text("ok"))
			f.result("ok", nil)
		}
	}
}

// TestChanges: a session is continued only if nothing has changed.
func TestChanges(t *testing.T) {
	for name, change := range map[string]func(r *model.Request){
		"the system prompt":  func(r *model.Request) { r.System = "another" },
		"the tools":          func(r *model.Request) { r.Tools = nil },
		"the effort":         func(r *model.Request) { r.Effort = "low" },
		"the limit":          func(r *model.Request) { r.MaxTokens = 5 },
		"an earlier message": func(r *model.Request) { r.Messages[0] = model.UserText("compacted") },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, m := newWorld(t, nil, answering(1), answering(1))
				r := &model.Request{Tools: tools(t), Messages: []*model.Message{model.UserText("hi")}}
				response, _ := respond(t, m, r)
				r.Messages = append(r.Messages, assistant(response), model.UserText("more"))
				change(r)
				if response, _ = respond(t, m, r); len(response.Losses) != 2 {
					t.Errorf("losses %v", response.Losses)
				}
			})
		})
	}
}

// TestLimits: sessions wait in limited number and time.
func TestLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, m := newWorld(t, &claudecli.Options{MaxSessions: 2, KeepFor: time.Minute}, answering(1), answering(1), answering(1))
		for range 3 {
			respond(t, m, &model.Request{Messages: []*model.Message{model.UserText("hi")}})
		}
		synctest.Wait()
		if n := w.running(); n != 2 {
			t.Errorf("%d sessions wait, want 2", n)
		}
		time.Sleep(59 * time.Second)
		synctest.Wait()
		if n := w.running(); n != 2 {
			t.Errorf("%d sessions wait, want 2", n)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if n := w.running(); n != 0 {
			t.Errorf("%d sessions wait, want none", n)
		}
	})
}

// TestDied: a session that ends while its calls wait is replaced.
func TestDied(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, m := newWorld(t, nil, func(f *fake) {
			f.prompt()
			f.say("tool_use", use("toolu_1", "add", five))
			f.failure = errExit
		}, answering(1))
		r := &model.Request{Tools: tools(t), Messages: []*model.Message{model.UserText("add")}}
		response, _ := respond(t, m, r)
		synctest.Wait()
		r.Messages = append(r.Messages, assistant(response), results(toolpost.TextResult("5").Message("toolu_1")))
		if response, _ = respond(t, m, r); response.Message.Text() != "ok" || len(response.Losses) != 3 {
			t.Errorf("response %+v", response)
		}
	})
}

// TestSteering: what the user adds to results reaches the model before them.
func TestSteering(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, m := newWorld(t, nil, func(f *fake) {
			f.prompt()
			f.say("tool_use", use("toolu_1", "add", five))
			f.call("toolu_1", "add", five)
			if got := f.prompt(); !slices.Equal(got, []string{"faster"}) {
				t.Errorf("prompt %q", got)
			}
			if got := f.answer("toolu_1"); got != `[{"text":"5","type":"text"},{"source":{"data":"cG5n","media_type":"image/png","type":"base64"},"type":"image"}]` {
				t.Errorf("the result is %s", got)
			}
			f.say("end_turn", text("ok"))
			f.result("ok", nil)
		})
		r := &model.Request{Tools: tools(t), Messages: []*model.Message{model.UserText("add")}}
		response, _ := respond(t, m, r)
		next := results(toolpost.TextResult("5").Message("toolu_1"))
		next.Parts = append(next.Parts, model.Part{Type: model.TypeText, Text: "faster"}, model.Part{Type: model.TypeImage, MIMEType: "image/png", Data: []byte("png")})
		r.Messages = append(r.Messages, assistant(response), next)
		if response, _ = respond(t, m, r); len(response.Losses) != 1 || response.Losses[0].Text != "the images and documents were sent with the result of a call" {
			t.Errorf("losses %v", response.Losses)
		}
	})
}

// TestInvalidCalls: a call of an unknown tool and one with invalid arguments are
// reported with the reason, and the others go on.
func TestInvalidCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, m := newWorld(t, nil, func(f *fake) {
			f.prompt()
			f.say("tool_use", use("toolu_1", "nosuch", five), use("toolu_2", "add", object{"A": "x"}))
			f.call("toolu_2", "add", object{"A": "x"})
			if got := f.answer("toolu_2"); !strings.HasPrefix(got, "error: ") || !strings.Contains(got, "A") {
				t.Errorf("the result is %s", got)
			}
			f.say("end_turn", text("ok"))
			f.result("ok", nil)
		})
		r := &model.Request{Tools: tools(t), Messages: []*model.Message{model.UserText("add")}}
		response, _ := respond(t, m, r)
		calls := response.Message.Calls()
		if len(calls) != 2 || calls[0].Name != "nosuch" || !strings.Contains(calls[0].Invalid, "no tool") || calls[1].Name != "add" || calls[1].Invalid == "" {
			t.Fatalf("calls %+v", calls)
		}
		r.Messages = append(r.Messages, assistant(response), results(toolpost.Failed.Resultf("%s", calls[0].Invalid).Message("toolu_1"),
			toolpost.Failed.Resultf("%s", calls[1].Invalid).Message("toolu_2")))
		if response, _ = respond(t, m, r); len(response.Losses) != 1 || !strings.Contains(response.Losses[0].Text, "no such tool") {
			t.Errorf("losses %v", response.Losses)
		}
	})
}

// TestNoCalls: calls are refused, and the model answers.
func TestNoCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, m := newWorld(t, nil, func(f *fake) {
			f.prompt()
			f.say("tool_use", use("toolu_1", "add", five))
			f.call("toolu_1", "add", five)
			if got := f.answer("toolu_1"); !strings.HasPrefix(got, "error: Tools cannot be called now") {
				t.Errorf("the result is %s", got)
			}
			f.say("end_turn", text("ok"))
			f.result("ok", nil)
		})
		response, deltas := respond(t, m, &model.Request{Tools: tools(t), NoCalls: true, Messages: []*model.Message{model.UserText("add")}})
		if deltas != "0:text::ok" || response.Stop != model.StopEnd || len(response.Message.Parts) != 1 || len(response.Losses) != 1 || response.Usage.Output != 14 {
			t.Errorf("%s: %+v", deltas, response)
		}
	})
}

// TestOutput: the model gives the output to a tool of the CLI.
func TestOutput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, m := newWorld(t, nil, func(f *fake) {
			if at(f.opening, "request", "jsonSchema") == nil {
				t.Errorf("the CLI is not given the schema: %v", f.opening)
			}
			f.prompt()
			f.say("tool_use", text("Here:"), object{"type": "tool_use", "id": "toolu_1", "name": "StructuredOutput", "input": object{"value": []int{1}}})
			f.result("", object{"structured_output": object{"value": []int{1}}})
		})
		output := schema.MustParse(`{"type":"array","items":{"type":"integer"}}`)
		response, deltas := respond(t, m, &model.Request{Output: output, Messages: []*model.Message{model.UserText("go")}})
		if deltas != "0:text::Here: 0:text::[1]" || response.Stop != model.StopEnd || response.Message.Text() != "[1]" {
			t.Errorf("%s: %+v", deltas, response)
		}
	})
}

// TestWrittenOutput: a model may write the output instead of calling the tool.
func TestWrittenOutput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, m := newWorld(t, nil, func(f *fake) {
			f.prompt()
			f.say("end_turn", text("[2]"))
			f.say("end_turn", text("As I said."))
			f.result("As I said.", nil)
		})
		response, _ := respond(t, m, &model.Request{Output: schema.MustParse(`{"type":"array"}`), Messages: []*model.Message{model.UserText("go")}})
		if response.Message.Text() != "[2]" {
			t.Errorf("%+v", response.Message)
		}
	})
}

// TestBroken: what came of a broken stream is void.
func TestBroken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, m := newWorld(t, nil, func(f *fake) {
			f.prompt()
			f.write(event(object{"type": "message_start", "message": object{"usage": counter}}))
			f.block(0, text("half"))
			f.write(object{"type": "system", "subtype": "api_retry", "attempt": 1, "retry_delay_ms": 10, "error_status": 529, "error": "overloaded"})
			f.write(event(object{"type": "message_start", "message": object{"usage": counter}}))
			f.block(0, text("half"))
			f.say("end_turn", text("whole"))
			f.result("whole", nil)
		})
		response, deltas := respond(t, m, &model.Request{Messages: []*model.Message{model.UserText("go")}})
		if want := "0:text::half restart(overloaded) 0:text::half restart(connection) 0:text::whole"; deltas != want || response.Message.Text() != "whole" || response.Usage.Output != 7 {
			t.Errorf("%s: %+v", deltas, response)
		}
	})
}

// TestStops: the CLI would go on after its limit of tokens and a refusal.
func TestStops(t *testing.T) {
	for reason, want := range map[string]model.StopReason{"max_tokens": model.StopLength, "refusal": model.StopRefusal} {
		t.Run(reason, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, m := newWorld(t, nil, func(f *fake) {
					f.prompt()
					f.say(reason, text("half"))
				})
				response, _ := respond(t, m, &model.Request{MaxTokens: 5, Messages: []*model.Message{model.UserText("go")}})
				if response.Stop != want || response.Message.Text() != "half" || (response.Refusal != "") != (want == model.StopRefusal) {
					t.Errorf("%+v", response)
				}
				if n := w.running(); n != 0 {
					t.Errorf("%d CLIs run", n)
				}
				if !slices.Contains(w.fakes[0].how.Env, "CLAUDE_CODE_MAX_OUTPUT_TOKENS=5") {
					t.Errorf("environment %q", w.fakes[0].how.Env)
				}
			})
		})
	}
}

// TestUnstreamed reads whole messages of a CLI that does not stream.
func TestUnstreamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, m := newWorld(t, nil, func(f *fake) {
			f.prompt()
			f.write(frame(text("one")), frame(text("two")))
			f.result("one\ntwo", nil)
		})
		response, deltas := respond(t, m, &model.Request{Messages: []*model.Message{model.UserText("go")}})
		if deltas != "0:text::one 1:text::two" || len(response.Message.Parts) != 2 || response.Usage.Input != 10 {
			t.Errorf("%s: %+v", deltas, response)
		}
	})
}

// TestFlags: the CLI has no tools and no settings of its own.
func TestFlags(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, m := newWorld(t, &claudecli.Options{CLI: &claude.Options{Tools: []string{"Bash"}, ClaudeCodePrompt: true, Args: []string{"--debug"}}}, answering(1))
		respond(t, m, &model.Request{System: "be brief", Effort: "none", Messages: []*model.Message{model.UserText("go")}})
		args := w.fakes[0].how.Args
		for _, want := range []string{"--tools=", "--setting-sources=", "--strict-mcp-config", "--no-session-persistence", "--include-partial-messages", "--model=sonnet", "--thinking=disabled", "--debug"} {
			if !slices.Contains(args, want) {
				t.Errorf("the arguments are %q, without %s", args, want)
			}
		}
		if system := at(w.fakes[0].opening, "request", "systemPrompt"); len(system.([]any)) != 1 || system.([]any)[0] != "be brief" {
			t.Errorf("the system prompt is %v", system)
		}
	})
}

// TestAdapted: the CLI sees another form of a tool, and the agent only its own.
func TestAdapted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set, err := toolpost.NewSet(t.Context(), toolpost.Tools{{
			Definition: toolpost.Definition{Name: "my.tool", Input: schema.MustParse(`{"type":"object","properties":{"größe":{"type":"integer"}},"required":["größe"]}`)},
			Handler:    func(context.Context, *toolpost.Call) (*toolpost.Result, error) { panic("the agent runs tools") },
		}})
		if err != nil {
			t.Fatal(err)
		}
		_, m := newWorld(t, nil, func(f *fake) {
			f.prompt()
			listed, _ := at(f.opening, "request", "sdkMcpServerManifests", "tools", "toolsListResult", "tools").([]any)
			required, _ := at(listed[0], "inputSchema", "required").([]any)
			if len(listed) != 1 || required[0] == "größe" || at(listed[0], "annotations", "readOnlyHint") != true {
				t.Errorf("the tools are %v", listed)
			}
			input := object{required[0].(string): 5}
			name := at(listed[0], "name").(string)
			f.say("tool_use", use("toolu_1", strings.ReplaceAll(name, ".", "_"), input)) // as the CLI names it
			f.call("toolu_1", name, input)
			if got := f.answer("toolu_1"); got != "big" {
				t.Errorf("the result is %s", got)
			}
			f.say("end_turn", text("ok"))
			f.result("ok", nil)
		})
		r := &model.Request{Tools: set, Messages: []*model.Message{model.UserText("go")}}
		response, _ := respond(t, m, r)
		if call := response.Message.Calls()[0]; call.Name != "my.tool" || string(call.Arguments) != `{"größe":5}` || call.Invalid != "" {
			t.Errorf("call %+v", call)
		}
		r.Messages = append(r.Messages, assistant(response), results(toolpost.TextResult("big").Message("toolu_1")))
		if response, _ = respond(t, m, r); len(response.Losses) > 0 {
			t.Errorf("losses %v", response.Losses)
		}
	})
}
