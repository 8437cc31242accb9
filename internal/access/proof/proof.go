// Package proof lets a client find out whether a server knows the owner's token, before it
// sends the token there: another program may listen on the port of the server by then.
//
//	client ── GET /healthz, Toolpost-Challenge: RANDOM ──▶ server
//	       ◀── Toolpost-Proof: HMAC(token, RANDOM, address) ──
package proof

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net"
	"net/http"
	"net/netip"
)

// ChallengeHeader has a client's question whether the server knows the token, in a request
// of HealthPath, and Header the answer. A server that wants the token asks for it with a
// challenge that begins with Realm. See docs/access.md.
const (
	ChallengeHeader = "Toolpost-Challenge"
	Header          = "Toolpost-Proof"
	RunHeader       = "Toolpost-Run-Proof" // in the place of Header, with the key of a run
	Realm           = `Bearer realm="toolpost"`
	HealthPath      = "/healthz"
)

// Answer answers the challenge of a request from this machine in a header.
func Answer(w http.ResponseWriter, r *http.Request, header, key string) {
	challenge := r.Header.Get(ChallengeHeader)
	local, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if remote, err := netip.ParseAddrPort(r.RemoteAddr); challenge != "" && local != nil && err == nil && remote.Addr().Unmap().IsLoopback() {
		w.Header().Set(header, Of(key, challenge, local.String()))
	}
}

// Of shows knowledge of the token without revealing it. It holds for one
// challenge and one address: a program on another port cannot pass on the proof
// of the real server.
func Of(token, challenge, address string) string {
	mac := hmac.New(sha256.New, []byte(token))
	mac.Write([]byte("toolpost proof 1\n" + challenge + "\n" + address))
	return hex.EncodeToString(mac.Sum(nil))
}
