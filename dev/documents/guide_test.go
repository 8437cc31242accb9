package documents_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/agent"
	"github.com/toolpost/toolpost/dep"
	"github.com/toolpost/toolpost/mcpserver"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/anthropic"
	"github.com/toolpost/toolpost/model/gemini"
	"github.com/toolpost/toolpost/serve"
	"github.com/toolpost/toolpost/tooltest"
	"github.com/toolpost/toolpost/usage"
)

// The Go of docs/agent.md, docs/model.md and docs/library.md. It is compiled, and not run:
// it needs keys and a database.
var _ = []any{runAgent, keepSteps, askModel, defineTool, needDatabase, replaceDatabase, addFeatures, moveNote, logCalls, authenticate}

func runAgent(ctx context.Context, tools toolpost.Toolset) (any, error) {
	m := anthropic.New("claude-sonnet-5-5", nil) // or openai.New, openai.NewChat, gemini.New, claudecli.New
	a := agent.New(m, tools, &agent.Options{Limits: agent.Limits{Turns: 50, Cost: 2 * usage.Dollar}})

	s, err := agent.OpenSession("task.jsonl") // or agent.NewSession()
	if err != nil {
		return nil, err
	}
	result, err := a.Do(ctx, s, model.Text("Fix the failing test."))
	return result, err
}

func keepSteps(o *agent.Options, engine interface {
	Run(context.Context, string, func(context.Context) (json.RawMessage, error)) (json.RawMessage, error)
}) {
	o.Step = func(ctx context.Context, name string, do func(context.Context) (json.RawMessage, error)) (json.RawMessage, error) {
		return engine.Run(ctx, name, do) // stores the JSON, or returns the stored one
	}
}

func askModel(ctx context.Context, set *toolpost.Set) error {
	m := gemini.New("gemini-3-pro-preview", nil) // the key is in GEMINI_API_KEY
	request := &model.Request{Messages: []*model.Message{model.UserText("How is the weather in Oslo?")}, Tools: set}
	for delta, err := range model.Retry(m, nil).Stream(ctx, request) {
		if err != nil {
			return err
		}
		fmt.Print(delta.Text) // a piece of the answer; the last delta has the whole Response
	}
	return nil
}

func authenticate(findUser func(cookie string) (user, profile string, err error)) *serve.Options {
	options := &serve.Options{
		Origins: []string{"https://app.example.com"},
		Authenticate: func(r *http.Request) (user, profile string, err error) {
			cookie, err := r.Cookie("session")
			if err != nil {
				return "", "", err
			}
			return findUser(cookie.Value)
		},
	}
	return options
}

type place struct {
	City string `json:"city" desc:"Its name, in any language."`
	Days int    `json:"days,omitempty" min:"1" max:"7"`
}

func defineTool(forecast func(context.Context, place) (string, error)) toolpost.Toolset {
	weather := toolpost.New("weather", "Returns the weather of a city.",
		func(ctx context.Context, in place) (string, error) { return forecast(ctx, in) }, nil)
	return toolpost.Tools{weather}
}

type item struct{ Item string }

var shop = dep.New("shop", dep.PerProcess, func(ctx context.Context) (*sql.DB, error) {
	return sql.Open("pgx", os.Getenv("SHOP"))
})

func needDatabase(ctx context.Context) {
	price := toolpost.New("price", "Returns a price.", func(ctx context.Context, in item) (int, error) {
		db, err := shop.Get(ctx)
		if err != nil {
			return 0, err
		}
		return queryPrice(ctx, db, in.Item)
	}, nil)

	scope := new(dep.Scope).Open(ctx, dep.PerProcess)
	defer scope.Close()
	_, _ = scope, price
}

func queryPrice(context.Context, *sql.DB, string) (int, error) { return 0, nil }

func replaceDatabase(t *testing.T, testDB *sql.DB, price *toolpost.Tool) (string, bool) {
	text, isError := tooltest.Call(shop.With(t.Context(), testDB), t, toolpost.Tools{price}, "price", `{"item":"tea"}`)
	return text, isError
}

type paths struct{ From, To string }

func moveNote(exists func(string) bool, rename func(from, to string) error) *toolpost.Tool {
	move := toolpost.New("move", "Moves a note to another folder.", func(ctx context.Context, in paths) (string, error) {
		if !exists(in.From) {
			return "", toolpost.Retry.Errorf("there is no note %q; list the notes first", in.From)
		}
		call := toolpost.CallFrom(ctx)
		var answer struct{ Action string }
		question := map[string]any{"message": "Move " + in.From + "?", "requestedSchema": map[string]any{"type": "object", "properties": map[string]any{}}}
		switch err := call.Ask(ctx, "elicitation/create", question, &answer); {
		case errors.Is(err, toolpost.ErrNoCaller): // this client asks nobody
		case err != nil:
			return "", err
		case answer.Action != "accept":
			return "", toolpost.Denied.Errorf("the user does not want it")
		}
		_ = call.Progress(ctx, 1, 2, "moving")      // for clients that asked for it
		_ = call.Log(ctx, "info", "notes", in.From) // for clients that show logs
		return "moved", rename(in.From, in.To)
	}, nil)
	return move
}

func logCalls(tools toolpost.Toolset) toolpost.Toolset {
	logged := toolpost.Wrap(tools, func(next toolpost.Handler) toolpost.Handler {
		return func(ctx context.Context, call *toolpost.Call) (*toolpost.Result, error) {
			start := time.Now()
			result, err := next(ctx, call)
			slog.InfoContext(ctx, "call", "tool", call.Name, "session", call.Session, "time", time.Since(start), "err", err)
			return result, err
		}
	})
	return logged
}

type review struct {
	File string `json:"file" desc:"Path of the file."`
}

func addFeatures(ctx context.Context, tools toolpost.Toolset, readNote func(string) (string, error)) (any, error) {
	prompt := toolpost.NewPrompt("review", func(ctx context.Context, in review) (string, error) {
		return "Read " + in.File + " and list its mistakes.", nil
	}, &toolpost.FeatureOptions{Description: "Reviews a file."})

	note := toolpost.NewResource("note://{name}", "note", func(ctx context.Context, uri string) (string, error) {
		return readNote(uri) // toolpost.ErrNotFound if there is none
	}, nil)

	server, err := mcpserver.New(ctx, toolpost.Join(tools, &toolpost.Features{
		Prompts:   []*toolpost.Prompt{prompt},
		Resources: []*toolpost.Resource{note},
	}), nil)
	return server, err
}
