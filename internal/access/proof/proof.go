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
)

// ChallengeHeader has a client's question whether the server knows the token, in a request
// of HealthPath, and Header the answer. A server that wants the token asks for it with a
// challenge that begins with Realm. See docs/access.md.
const (
	ChallengeHeader = "Toolpost-Challenge"
	Header          = "Toolpost-Proof"
	Realm           = `Bearer realm="toolpost"`
	HealthPath      = "/healthz"
)

// Of shows knowledge of the token without revealing it. It holds for one
// challenge and one address: a program on another port cannot pass on the proof
// of the real server.
func Of(token, challenge, address string) string {
	mac := hmac.New(sha256.New, []byte(token))
	mac.Write([]byte("toolpost proof 1\n" + challenge + "\n" + address))
	return hex.EncodeToString(mac.Sum(nil))
}
