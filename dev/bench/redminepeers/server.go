package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/schema/dialect"
	"github.com/toolpost/toolpost/upstream"
)

// A server is one that is compared: how it is started, and the calls that list
// 100 issues, with all columns and with few.
type server struct {
	name        string
	command     string
	args        []string
	groups      []string // further arguments for the everyday tools, if there is a way
	env         map[string]string
	list, short string

	dir      string
	sessions map[string]*session // by account
}

type session struct {
	*upstream.Upstream
	set *toolpost.Set
}

// servers returns ours and then the peers, in the order of the calls of a task.
func servers(toolpost, cache string) []*server {
	python := func(folder string) string { return filepath.Join(cache, "pypi-"+folder, "bin", "python") }
	return []*server{
		{
			name: "`toolpost redmine`", command: toolpost, args: []string{"redmine"}, groups: []string{"--group", "issues,time"},
			list: `list_issues {"project_id":"alpha","status_id":"*","limit":100}`,
		},
		{
			name: "`redmine-mcp-server` 2.19.0", command: python("redmine-mcp-server-2.19.0"), args: []string{"-m", "redmine_mcp_server.main"},
			env:   map[string]string{"REDMINE_MCP_TRANSPORT": "stdio"},
			list:  `list_redmine_issues {"project_id":"alpha","status_id":"*","limit":100}`,
			short: `list_redmine_issues {"project_id":"alpha","status_id":"*","limit":100,"fields":["id","subject","status","assigned_to","updated_on"]}`,
		},
		{
			name: "`mcp-redmine-rest` 1.0.3", command: python("mcp-redmine-rest-1.0.3"), args: []string{"-m", "mcp_redmine"},
			list: `list_issues {"project_identifier":"alpha","status":"*","limit":100}`,
		},
		{
			name: "`mcp-redmine` 2026.10.15", command: python("mcp-redmine-2026.10.15.204909"), args: []string{"-m", "mcp_redmine.server"},
			list: `redmine_request {"path":"/issues.json","params":{"project_id":"alpha","status_id":"*","limit":100}}`,
		},
	}
}

// start starts the server for the account with a login.
func (s *server) start(ctx context.Context, login string, more []string) (*session, error) {
	key := os.Getenv("REDMINE_API_KEY_" + strings.ToUpper(login))
	if login == wrongKey {
		key = "0123456789abcdef0123456789abcdef01234567"
	} else if key == "" {
		return nil, fmt.Errorf("REDMINE_API_KEY_%s is empty", strings.ToUpper(login))
	}
	env := map[string]string{"REDMINE_URL": os.Getenv("REDMINE_URL"), "REDMINE_API_KEY": key, "HOME": s.dir}
	for name, value := range s.env {
		env[name] = value
	}
	u, err := upstream.Start(&upstream.Config{
		Name: s.name, Command: s.command, Args: append(s.args[:len(s.args):len(s.args)], more...), Env: env, Dir: s.dir,
		ConnectTimeout: time.Minute, CallTimeout: time.Minute,
	}, nil)
	if err != nil {
		return nil, err
	}
	ready, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if err := u.Ready(ready); err != nil {
		u.Close()
		return nil, err
	}
	set, err := toolpost.NewSet(ctx, u)
	if err != nil {
		u.Close()
		return nil, err
	}
	return &session{u, set}, nil
}

// definitions returns how many tools the server offers, and their tokens.
func (s *server) definitions(ctx context.Context, more []string) (count, cost int, err error) {
	session, err := s.start(ctx, "alice", more)
	if err != nil {
		return 0, 0, err
	}
	defer session.Close()
	tools, err := session.set.Tools(ctx)
	if err != nil {
		return 0, 0, err
	}
	for _, t := range tools {
		count++
		cost += dialect.Tokens(t)
	}
	return count, cost, nil
}

// An answer is the result of a call.
type answer struct {
	text   string
	whole  int // tokens
	failed bool
}

// call makes a call such as `list_issues {"limit":1}` as an account.
func (s *server) call(ctx context.Context, login, call string) (answer, error) {
	if s.sessions == nil {
		s.sessions = map[string]*session{}
	}
	to := s.sessions[login]
	if to == nil {
		var err error
		if to, err = s.start(ctx, login, nil); err != nil {
			return answer{}, err
		}
		s.sessions[login] = to
	}
	tool, arguments, _ := strings.Cut(call, " ")
	r, err := to.set.Call(ctx, &toolpost.Call{Name: tool, Arguments: json.RawMessage(arguments)})
	if err != nil {
		return answer{}, fmt.Errorf("%s: %w", tool, err)
	}
	raw, err := r.MarshalJSON()
	if err != nil {
		return answer{}, err
	}
	var text strings.Builder
	for _, p := range r.Parts() {
		text.WriteString(p.Text)
	}
	return answer{text.String(), tokens(string(raw)), r.IsError()}, nil
}

func (s *server) close() {
	for _, session := range s.sessions {
		session.Close()
	}
}
