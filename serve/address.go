package serve

import "log/slog"

// Access describes how clients reach an endpoint, and what they must send.
type Access struct {
	URL     string // of /mcp, for clients on this machine; "" for Stdio
	Token   string `json:"-"` // the owner's, which clients must send unless they log in; "" if none is needed
	Source  string // where people find Token
	Issuer  string // the authorization server that clients log in at; "" if they do not
	Warning string // what everybody can do, if no token is needed; "" for nothing

	ownLogin bool // Options.Authenticate decides who calls
}

// Access returns how clients reach the endpoint.
func (e *Endpoint) Access() *Access {
	a := &Access{URL: e.listener.url(), Token: e.access.token, Source: e.access.source, Warning: e.access.open, ownLogin: e.access.ask != nil}
	if e.access.login != nil {
		a.Issuer = e.access.login.Issuer()
	}
	return a
}

// String returns the address. It does not show the token.
func (a Access) String() string { return a.URL }

// Log logs where the endpoint serves and what clients must send, without the token.
func (a *Access) Log(log *slog.Logger) {
	if a.URL != "" {
		log.Info("serving", "url", a.URL)
	}
	if a.Warning != "" {
		log.Warn(a.Warning)
	}
	switch {
	case a.Issuer != "":
		log.Info("clients must log in, or send a token of \"toolpost token add\"", "issuer", a.Issuer)
	case a.ownLogin:
		log.Info("clients must log in to this program")
	case a.Token != "":
		log.Info("clients must send a token as Authorization: Bearer TOKEN", "token", "see "+a.Source)
	}
}
