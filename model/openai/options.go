package openai

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"os"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/internal/provider"
	"github.com/toolpost/toolpost/schema"
	"github.com/toolpost/toolpost/schema/dialect"
)

// openAI is the provider's name of OpenAI's own server.
const openAI = "openai"

// ownServer is the base URL of OpenAI's own server.
const ownServer = "https://api.openai.com/v1"

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

	// Headers are additional headers of every request, such as OpenAI-Organization and
	// OpenAI-Project. They replace headers that the package sets.
	Headers map[string]string

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
	sender *provider.Sender
	header http.Header
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
	if o.BaseURL != "" {
		e.origin.Provider = serverOf(o.BaseURL)
	}
	if o.Provider != "" {
		e.origin.Provider = o.Provider
	}
	e.sender = provider.NewSender(cmp.Or(o.BaseURL, ownServer), o.HTTPClient)
	e.header = http.Header{"Accept": {"text/event-stream"}}
	if o.APIKey != "" {
		e.header.Set("Authorization", "Bearer "+o.APIKey)
	}
	for name, value := range o.Headers {
		e.header.Set(name, value)
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
