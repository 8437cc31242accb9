package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// An api speaks OpenAI's Chat Completions. What it answers depends on the
// conversation only, so a run that starts again gets the same answers.
type api struct {
	*httptest.Server

	mu       sync.Mutex
	requests int
	schema   string // where the schema of the answer was
}

// The tokens of every request.
const (
	promptTokens = 1000
	answerTokens = 100
)

type object = map[string]any

type chatCall struct {
	ID       string
	Function struct{ Name, Arguments string }
}

type chatMessage struct {
	Role       string
	Content    json.RawMessage
	ToolCalls  []chatCall `json:"tool_calls"`
	ToolCallID string     `json:"tool_call_id"`
}

type chatRequest struct {
	Messages       []chatMessage
	Stream         bool
	ResponseFormat struct{ Type string } `json:"response_format"`
}

func newAPI() *api {
	a := &api{}
	a.Server = httptest.NewServer(a)
	return a
}

func (a *api) url() string { return a.URL + "/v1" }

// seen returns how many requests there were, and where the schema of the answer
// was in them.
func (a *api) seen() (requests int, schema string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.requests, a.schema
}

func (a *api) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var in chatRequest
	body, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(body, &in)
	}
	if err != nil || len(in.Messages) == 0 || !strings.HasSuffix(r.URL.Path, "/chat/completions") {
		http.Error(w, fmt.Sprintf("%s %s: %v", r.Method, r.URL.Path, err), http.StatusBadRequest)
		return
	}
	a.mu.Lock()
	a.requests++
	id := a.requests
	switch {
	case in.ResponseFormat.Type == "json_schema":
		a.schema = "`response_format`"
	case a.schema == "" && strings.Contains(string(body), "reorder"): // a member of the answer
		a.schema = "text of the prompt"
	}
	a.mu.Unlock()
	message := in.answer(id)
	reason := "stop"
	if message["tool_calls"] != nil {
		reason = "tool_calls"
	}
	out := object{"id": fmt.Sprint("chatcmpl-", id), "created": 1764000000, "model": modelName,
		"usage": object{"prompt_tokens": promptTokens, "completion_tokens": answerTokens, "total_tokens": promptTokens + answerTokens}}
	choice := object{"index": 0, "finish_reason": reason}
	out["choices"] = []object{choice}
	if !in.Stream {
		out["object"], choice["message"] = "chat.completion", message
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(out) // the client may be killed
		return
	}
	out["object"], choice["delta"] = "chat.completion.chunk", message
	data, err := json.Marshal(out)
	if err != nil {
		panic(err)
	}
	w.Header().Set("Content-Type", "text/event-stream")
	fmt.Fprintf(w, "data: %s\n\ndata: [DONE]\n\n", data)
}

// answer plays the model: it returns the next message of the conversation.
func (r *chatRequest) answer(id int) object {
	task, name, result := r.last()
	switch {
	case strings.Contains(task, parallelPrompt):
		if name == "" {
			return calls(id, "weather", `{"city":"Oslo"}`, "people", `{"city":"Oslo"}`)
		}
		return says(parallelAnswer)
	case strings.Contains(task, structuredPrompt):
		if name == "" {
			return calls(id, "stock", `{"item":"bolt"}`)
		}
		return says(`{"item":"bolt","count":42,"reorder":true}`)
	}
	next := 1
	switch {
	case name == "append_line" && strings.Contains(result, appended):
		next = r.lastLine() + 1
	case name == "append_line":
		return calls(id, "read_lines", `{}`) // as a careful model does
	case name == "read_lines":
		next = largest(result) + 1
	}
	if next > 4 {
		return says(crashAnswer)
	}
	return calls(id, "append_line", fmt.Sprintf(`{"text":"%d"}`, next))
}

const (
	parallelAnswer   = "It is 12 degrees in Oslo, where 717710 people live."
	structuredAnswer = "{Item:bolt Count:42 Reorder:true}"
	crashAnswer      = "All four lines are there."
)

// last returns the user's text, and the name and the result of the last call.
func (r *chatRequest) last() (task, name, result string) {
	names := map[string]string{}
	for _, m := range r.Messages {
		for _, c := range m.ToolCalls {
			names[c.ID] = c.Function.Name
		}
		switch m.Role {
		case "user":
			task, name, result = string(m.Content), "", ""
		case "tool":
			name, result = names[m.ToolCallID], string(m.Content)
		}
	}
	return task, name, result
}

// lastLine returns the number that the model appended last.
func (r *chatRequest) lastLine() int {
	line := 0
	for _, m := range r.Messages {
		for _, c := range m.ToolCalls {
			if c.Function.Name == "append_line" {
				line = largest(c.Function.Arguments)
			}
		}
	}
	return line
}

var digits = regexp.MustCompile(`[0-9]+`)

func largest(text string) int {
	most := 0
	for _, d := range digits.FindAllString(text, -1) {
		if n, err := strconv.Atoi(d); err == nil {
			most = max(most, n)
		}
	}
	return most
}

func says(text string) object { return object{"role": "assistant", "content": text} }

// calls returns a message with calls: a name and arguments each.
func calls(id int, namesAndArguments ...string) object {
	var all []object
	for i := 0; i < len(namesAndArguments); i += 2 {
		all = append(all, object{"index": i / 2, "id": fmt.Sprintf("call_%d_%d", id, i/2), "type": "function",
			"function": object{"name": namesAndArguments[i], "arguments": namesAndArguments[i+1]}})
	}
	return object{"role": "assistant", "content": nil, "tool_calls": all}
}
