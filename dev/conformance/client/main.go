// Client is the command under test of the official conformance suite's client
// scenarios (https://github.com/modelcontextprotocol/conformance). It connects
// to the address in its last argument and does what the scenario asks for.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"os"
	"strings"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/upstream"
)

func main() {
	log.SetFlags(0)
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

// stateless is the first version of MCP without sessions.
const stateless = "2026-07-28"

func run() error {
	name := os.Getenv("MCP_CONFORMANCE_SCENARIO")
	play, ok := scenarios()[name]
	if strings.HasPrefix(name, "auth/") {
		play, ok = remainingWithLogin, true
	}
	if !ok || len(os.Args) < 2 {
		return fmt.Errorf("scenario %q is not known; usage: MCP_CONFORMANCE_SCENARIO=NAME client URL", name)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	cfg := &upstream.Config{Name: "conformance", URL: os.Args[len(os.Args)-1], Transport: upstream.HTTP}
	if version := os.Getenv("MCP_CONFORMANCE_PROTOCOL_VERSION"); version == stateless {
		cfg.ProtocolVersion = version // else sessions are tried first
	}
	var user *user
	if strings.HasPrefix(name, "auth/") {
		var err error
		if user, err = newUser(ctx, cfg); err != nil {
			return err
		}
		defer user.forget()
	}
	u, err := user.connect(ctx, cfg)
	if err != nil {
		return err
	}
	defer u.Close()
	set, err := toolpost.NewSet(ctx, u)
	if err != nil {
		return err
	}
	return play(&scene{ctx, u, set, user})
}

// A scene is what a scenario plays in.
type scene struct {
	ctx context.Context
	u   *upstream.Upstream
	set *toolpost.Set

	user *user // nil where no login is needed
}

func scenarios() map[string]func(*scene) error {
	connect := func(*scene) error { return nil }
	return map[string]func(*scene) error{
		"initialize":                          connect,
		"request-metadata":                    connect,
		"json-schema-ref-no-deref":            connect,
		"tools_call":                          func(s *scene) error { return s.call("add_numbers", `{"a":5,"b":3}`) },
		"sse-retry":                           func(s *scene) error { return s.call("test_reconnection", `{}`) },
		"elicitation-sep1034-client-defaults": func(s *scene) error { return s.call("test_client_elicitation_defaults", `{}`) },
		"json-schema-2020-12-preservation":    echoSchema,
		"sep-2322-client-request-state":       multiRound,
		"http-standard-headers":               everything,
		"http-custom-headers":                 calls,
		"http-invalid-tool-headers":           remaining,
	}
}

func (s *scene) call(name, arguments string) error {
	r, err := s.set.Call(s.ctx, &toolpost.Call{Name: name, Arguments: json.RawMessage(arguments), Caller: person{}})
	if err != nil {
		return fmt.Errorf("call %s: %w", name, err)
	}
	if text, _ := r.FirstText(); r.IsError() {
		return fmt.Errorf("call %s: %s", name, text)
	}
	return nil
}

// try is call where a call may be refused: that is only logged.
func (s *scene) try(name, arguments string) { note(s.call(name, arguments)) }

func note(err error) {
	if err != nil {
		log.Print(err)
	}
}

func echoSchema(s *scene) error {
	t := s.set.Lookup("json_schema_2020_12_tool")
	if t == nil {
		return errors.New("json_schema_2020_12_tool is not listed")
	}
	return s.call("json_schema_echo", `{"schema":`+string(t.Input.Raw())+`}`)
}

func multiRound(s *scene) error {
	for _, name := range []string{"test_mrtr_echo_state", "test_mrtr_no_state", "test_mrtr_unrelated", "test_mrtr_no_result_type"} {
		s.try(name, `{}`)
	}
	return nil
}

func everything(s *scene) error {
	if tools, _ := s.set.Tools(s.ctx); len(tools) > 0 {
		s.try(tools[0].Name, `{}`)
	}
	f := s.u.Features()
	if len(f.Resources) > 0 {
		_, err := f.Resources[0].Read(s.ctx, &toolpost.Call{Name: f.Resources[0].URI})
		note(err)
	}
	if len(f.Prompts) > 0 {
		_, err := f.Prompts[0].Get(s.ctx, &toolpost.Call{Name: f.Prompts[0].Name, Arguments: json.RawMessage(`{}`)})
		note(err)
	}
	return nil
}

// calls makes the calls that the suite asks for.
func calls(s *scene) error {
	var wanted struct {
		ToolCalls []struct {
			Name      string          `json:"name"`
			Arguments json.RawMessage `json:"arguments"`
		} `json:"toolCalls"`
	}
	if err := json.Unmarshal([]byte(os.Getenv("MCP_CONFORMANCE_CONTEXT")), &wanted); err != nil {
		return fmt.Errorf("read MCP_CONFORMANCE_CONTEXT: %w", err)
	}
	for _, c := range wanted.ToolCalls {
		s.try(c.Name, string(c.Arguments))
	}
	return nil
}

// remaining calls every tool that was not left out.
func remaining(s *scene) error {
	tools, _ := s.set.Tools(s.ctx)
	for _, t := range tools {
		s.try(t.Name, `{"region":"us-west1"}`)
	}
	return nil
}

// A person answers what servers ask for: yes, with the defaults.
type person struct{}

// Notify hears nothing.
func (person) Notify(context.Context, string, json.RawMessage) error { return nil }

// Request accepts elicitation and refuses the rest.
func (person) Request(_ context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	if method != "elicitation/create" {
		return nil, fmt.Errorf("%s: %w", method, toolpost.ErrNoCaller)
	}
	var asked struct {
		Schema struct {
			Properties map[string]struct {
				Type    string          `json:"type"`
				Default json.RawMessage `json:"default"`
			} `json:"properties"`
		} `json:"requestedSchema"`
	}
	if err := json.Unmarshal(params, &asked); err != nil {
		return nil, fmt.Errorf("read what is asked for: %w", err)
	}
	content := map[string]json.RawMessage{}
	for name, p := range asked.Schema.Properties {
		switch {
		case p.Default != nil:
			content[name] = p.Default
		case p.Type == "boolean":
			content[name] = json.RawMessage("true")
		}
	}
	return json.Marshal(map[string]any{"action": "accept", "content": content})
}
