package serve

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/access/callers"
	"github.com/toolpost/toolpost/internal/access/owner"
	"github.com/toolpost/toolpost/internal/access/proof"
)

// An access decides who may call what is served over HTTP: everyone who
// reaches the port, or only clients that send a token.
type access struct {
	token  string      // "" if none is needed
	source string      // where people find the token
	open   string      // a warning of what everyone can do; "" if there is none
	always bool        // no token is needed, whatever the tools can do
	ready  func() bool // whether the required servers are ready; nil until they are known

	profiles atomic.Pointer[profileAccess] // nil if there are none
	named    *callers.Tokens               // nil if there are none
	everyone callers.Caller                // whose requests need no token
	login    *callers.Resource             // nil if callers do not log in
	ask      authenticator                 // the program's own login; nil if it has none
	options  *config.Access                // as the configuration says; nil if callers do not log in
}

// An authenticator decides who sent a request.
type authenticator func(r *http.Request) (*callers.Caller, *callers.Refusal)

// decide returns who may call what l serves. Harmful is what a caller could do
// with tools that change files, run commands or write with the user's
// credentials, "" if there are none.
func (o *Options) decide(l *listener, harmful string) (*access, error) {
	if l == nil {
		return &access{always: true}, nil // on standard input, the client is who started us
	}
	wantsToken := o.RequireToken || o.TokenFile != ""
	switch {
	case o.Insecure && o.Authenticate != nil:
		return nil, usagef("Insecure serves anyone; leave out Authenticate")
	case o.Insecure && wantsToken:
		return nil, usagef("--insecure serves anyone; leave out --require-token and --token-file")
	case o.Insecure:
		return &access{open: o.warning(l, harmful), always: true}, nil
	case o.Authenticate != nil && !wantsToken:
		return &access{always: true}, nil // nobody is the owner
	}
	return o.decideToken(l, harmful)
}

// decideToken is decide where a token may be needed.
func (o *Options) decideToken(l *listener, harmful string) (*access, error) {
	token, err := owner.GivenToken(o.TokenFile)
	switch {
	case err != nil:
		return nil, err
	case o.TokenFile != "":
		return &access{token: token, source: o.TokenFile}, nil
	case token != "":
		return &access{token: token, source: "the variable " + owner.TokenVariable}, nil
	case !o.RequireToken && !l.loopback():
		return nil, usagef("refusing to listen on %s: other machines could call these tools without a token; "+
			"add --require-token (clients then send the token of \"toolpost token\"), or --insecure to serve anyone", l.Addr())
	case !o.RequireToken && harmful == "":
		return &access{}, nil
	}
	token, err = owner.StoredToken()
	return &access{token: token, source: `"toolpost token"`}, err
}

// decideLogin is decide for a configuration whose callers may have to log in. The
// owner's token is needed then for what callers may not do.
func (o *Options) decideLogin(l *listener, cfg *config.Config) (*access, error) {
	if o.hasOwnLogin() {
		if err := checkOwnLogin(cfg); err != nil {
			return nil, wrapUsage(err)
		}
	}
	if l == nil || cfg.Access == nil {
		return o.decide(l, o.risk(cfg))
	}
	if o.Insecure {
		return nil, usagef("--insecure serves anyone, but \"access\" of the configuration lets callers log in; leave one out")
	}
	options := loginOptions(cfg.Access)
	if options.Resource == "" {
		if options.Resource = l.url(); !l.loopback() {
			return nil, usagef("set \"resource\" in \"access\" of the configuration to the address of /mcp as clients use it, such as https://tools.example.com/mcp")
		}
	}
	login, err := callers.NewResource(options)
	if err != nil {
		return nil, wrapUsage(err)
	}
	needed := *o
	needed.RequireToken = true
	a, err := needed.decide(l, o.risk(cfg))
	if err == nil {
		a.login, a.options = login, cfg.Access
	}
	return a, err
}

// loginOptions returns how the tokens of callers are checked.
func loginOptions(a *config.Access) *callers.Options {
	o := &callers.Options{Issuer: a.Issuer, Resource: a.Resource, Audience: a.Audience, Scopes: a.Scopes, Introspection: (*callers.Introspection)(a.Introspection)}
	for _, p := range a.Profiles {
		o.Profiles = append(o.Profiles, callers.ScopeProfile(p))
	}
	return o
}

// hosts are the names by which callers who log in address us.
func (a *access) hosts() []string {
	if a.login == nil {
		return nil
	}
	return []string{a.login.Host()}
}

