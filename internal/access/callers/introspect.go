package callers

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
)

const (
	// answerTime is how long an answer is used, and with it a token that was
	// revoked meanwhile.
	answerTime = 30 * time.Second
	maxAnswers = 1000 // about good tokens, and as many about others

	// maxAsking is how many requests about tokens that were good are under way at
	// once; maxStrange and strangeTime bound those about tokens that were not: anybody
	// can send these.
	maxAsking   = 16
	maxStrange  = 8
	strangeTime = 100 * time.Millisecond
	strangeOnce = 50
)

// An introspector asks the authorization server about each token. Tokens that it
// called active are known. Unknown ones are kept apart, so that strangers who make
// some up neither displace known tokens nor delay the requests about them.
type introspector struct {
	issuer  *issuer
	opts    atomic.Pointer[Introspection]
	client  *http.Client
	asking  chan struct{} // holds one value for each request about a known token that is under way
	strange chan struct{} // holds one value for each request about an unknown token that is under way
	limit   *rate.Limiter // of requests about unknown tokens

	mu      sync.Mutex
	known   map[string]*introspection // by the hash of the token
	refused map[string]*introspection // tokens that are not active, by their hash
}

// An introspection is what the server answered about a token.
type introspection struct {
	claims claims
	until  time.Time
	used   time.Time
}

func newIntrospector(i *issuer, o *Introspection) *introspector {
	client := newClient(http.DefaultTransport.(*http.Transport).Clone())
	n := &introspector{
		issuer: i, client: client, asking: make(chan struct{}, maxAsking), strange: make(chan struct{}, maxStrange),
		limit: rate.NewLimiter(rate.Every(strangeTime), strangeOnce), known: map[string]*introspection{}, refused: map[string]*introspection{},
	}
	n.use(o)
	return n
}

// use replaces the options of later questions.
func (i *introspector) use(o *Introspection) {
	opts := *o
	i.opts.Store(&opts)
}

// read implements claimReader.
func (i *introspector) read(ctx context.Context, token string) (*claims, *Refusal) {
	hash := hashOf(token)
	answer, known := i.cachedAnswer(hash)
	if answer == nil {
		done, refusal := i.admit(ctx, known)
		if refusal != nil {
			return nil, refusal
		}
		defer done()
		answer = &introspection{}
		if err := i.ask(ctx, token, &answer.claims); err != nil {
			return nil, i.issuer.unavailable()
		}
		i.keep(hash, answer)
	}
	if !answer.claims.Active {
		return nil, invalidToken("the token was revoked, has expired, or is not one of " + i.issuer.address + ": log in there")
	}
	return &answer.claims, nil
}

// cachedAnswer returns the answer about a token, nil if the server has to be asked, and
// whether the token was good when it was asked last.
func (i *introspector) cachedAnswer(hash string) (answer *introspection, known bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	now := time.Now()
	answer = i.known[hash]
	if known = answer != nil; known {
		answer.used = now
	} else {
		answer = i.refused[hash]
	}
	if answer != nil && !now.Before(answer.until) {
		answer = nil
	}
	return answer, known
}

// admit waits until the server may be asked about a token. There is no wait for
// the rate of unknown ones: those who wait would be served in the order of strangers.
func (i *introspector) admit(ctx context.Context, known bool) (done func(), refusal *Refusal) {
	slots := i.asking
	if !known {
		if slots = i.strange; !i.limit.Allow() {
			return nil, i.issuer.busy()
		}
	}
	select {
	case slots <- struct{}{}:
		return func() { <-slots }, nil
	case <-ctx.Done():
		return nil, i.issuer.unavailable()
	}
}

// keep stores an answer. If there are too many, the known token that was used least
// recently gives way, or any other of the unknown ones.
func (i *introspector) keep(hash string, a *introspection) {
	i.mu.Lock()
	defer i.mu.Unlock()
	a.used = time.Now()
	a.until = a.used.Add(answerTime)
	delete(i.known, hash)
	delete(i.refused, hash)
	if !a.claims.Active {
		for other := range i.refused {
			if len(i.refused) < maxAnswers {
				break
			}
			delete(i.refused, other)
		}
		i.refused[hash] = a
		return
	}
	if len(i.known) >= maxAnswers {
		oldest := ""
		for other, answer := range i.known {
			if oldest == "" || answer.used.Before(i.known[oldest].used) {
				oldest = other
			}
		}
		delete(i.known, oldest)
	}
	i.known[hash] = a
}

func (i *introspector) ask(ctx context.Context, token string, c *claims) error {
	opts := i.opts.Load()
	endpoint := opts.Endpoint
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
	r.SetBasicAuth(url.QueryEscape(opts.ClientID), url.QueryEscape(opts.ClientSecret))
	return answer(i.client, r, c)
}
