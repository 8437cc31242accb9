package openai

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"os"
	"strings"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/dialect"
	"github.com/toolpost/toolpost/internal/secret"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/internal/provider"
	"github.com/toolpost/toolpost/model/offer"
	"github.com/toolpost/toolpost/schema"
)

// openAI is the provider's name of OpenAI's own server.
const openAI = "openai"

// Options are the optional parts of [New] and [NewChat].
type Options struct {
	// APIKey is the credential. If it and BaseURL are empty, it is the variable
	// OPENAI_API_KEY of the environment. Other servers receive no key of the
	// environment.
	APIKey string

	// BaseURL is the address of a compatible server, such as
	// "http://localhost:11434/v1". OpenAI's own if empty.
	BaseURL string

	// Provider is the name of a compatible server in the Origin of parts, such
	// as "ollama". If it is empty, it is "openai", or the host of BaseURL with its
	// port unless that is the usual one. With the name "openai", the server is
	// treated as OpenAI's own.
	Provider string

	// HTTPClient sends the requests; one that follows no redirects if nil.
	HTTPClient *http.Client

	// Dialect is that of tools and structured output; "openai-strict" if nil.
	Dialect *dialect.Dialect

	// Summaries requests summaries of the model's reasoning. OpenAI may require
	// a verified organization for them. Only New uses it.
	Summaries bool

	// Defer reports whether the model finds a tool only by searching, so that
	// its definition is not in every prompt. The models that search are those
	// since gpt-5.4. Only New uses it; nil defers nothing.
	Defer func(t *toolpost.Tool) bool
}

// An endpoint is the API of one provider with one model.
type endpoint struct {
	origin model.Origin
	client sdk.Client
	hide   *strings.Replacer // replaces the API key
	opts   Options

	tools   provider.Cache[toolpost.Set, *toolset]
	formats provider.Cache[schema.Schema, *answerFormat]
}

func newEndpoint(api, name string, opts *Options) *endpoint {
	e := &endpoint{origin: model.Origin{Provider: openAI, API: api, Model: name}}
	if opts != nil {
		e.opts = *opts
	}
	o := &e.opts
	if o.APIKey == "" && o.BaseURL == "" {
		o.APIKey = os.Getenv("OPENAI_API_KEY")
	}
	e.hide = secret.Replacer("[API key]", o.APIKey)
	// The options are set here instead of by NewClient, which adds credentials
	// and headers of the environment for any server.
	e.client.Options = []option.RequestOption{option.WithEnvironmentProduction(), option.WithHTTPClient(provider.Client(o.HTTPClient)), option.WithMaxRetries(0)}
	if o.APIKey != "" {
		e.client.Options = append(e.client.Options, option.WithAPIKey(o.APIKey))
	}
	if o.BaseURL != "" {
		e.client.Options = append(e.client.Options, option.WithBaseURL(o.BaseURL))
		e.origin.Provider = serverOf(o.BaseURL)
	}
	if o.Provider != "" {
		e.origin.Provider = o.Provider
	}
	return e
}

// serverOf returns the host of an address, and the port if it is not the usual
// one: two servers on one host do not accept the parts of each other. It returns
// "compatible" if there is no host.
func serverOf(address string) string {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Hostname() == "":
		return "compatible"
	case u.Port() == "", u.Port() == "443" && u.Scheme == "https", u.Port() == "80" && u.Scheme == "http":
		return u.Hostname()
	}
	return u.Host
}

// isOpenAI reports whether the server is OpenAI's own.
func (e *endpoint) isOpenAI() bool { return e.origin.Provider == openAI }

// Origin implements [model.Model].
func (e *endpoint) Origin() model.Origin { return e.origin }

// maxCacheKey is the length of the longest prompt_cache_key.
const maxCacheKey = 64

// cacheKey returns a key that OpenAI accepts.
func cacheKey(key string) string {
	if len(key) <= maxCacheKey {
		return key
	}
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:])
}

// toolOptions returns the options for [Tools] and [ChatTools].
func (e *endpoint) toolOptions() *offer.Options {
	return &offer.Options{Dialect: e.opts.Dialect, Fit: true}
}
