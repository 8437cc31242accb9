package gemini

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"strings"
	"time"

	"google.golang.org/genai"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/dialect"
	"github.com/toolpost/toolpost/internal/secret"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/internal/provider"
)

// Options are the optional parts of [New].
type Options struct {
	APIKey     string       // instead of GOOGLE_API_KEY or GEMINI_API_KEY of the environment; required with BaseURL
	BaseURL    string       // of the API; Google's own if empty
	HTTPClient *http.Client // its Timeout is that of a whole response

	// Project and Location select Vertex AI. The credentials are Google's
	// default ones; if HTTPClient is set, it must add them itself.
	Project, Location string

	// Dialect is that of tools and structured output; "gemini" if nil.
	Dialect *dialect.Dialect
}

// A generator is a model of Google.
type generator struct {
	origin  model.Origin
	client  *genai.Client
	timeout time.Duration            // of a whole response; 0 for none
	hide    func(text string) string // replaces credentials
	dialect *dialect.Dialect
	rules   rules

	toolsets provider.Cache[toolpost.Set, *toolset]
}

// New opens a model, such as "gemini-3-pro-preview". It sends nothing.
func New(name string, opts *Options) (model.Model, error) {
	if opts == nil {
		opts = new(Options)
	}
	if opts.BaseURL != "" && opts.APIKey == "" && opts.Project == "" && opts.Location == "" {
		return nil, fmt.Errorf("open Gemini model %q: Options.BaseURL names another server, which gets no key of the environment; set Options.APIKey", name)
	}
	config := &genai.ClientConfig{APIKey: opts.APIKey, Project: opts.Project, Location: opts.Location,
		HTTPOptions: genai.HTTPOptions{BaseURL: opts.BaseURL}}
	if opts.Project != "" || opts.Location != "" {
		config.Backend = genai.BackendVertexAI
	}
	if opts.HTTPClient != nil {
		own := *opts.HTTPClient
		config.HTTPClient = &own
	}
	if opts.Dialect == nil {
		d, err := dialect.Find(dialectID)
		if err != nil {
			return nil, err
		}
		own := *opts
		own.Dialect, opts = d, &own
	}
	client, err := genai.NewClient(context.Background(), config)
	if err != nil {
		return nil, openError(name, err)
	}
	used := client.ClientConfig()
	g := &generator{
		origin:  model.Origin{Provider: "gemini", API: "generate", Model: name},
		client:  client,
		timeout: used.HTTPClient.Timeout,
		dialect: opts.Dialect,
		rules:   rulesOf(name),
		hide:    secret.Hider(slices.Concat([]string{used.APIKey}, secret.InURL(used.HTTPOptions.BaseURL)), secret.RedactText),
	}
	intercept(used.HTTPClient)
	return g, nil
}

// openError leaves out the configuration that the SDK adds to its errors, because
// it contains the API key.
func openError(name string, err error) error {
	text, _, _ := strings.Cut(err.Error(), " ClientConfig:")
	return fmt.Errorf("open Gemini model %q: %w Set GEMINI_API_KEY or Options.APIKey, or the project and location of Vertex AI",
		name, errors.New(strings.TrimRight(text, ".:")+"."))
}

// Origin implements [model.Model].
func (g *generator) Origin() model.Origin { return g.origin }

// Check implements [model.Model].
func (g *generator) Check(r *model.Request) error {
	_, err := g.prepare(r)
	return err
}

// Stream implements [model.Model].
func (g *generator) Stream(ctx context.Context, r *model.Request) iter.Seq2[*model.Delta, error] {
	return provider.Limit(g.origin, func(yield func(*model.Delta, error) bool) {
		p, err := g.prepare(r)
		if err != nil {
			yield(nil, &model.Error{Origin: g.origin, Kind: model.KindInvalid, Err: err})
			return
		}
		if g.timeout > 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, g.timeout)
			defer cancel()
		}
		body, failed := g.send(ctx, p.body)
		if failed != nil {
			yield(nil, failed)
			return
		}
		defer body.Close()
		s := newStream(g, p)
		if failed := s.read(ctx, body, yield); failed != nil {
			yield(nil, failed)
		}
	})
}
