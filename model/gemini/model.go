// Package gemini contains the models of Google, by the Gemini API or by Vertex AI. [New]
// opens a model for an agent.
package gemini

import (
	"context"
	"fmt"
	"iter"
	"net/http"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/internal/provider"
	"github.com/toolpost/toolpost/schema/dialect"
)

// Options are the optional parts of [New].
type Options struct {
	APIKey     string       // instead of GOOGLE_API_KEY or GEMINI_API_KEY of the environment; required with BaseURL
	BaseURL    string       // of the API, instead of GOOGLE_GEMINI_BASE_URL or GOOGLE_VERTEX_BASE_URL; Google's own if empty
	HTTPClient *http.Client // its Timeout is that of a whole response

	// Project selects Vertex AI in Location, which is "global" if it is empty. The
	// credentials are APIKey, or else the default ones of Google Cloud, which also
	// BaseURL receives; if HTTPClient is set, it must add them itself.
	Project, Location string

	// Dialect is that of tools and structured output; "gemini" if nil.
	Dialect *dialect.Dialect
}

// A generator is a model of Google.
type generator struct {
	unusable    error // why nothing can be sent; nil if it can
	origin      model.Origin
	endpoint    *endpoint
	credentials *credentials // nil if a key or the client authenticates
	sender      *provider.Sender
	dialect     *dialect.Dialect
	rules       rules

	toolsets provider.Cache[toolpost.Set, *toolset]
}

// New returns a model, such as "gemini-3-pro-preview". Check and Stream return an error if
// the key is missing or an option is wrong.
func New(name string, opts *Options) model.Model {
	if opts == nil {
		opts = new(Options)
	}
	g, err := newGenerator(name, opts)
	if err != nil {
		return &generator{origin: originOf(name), unusable: fmt.Errorf("open Gemini model %q: %w", name, err)}
	}
	return g
}

func originOf(name string) model.Origin {
	return model.Origin{Provider: "gemini", API: "generate", Model: name}
}

func newGenerator(name string, o *Options) (*generator, error) {
	at, err := newEndpoint(name, o)
	if err != nil {
		return nil, err
	}
	g := &generator{
		origin:   originOf(name),
		endpoint: at,
		sender:   provider.NewSender(at.baseURL, o.HTTPClient),
		dialect:  o.Dialect,
		rules:    rulesOf(name),
	}
	if g.dialect == nil {
		if g.dialect, err = dialect.Find(dialectID); err != nil {
			return nil, err
		}
	}
	if at.key == "" && o.HTTPClient == nil {
		g.credentials = &credentials{learn: g.sender.AddSecrets}
		return g, checkCredentialsFile()
	}
	return g, nil
}

// Origin implements [model.Model].
func (g *generator) Origin() model.Origin { return g.origin }

// Check implements [model.Model].
func (g *generator) Check(r *model.Request) error {
	_, err := g.prepare(r)
	return err
}

// CheckBody returns the reason why the provider would refuse the body of a request. The fake
// providers of tests find it by its name.
func (g *generator) CheckBody(body []byte) error { return check(body) }

// Stream implements [model.Model].
func (g *generator) Stream(ctx context.Context, r *model.Request) iter.Seq2[*model.Delta, error] {
	return provider.Limit(g.origin, func(yield func(*model.Delta, error) bool) {
		p, err := g.prepare(r)
		if err != nil {
			kind := model.KindInvalid
			if g.unusable != nil {
				kind = model.KindAuth // as a rule the key: another model may have one
			}
			yield(nil, &model.Error{Origin: g.origin, Kind: kind, Err: err})
			return
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
