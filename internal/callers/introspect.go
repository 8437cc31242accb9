package callers

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

const (
	// answerTime is how long an answer is used, and with it a token that was
	// revoked meanwhile.
	answerTime  = 30 * time.Second
	mostAnswers = 1000
	mostAsking  = 16 // requests at once
)

// An introspector asks the authorization server about each token.
type introspector struct {
	issuer *issuer
	opts   Introspection
	client *http.Client
	asking chan struct{} // holds one value for each request that is under way

	mu      sync.Mutex
	answers map[string]*introspected // by the hash of the token
}

// introspected is what the server said about a token.
type introspected struct {
	claims claims
	until  time.Time
}

func newIntrospector(i *issuer, o *Introspection) *introspector {
	client := newClient(http.DefaultTransport.(*http.Transport).Clone())
	return &introspector{issuer: i, opts: *o, client: client, asking: make(chan struct{}, mostAsking), answers: map[string]*introspected{}}
}

// read implements claimReader.
func (i *introspector) read(ctx context.Context, token string) (*claims, *Refusal) {
	hash := hashOf(token)
	i.mu.Lock()
	known := i.answers[hash]
	i.mu.Unlock()
	if known == nil || !time.Now().Before(known.until) {
		select {
		case i.asking <- struct{}{}:
			defer func() { <-i.asking }()
		case <-ctx.Done():
			return nil, i.issuer.unavailable()
		}
		known = &introspected{}
		if err := i.ask(ctx, token, &known.claims); err != nil {
			return nil, i.issuer.unavailable()
		}
		known.until = time.Now().Add(answerTime)
		i.keep(hash, known)
	}
	if !known.claims.Active {
		return nil, invalidToken("the token was revoked, has expired, or is not one of " + i.issuer.address + ": log in there")
	}
	return &known.claims, nil
}

// keep stores an answer. If there are too many, all others are asked for again.
func (i *introspector) keep(hash string, a *introspected) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if len(i.answers) >= mostAnswers {
		clear(i.answers)
	}
	i.answers[hash] = a
}

func (i *introspector) ask(ctx context.Context, token string, c *claims) error {
	endpoint := i.opts.Endpoint
	if endpoint == "" {
		m, err := i.issuer.metadata(ctx)
		if err != nil {
			return err
		}
		endpoint = cmp.Or(m.Introspection, i.issuer.address+"/introspect")
	}
	form := url.Values{"token": {token}, "token_type_hint": {"access_token"}}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, endpoint, strings.NewReader(form.Encode()))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.SetBasicAuth(url.QueryEscape(i.opts.ClientID), url.QueryEscape(i.opts.ClientSecret))
	return answer(i.client, r, c)
}