// warning describes the risk of --insecure.
func (o *Options) warning(l *listener, harmful string) string {
	if l.loopback() && harmful == "" {
		return "" // as without --insecure
	}
	who := "every user and program of this machine"
	if !l.loopback() {
		who = "everyone who reaches " + l.Addr().String()
	}
	if harmful == "" {
		harmful = "call these tools"
	}
	return who + " can " + harmful + ", because --insecure switches the token off"
}

// risk describes what callers could do with the tools of a configuration.
func (o *Options) risk(cfg *config.Config) string { return cmp.Or(o.Risk, owner.Risk(cfg)) }

// permit refuses a changed configuration that needs a token if the server
// started without one, or that changes who may log in.
func (a *access) permit(cfg *config.Config) error {
	if a.ask != nil {
		return checkOwnLogin(cfg)
	}
	if !a.always && !reflect.DeepEqual(withoutSecret(cfg.Access), withoutSecret(a.options)) {
		return errors.New("who may log in (\"access\") has changed; restart toolpost to use that")
	}
	if what := owner.Risk(cfg); what != "" && a.token == "" && !a.always {
		return fmt.Errorf("clients could %s without a token; restart toolpost, which then asks them for one", what)
	}
	return nil
}

// withoutSecret returns options without the client secret of introspection, which may
// change while callers log in.
func withoutSecret(o *config.Access) *config.Access {
	if o == nil || o.Introspection == nil {
		return o
	}
	without, introspection := *o, *o.Introspection
	introspection.ClientSecret = ""
	without.Introspection = &introspection
	return &without
}

// useSecret asks about the tokens of callers with the client secret of a configuration
// that permit allows.
func (a *access) useSecret(cfg *config.Config) {
	if a.login != nil && cfg.Access != nil && cfg.Access.Introspection != nil {
		a.login.UseSecret(cfg.Access.Introspection.ClientSecret)
	}
}

const (
	healthPath = proof.HealthPath
	readyPath  = "/readyz"
)

// requireToken refuses requests without a token, if one is needed, and those
// with a wrong one, if there are tokens. It decides before it reads any of the
// body. Without a token, healthPath answers that we are alive, and proves to
// clients on this machine that we know the owner's token; readyPath answers only
// whether we are ready. Callers other than the owner get MCP and nothing else.
func (a *access) requireToken(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a.usePublicPath(r)
		caller, refusal := a.authenticate(r)
		owner := refusal == nil && caller.Identity == ""
		switch {
		case owner, a.isOpen() && isProbe(r):
			a.hideCredential(r)
			next.ServeHTTP(w, r)
		case isProbe(r):
			a.probe(w, r)
		case refusal != nil:
			a.refuse(w, r, refusal)
		default:
			a.serveCaller(w, r, caller, next)
		}
	})
}

// isOpen reports whether everyone may call.
func (a *access) isOpen() bool { return a.token == "" && a.ask == nil }

// usePublicPath makes a request to the public address of the configuration one that came
// through a proxy with the prefix of that address, if the proxy did not name another: the
// answer may name an address.
func (a *access) usePublicPath(r *http.Request) {
	if a.login == nil || r.Header["X-Forwarded-Prefix"] != nil || !a.login.IsAt(r.Host) {
		return
	}
	if prefix, known := a.login.Prefix(); known {
		r.Header.Set("X-Forwarded-Prefix", cmp.Or(prefix, "/"))
	}
}

// hideCredential removes the credential of a request: nothing behind this needs it, or
// should log it. Where no token is needed, its hash remains, so that callers with
// different credentials do not share outputs and processes.
func (a *access) hideCredential(r *http.Request) {
	sent := r.Header["Authorization"]
	r.Header.Del("Authorization")
	if a.token != "" {
		return
	}
	for _, credential := range sent {
		r.Header.Add("Authorization", fmt.Sprintf("sha256 %x", sha256.Sum256([]byte(credential))))
	}
}

// authenticate returns who sent a request. The identity is "" for the owner, whose
// token is for all that is served, and for everyone where no token is needed.
func (a *access) authenticate(r *http.Request) (*callers.Caller, *callers.Refusal) {
	if a.token != "" && r.URL.RawQuery != "" && r.URL.Query().Has("access_token") {
		return nil, &callers.Refusal{Status: http.StatusBadRequest, Code: "invalid_request",
			Message: "a token in the address is refused, because addresses are logged: send the header Authorization: Bearer TOKEN, and replace this token"}
	}
	scheme, token := bearer(r)
	if caller := a.holderOf(token); caller != nil {
		return caller, nil
	}
	switch {
	case a.ask != nil && isProbe(r): // answered without a login, which may be slow or fail
		return nil, wrongToken(scheme != "")
	case a.ask != nil:
		return a.ask(r)
	}
	if caller, refusal := a.check(r, token); caller != nil || refusal != nil {
		return caller, refusal
	}
	if a.token == "" && a.profiles.Load().accepts(scheme) {
		return &a.everyone, nil
	}
	refusal := wrongToken(scheme != "")
	if a.login != nil {
		refusal.Message = "a token is needed: log in at " + a.login.Issuer() + ", and send the header Authorization: Bearer TOKEN"
	}
	return nil, refusal
}

