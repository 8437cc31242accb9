package anthropic

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"net/http"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/secret"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/internal/provider"
	"github.com/toolpost/toolpost/model/offer"
)

// Options are the optional parts of New.
type Options struct {
	// APIKey is the credential. If it is empty, the SDK reads its environment
	// variables, first ANTHROPIC_API_KEY, and the profile of the user; but those are
	// not for the server of BaseURL.
	APIKey string

	BaseURL    string            // of a compatible server or a proxy; Anthropic's if empty
	HTTPClient *http.Client      // nil means one that follows no redirects
	Headers    map[string]string // additional headers of every request, such as anthropic-beta

	// Provider replaces "anthropic" in the model's Origin: the name of a
	// compatible server, whose parts Anthropic does not accept.
	Provider string

	// MaxTokens is the maximum of a response if the request has none; 32000 if it
	// is 0. The API requires one.
	MaxTokens int

	// CacheTTL is how long the prompt stays in the provider's cache after its
	// last use: "5m", which is the default, "1h" or "none".
	CacheTTL string

	// SearchAbove turns on Anthropic's tool search for sets of more than so many
	// tools: the model searches their definitions instead of reading all of them.
	// 0 means never.
	SearchAbove int

	Tools *offer.Options // how tools are adapted; nil means strict where possible
}

const (
	api              = "messages"
	defaultMaxTokens = 32000
	defaultCacheTTL  = "5m"
)

// A messagesModel is a model that the Messages API serves.
type messagesModel struct {
	client   sdk.Client
	opts     Options
	origin   model.Origin
	toolsets provider.Cache[toolpost.Set, *toolset]
	secrets  *secret.Values // credentials that were sent; errors do not contain them
}

// New returns the model with a name such as "claude-opus-5-5". It sends every
// request once; wrap it to retry.
func New(name string, opts *Options) model.Model {
	m := &messagesModel{secrets: secret.NewValues(secret.Mark)}
	if opts != nil {
		m.opts = *opts
	}
	m.origin = model.Origin{Provider: "anthropic", API: api, Model: name}
	if m.opts.Provider != "" {
		m.origin.Provider = m.opts.Provider
	}
	if m.opts.MaxTokens == 0 {
		m.opts.MaxTokens = defaultMaxTokens
	}
	if m.opts.CacheTTL == "" {
		m.opts.CacheTTL = defaultCacheTTL
	}
	m.client = sdk.NewClient(m.clientOptions()...)
	return m
}

// clientOptions returns the options of the SDK's client.
func (m *messagesModel) clientOptions() []option.RequestOption {
	all := []option.RequestOption{option.WithMaxRetries(0), option.WithoutOpenTelemetry()}
	if m.opts.APIKey != "" || m.opts.BaseURL != "" { // the key of the environment is not for other servers
		all = append(all, option.WithoutEnvironmentDefaults())
	}
	if m.opts.APIKey != "" {
		m.secrets.Add("", m.opts.APIKey)
		all = append(all, option.WithAPIKey(m.opts.APIKey))
	}
	if m.opts.BaseURL != "" {
		all = append(all, option.WithBaseURL(m.opts.BaseURL))
	}
	all = append(all, option.WithHTTPClient(provider.Client(m.opts.HTTPClient)))
	for name, value := range m.opts.Headers {
		if secret.Is(name, value) {
			m.secrets.Add("", value)
		}
		all = append(all, option.WithHeader(name, value))
	}
	return append(all, option.WithMiddleware(m.guard))
}

// guard refuses a request without credentials, remembers the credentials that
// are sent, and limits the size of the response.
func (m *messagesModel) guard(r *http.Request, next option.MiddlewareNext) (*http.Response, error) {
	key, token := r.Header.Get("X-Api-Key"), r.Header.Get("Authorization")
	if key == "" && token == "" {
		return nil, errNoCredentials
	}
	m.secrets.Add("", credentials(key, token)...)
	res, err := next(r)
	if err == nil {
		provider.LimitResponse(res)
	}
	return res, err
}

// Origin implements [model.Model].
func (m *messagesModel) Origin() model.Origin { return m.origin }

// Check implements [model.Model].
func (m *messagesModel) Check(r *model.Request) error {
	built, err := m.build(r)
	if err != nil {
		return err
	}
	return checkBody(built.body, false)
}

// Stream implements [model.Model].
func (m *messagesModel) Stream(ctx context.Context, r *model.Request) iter.Seq2[*model.Delta, error] {
	return provider.Limit(m.origin, func(yield func(*model.Delta, error) bool) {
		built, err := m.build(r)
		if err == nil {
			err = checkBody(built.body, false)
		}
		if err != nil {
			kind := model.KindInvalid
			if errors.Is(err, errTooLong) {
				kind = model.KindTooLong
			}
			yield(nil, &model.Error{Origin: m.origin, Kind: kind, Text: "the request was not sent", Err: err})
			return
		}
		if err := m.exchange(ctx, built, yield); err != nil {
			yield(nil, m.failure(ctx, err))
		}
	})
}

// exchange sends a request and yields the response. It returns the error that
// ended the stream, nil if the caller stopped.
func (m *messagesModel) exchange(ctx context.Context, built *builtRequest, yield func(*model.Delta, error) bool) error {
	var res *http.Response
	if err := m.client.Post(ctx, "v1/messages", []byte(built.body), &res); err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		return &statusError{res.StatusCode}
	}
	body, document, err := provider.ReadStart(res)
	if err != nil {
		return err
	}
	a := newAccumulator(m.origin, built)
	if document {
		if err := a.readDocument(body); err != nil {
			return err
		}
		return a.finish(yield)
	}
	for data, err := range provider.Events(body, false) {
		if err != nil {
			return &streamError{err}
		}
		delta, err := a.add(data)
		if err != nil {
			return err
		}
		if delta != nil && !yield(delta, nil) {
			return nil
		}
		if a.complete {
			return a.finish(yield)
		}
	}
	return &streamError{}
}

// A builtRequest is a request in the provider's form.
type builtRequest struct {
	body   json.RawMessage
	tools  *toolset
	output *outputFormat
	losses provider.Losses
}
