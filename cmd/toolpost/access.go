package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/toolpost/toolpost/config"
)

// accessOptions are the flags that decide who may call what is served over HTTP.
type accessOptions struct {
	insecure bool
	require  bool
	file     string
}

func (o *accessOptions) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&o.require, "require-token", false, "require the token of \"toolpost token\" from every client, even where it is optional")
	f.StringVar(&o.file, "token-file", "", "read the token that clients must send from `FILE`; or set the variable "+tokenVariable)
	f.BoolVar(&o.insecure, "insecure", false, "serve anyone who can reach the port, without a token")
	cmd.MarkFlagsMutuallyExclusive("insecure", "require-token")
	cmd.MarkFlagsMutuallyExclusive("insecure", "token-file")
}

// An access decides who may call what is served over HTTP: everyone who
// reaches the port, or only clients that send a token.
type access struct {
	token  string // "" if none is needed
	source string // where people find the token
	open   string // a warning of what everyone can do; "" if there is none
	always bool   // no token is needed, whatever the tools can do
}

// decide returns who may call what l serves. Harmful is what a caller could do
// with tools that change files, run commands or write with the user's
// credentials, "" if there are none.
func (o *accessOptions) decide(l *listener, harmful string) (*access, error) {
	if l == nil {
		return &access{always: true}, nil // on standard input, the client is who started us
	}
	if o.insecure {
		return &access{open: o.warning(l, harmful), always: true}, nil
	}
	token, err := givenToken(o.file)
	switch {
	case err != nil:
		return nil, err
	case o.file != "":
		return &access{token: token, source: o.file}, nil
	case token != "":
		return &access{token: token, source: "the variable " + tokenVariable}, nil
	case !o.require && !l.loopback():
		return nil, usagef("refusing to listen on %s: other machines could call these tools without a token; "+
			"add --require-token (clients then send the token of \"toolpost token\"), or --insecure to serve anyone", l.Addr())
	case !o.require && harmful == "":
		return &access{}, nil
	}
	token, err = storedToken()
	return &access{token: token, source: `"toolpost token"`}, err
}

// warning describes the risk of --insecure.
func (o *accessOptions) warning(l *listener, harmful string) string {
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

// harmful describes what callers could do with the tools that Toolpost itself adds
// to a configuration.
func harmful(cfg *config.Config) string {
	for _, s := range cfg.Servers {
		if s.Redmine != nil && !s.Redmine.ReadOnly && !s.Disabled && s.Err == nil {
			return "write to Redmine as you"
		}
	}
	return ""
}

// permit refuses a changed configuration that needs a token if the server
// started without one.
func (a *access) permit(cfg *config.Config) error {
	if what := harmful(cfg); what != "" && a.token == "" && !a.always {
		return fmt.Errorf("clients could %s without a token; restart toolpost, which then asks them for one", what)
	}
	return nil
}

// challengeHeader has a client's question whether we know the token, and
// proofHeader the answer. See docs/security.md.
const (
	challengeHeader = "Toolpost-Challenge"
	proofHeader     = "Toolpost-Proof"
	realm           = `Bearer realm="toolpost"`
	healthPath      = "/healthz"
)

// requireToken refuses requests without the token. It decides before it reads any
// of the body. Without the token, healthPath answers that we are
// alive, and proves to clients on this machine that we know the token.
func (a *access) requireToken(next http.Handler) http.Handler {
	if a.token == "" {
		return next
	}
	want := sha256.Sum256([]byte(a.token))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		scheme, token, _ := strings.Cut(strings.Join(r.Header.Values("Authorization"), ","), " ")
		got := sha256.Sum256([]byte(strings.TrimSpace(token)))
		allowed := hmac.Equal(got[:], want[:]) && strings.EqualFold(scheme, "Bearer")
		switch {
		case allowed:
			r.Header.Del("Authorization") // nothing behind this needs it, or should log it
			next.ServeHTTP(w, r)
		case r.Method == http.MethodGet && r.URL.Path == healthPath:
			a.alive(w, r)
		default:
			a.refuse(w, r, scheme != "")
		}
	})
}

// alive answers a request without a token: it reports only that toolpost serves.
func (a *access) alive(w http.ResponseWriter, r *http.Request) {
	if challenge := r.Header.Get(challengeHeader); challenge != "" {
		local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
		if remote, err := netip.ParseAddrPort(r.RemoteAddr); local != nil && err == nil && remote.Addr().Unmap().IsLoopback() {
			w.Header().Set(proofHeader, proof(a.token, challenge, local.String()))
		}
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write([]byte(`{"status":"ok"}` + "\n")) // the client is gone if it fails
}

// refuse answers a request without the token, and ends the connection instead
// of reading the body.
func (a *access) refuse(w http.ResponseWriter, r *http.Request, wrong bool) {
	if r.ContentLength != 0 {
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(time.Second)) // not every writer has deadlines
		w.Header().Set("Connection", "close")
	}
	header, message, hint := realm, "a token is needed", ""
	if wrong {
		header, message = realm+`, error="invalid_token"`, "the token is wrong"
		hint = "; after toolpost token --rotate, restart toolpost serve"
	}
	w.Header().Set("WWW-Authenticate", header)
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusUnauthorized)
	_, _ = w.Write([]byte(`{"error":"` + message + `: send the header Authorization: Bearer TOKEN; on the machine that serves, toolpost token prints it` + hint + `"}` + "\n"))
}

// proof shows knowledge of the token without revealing it. It holds for one
// challenge and one address: a program on another port cannot pass on the proof
// of the real server.
func proof(token, challenge, address string) string {
	mac := hmac.New(sha256.New, []byte(token))
	mac.Write([]byte("toolpost proof 1\n" + challenge + "\n" + address))
	return hex.EncodeToString(mac.Sum(nil))
}