// holderOf returns the caller of our own token, or of that of a profile, else nil.
func (a *access) holderOf(token string) *callers.Caller {
	if token == "" {
		return nil
	}
	got, want := sha256.Sum256([]byte(token)), sha256.Sum256([]byte(a.token))
	if p := a.profiles.Load().tokenOf(got); p != nil {
		return &callers.Caller{Identity: p.identity(), Profiles: []string{p.profile}, Ended: p.ctx}
	}
	if a.token != "" && hmac.Equal(got[:], want[:]) {
		return &callers.Caller{}
	}
	return nil
}

// check returns the caller of a named token, or of a token of the authorization server.
// Both results are nil if named tokens and logins are not in use.
func (a *access) check(r *http.Request, token string) (caller *callers.Caller, refusal *callers.Refusal) {
	if a.named != nil {
		caller, refusal = a.named.Check(token)
	}
	if caller == nil && refusal == nil && a.login != nil && token != "" {
		return a.login.Check(r.Context(), token, r.URL.Path)
	}
	return caller, refusal
}

// bearer returns the scheme of a request's authorization, and the token if it is
// one of a bearer. Several headers never contain a valid token.
func bearer(r *http.Request) (scheme, token string) {
	scheme, token, _ = strings.Cut(strings.Join(r.Header.Values("Authorization"), ","), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return scheme, ""
	}
	return scheme, strings.TrimSpace(token)
}

// wrongToken refuses a request that has no token, or an unknown one.
func wrongToken(sent bool) *callers.Refusal {
	const remedy = ": send the header Authorization: Bearer TOKEN; on the machine that serves, toolpost token prints it"
	if !sent {
		return &callers.Refusal{Status: http.StatusUnauthorized, Message: "a token is needed" + remedy}
	}
	return &callers.Refusal{Status: http.StatusUnauthorized, Code: "invalid_token",
		Message: "the token is wrong" + remedy + "; after toolpost token --rotate, restart toolpost serve"}
}

// isProbe reports whether a request asks only whether we are alive or ready.
func isProbe(r *http.Request) bool {
	return r.Method == http.MethodGet && (r.URL.Path == healthPath || r.URL.Path == readyPath)
}

// probe answers a request without the token that asks whether we are alive or ready.
func (a *access) probe(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.URL.Path == healthPath:
		a.answerAlive(w, r)
	case a.ready != nil:
		answerReady(w, a.ready(), nil)
	default:
		a.refuse(w, r, wrongToken(false))
	}
}

// answerAlive answers a request without a token: it reports only that toolpost serves.
func (a *access) answerAlive(w http.ResponseWriter, r *http.Request) {
	if a.token != "" {
		proof.Answer(w, r, proof.Header, a.token)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write([]byte(`{"status":"ok"}` + "\n")) // the client is gone if it fails
}

// refuse answers a request that is not served, and ends the connection instead of
// reading the body.
func (a *access) refuse(w http.ResponseWriter, r *http.Request, refusal *callers.Refusal) {
	closeUnread(w, r)
	if refusal.Status == http.StatusUnauthorized || refusal.Code != "" {
		header := proof.Realm
		if refusal.Code != "" {
			header += `, error="` + refusal.Code + `"`
		}
		if a.login != nil {
			header += a.login.Challenge(refusal, r.URL.Path)
		}
		w.Header().Set("WWW-Authenticate", header)
	}
	if refusal.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(refusal.RetryAfter/time.Second)))
	}
	writeError(w, refusal.Status, refusal.Message)
}

// closeUnread ends the connection of a request that is refused, instead of
// reading its body.
func closeUnread(w http.ResponseWriter, r *http.Request) {
	if r.ContentLength != 0 {
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(time.Second)) // not every writer has deadlines
		w.Header().Set("Connection", "close")
	}
}

// writeError answers with an error.
func writeError(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(struct { // the client is gone if it fails
		Error string `json:"error"`
	}{message})
}
