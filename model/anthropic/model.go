// Package anthropic talks to models of Anthropic through the Messages API, and to those
// of servers that speak it. [New] returns a model for an agent loop. Programs that have
// their own loop, with Anthropic's SDK, offer tools with package sdk/anthropic of the
// module github.com/toolpost/toolpost/sdk.
//
//	model.Request ── parts ──▶ blocks ── Check ──▶ POST /v1/messages
//	                 Raw of Anthropic's own parts goes back byte for byte
//	model.Response ◀── parts ◀── blocks ◀── events of the stream
//
// A part of a response keeps its block as Raw: the block that began it with
// all deltas applied. Blocks of unknown types are opaque parts. Response.Losses
// lists the parts of the request that were left out or rewritten, such as the
// thinking of another provider's model.
package anthropic

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"net/http"
	"os"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/internal/provider"
	"github.com/toolpost/toolpost/schema/dialect"
)

// Options are the optional parts of New.
type Options struct {
	// APIKey is the credential. If it and BaseURL are empty, it is the variable
	// ANTHROPIC_API_KEY of the environment, or the token in ANTHROPIC_AUTH_TOKEN.
	// Other servers receive no credentials of the environment.
	APIKey string

	// BaseURL is the address of a compatible server or a proxy. If it is empty, it is
	// the variable ANTHROPIC_BASE_URL, or else Anthropic's own.
	BaseURL string

	HTTPClient *http.Client      // sends the requests; one that follows no redirects if nil
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

	// Dialect is that of tools; strict where possible if nil.
	Dialect *dialect.Dialect
}

const (
	api              = "messages"
	ownBaseURL       = "https://api.anthropic.com"
	keyHeader        = "X-Api-Key"
	defaultMaxTokens = 32000
	defaultCacheTTL  = "5m"
)

// A messagesModel is a model that the Messages API serves.
type messagesModel struct {
	sender   *provider.Sender
	header   http.Header // of every request
	opts     Options
	origin   model.Origin
	toolsets provider.Cache[toolpost.Set, *toolset]
}

// New returns the model with a name such as "claude-opus-5-5". It sends every
// request once; wrap it to retry.
func New(name string, opts *Options) model.Model {
	m := &messagesModel{}
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
	m.header = newHeader(&m.opts)
	m.sender = provider.NewSender(cmp.Or(m.opts.BaseURL, os.Getenv("ANTHROPIC_BASE_URL"), ownBaseURL), m.opts.HTTPClient)
	return m
}

// newHeader returns the header of every request.
func newHeader(o *Options) http.Header {
	h := http.Header{}
	h.Set("Accept", "application/json")
	h.Set("Anthropic-Version", "2023-06-01")
	key, token := o.APIKey, ""
	if key == "" && o.BaseURL == "" { // the credentials of the environment are not for other servers
		key, token = os.Getenv("ANTHROPIC_API_KEY"), os.Getenv("ANTHROPIC_AUTH_TOKEN")
	}
	switch {
	case key != "":
		h.Set(keyHeader, key)
	case token != "":
		h.Set("Authorization", "Bearer "+token)
	}
	for name, value := range o.Headers {
		h.Set(name, value)
	}
	return h
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

// CheckBody returns the reason why the provider would refuse the body of a request. The fake
// providers of tests find it by its name.
func (m *messagesModel) CheckBody(body []byte) error { return check(body) }

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
	res, err := m.post(ctx, built.body)
	if err != nil {
		return err
	}
	defer res.Body.Close()
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

// post sends the body of a request.
func (m *messagesModel) post(ctx context.Context, body []byte) (*http.Response, error) {
	if m.header.Get(keyHeader) == "" && m.header.Get("Authorization") == "" {
		return nil, errNoCredentials
	}
	return m.sender.Post(ctx, "v1/messages", m.header, body)
}

// A builtRequest is a request in the provider's form.
type builtRequest struct {
	body   json.RawMessage
	tools  *toolset
	output *outputFormat
	losses provider.Losses
}
