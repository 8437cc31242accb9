package main

import (
	"fmt"
	"net/http"
	"strings"
	"time"
)

// A scenario is one run of the CLI with one library.
type scenario struct {
	name  string
	label string
	tools bool     // the tool add is served
	agent bool     // the CLI's own tool for sub-agents is there
	env   []string // of the CLI
	path  bool     // the CLI is not in PATH: it is named by the option
	alien bool     // the CLI also writes a message of a type that nobody knows
	model func(*request)
	check func(*outcome, *api) string // what is wrong, "" if nothing
}

// An outcome is what a library made of a run.
type outcome struct {
	Began  time.Time // when the library was called
	Text   string    // of the last result
	Err    string    // what the library returned as an error
	Calls  int       // of the tool
	AtOnce int       // calls that ran at the same time
}

const (
	addTool = "mcp__tools__add"
	sum     = `{"a":2,"b":3}`
	rounds  = 10
)

var big = strings.Repeat("0123456789ab", 100_000)

func scenarios() []*scenario {
	return []*scenario{
		{name: "text", label: "text", model: func(r *request) { r.say("Hello.") }, check: says("Hello.")},
		{name: "tool", label: "tool in this process", tools: true, model: adding(1, 1), check: added(1)},
		{name: "parallel", label: "2 read-only tools at once", tools: true, model: adding(1, 2), check: func(o *outcome, a *api) string {
			if o.Calls == 2 && o.AtOnce < 2 {
				return "one after the other"
			}
			return added(2)(o, a)
		}},
		{name: "limit", label: "`rate_limit_event`", env: []string{"CLAUDE_CODE_OAUTH_TOKEN=sk-ant-oat01-dummy", "ANTHROPIC_API_KEY="},
			model: limited, check: says("Hello.")},
		{name: "search", label: "`server_tool_use` block", model: searching, check: says("Found.")},
		{name: "big", label: "answer of 1.2 MB", model: func(r *request) { r.say(big) }, check: says(big)},
		{name: "agent", label: "background sub-agent calls a tool", tools: true, agent: true, model: delegating, check: delegated},
		{name: "error", label: "API 400 is an error", model: refusing, check: func(o *outcome, _ *api) string {
			if o.Err == "" {
				return "no error"
			}
			return ""
		}},
		{name: "path", label: "option for the CLI's path", path: true, model: func(r *request) { r.say("Hello.") }, check: says("Hello.")},
		{name: "alien", label: "message of an unknown type", alien: true, model: func(r *request) { r.say("Hello.") }, check: says("Hello.")},
	}
}

// timing is the run that is measured.
func timing() *scenario {
	return &scenario{name: "timing", tools: true, model: adding(rounds, 1), check: added(rounds)}
}

func says(want string) func(*outcome, *api) string {
	return func(o *outcome, _ *api) string {
		switch {
		case o.Err != "":
			return "error: " + o.Err
		case o.Text == want:
			return ""
		case len(o.Text) > 50 || o.Text == "":
			return fmt.Sprintf("%d bytes", len(o.Text))
		}
		return fmt.Sprintf("%q", o.Text)
	}
}

// adding calls the tool several times, some at once, and then says so.
func adding(times, atOnce int) func(*request) {
	return func(r *request) {
		if r.results() < times*atOnce {
			r.call(atOnce, addTool, sum)
			return
		}
		r.say("It is 5.")
	}
}

func added(calls int) func(*outcome, *api) string {
	return func(o *outcome, a *api) string {
		switch {
		case o.Calls != calls:
			return fmt.Sprintf("%d of %d calls", o.Calls, calls)
		case !a.saw(`"text":"5`):
			return "the model did not see the result"
		}
		return says("It is 5.")(o, a)
	}
}

// limited answers as the API does to a subscriber who has used most of a limit.
func limited(r *request) {
	h := r.w.Header()
	reset := fmt.Sprint(time.Now().Add(time.Hour).Unix())
	for name, value := range map[string]string{
		"status": "allowed_warning", "reset": reset, "representative-claim": "five_hour",
		"5h-status": "allowed_warning", "5h-reset": reset, "5h-utilization": "0.92", "5h-surpassed-threshold": "0.9",
	} {
		h.Set("anthropic-ratelimit-unified-"+name, value)
	}
	r.say("Hello.")
}

// searching uses a tool that the API runs itself.
func searching(r *request) {
	r.begin()
	r.block(object{"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": object{}},
		object{"type": "input_json_delta", "partial_json": `{"query":"go"}`})
	r.block(object{"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []object{{
		"type": "web_search_result", "url": "https://go.dev", "title": "Go", "encrypted_content": "eA==", "page_age": nil}}})
	r.text("Found.")
	r.end("end_turn")
}

const task = "SUBTASK: add 2 and 3"

// delegating has a sub-agent that calls the tool when the main agent is done.
func delegating(r *request) {
	switch {
	case r.about(task) && r.results() == 0:
		time.Sleep(1500 * time.Millisecond) // the main agent is done before
		r.call(1, addTool, sum)
	case r.about(task):
		r.say("The sum is 5.")
	case r.results() == 0:
		r.call(1, "Agent", `{"description":"add","prompt":"`+task+`","subagent_type":"general-purpose"}`)
	case r.has("task-notification"):
		r.say("All is done.")
	default:
		r.say("Launched.")
	}
}

func delegated(o *outcome, a *api) string {
	switch {
	case o.Err != "":
		return "error: " + o.Err
	case !a.saw(`"tool_use_id":"`) || !a.saw(task):
		return "no sub-agent"
	case o.Calls == 0:
		return "the call is lost"
	case !a.saw(`"text":"5`):
		return "the result is lost"
	case o.Text != "All is done.":
		return fmt.Sprintf("ended early: %q", o.Text)
	}
	return ""
}

func refusing(r *request) {
	r.w.Header().Set("Content-Type", "application/json")
	r.w.WriteHeader(http.StatusBadRequest)
	fmt.Fprint(r.w, `{"type":"error","error":{"type":"invalid_request_error","message":"the request is wrong"}}`)
}
