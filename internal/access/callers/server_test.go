package callers_test

import (
	"crypto"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"math/big"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
)

// keyOf returns the same two keys in all tests.
var keyOf = sync.OnceValue(func() [2]*rsa.PrivateKey {
	var keys [2]*rsa.PrivateKey
	for i := range keys {
		keys[i], _ = rsa.GenerateKey(rand.Reader, 2048)
	}
	return keys
})

// An authority is an authorization server that a test scripts.
type authority struct {
	*httptest.Server
	fetches   atomic.Int64 // of the keys
	asked     atomic.Int64 // of introspections
	broken    atomic.Bool
	key       atomic.Int64                 // the index of the key that it publishes
	claimed   string                       // the issuer of its metadata; "" for the right one
	introspec map[string]any               // the answer of introspections
	redirect  func(r *http.Request) string // of the keys; nil for none
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		issuer := a.URL
		if a.claimed != "" {
			issuer = a.claimed
		}
		writeJSON(w, map[string]any{"issuer": issuer, "jwks_uri": a.URL + "/keys", "introspection_endpoint": a.URL + "/introspect"})
	})
	mux.HandleFunc("GET /keys", func(w http.ResponseWriter, r *http.Request) {
		a.fetches.Add(1)
		if a.redirect != nil {
			http.Redirect(w, r, a.redirect(r), http.StatusFound)
			return
		}
		k := keyOf()[a.key.Load()].PublicKey
		writeJSON(w, map[string]any{"keys": []any{map[string]any{"kty": "RSA", "use": "sig", "kid": kid(a.key.Load()),
			"n": encode(k.N.Bytes()), "e": encode(big.NewInt(int64(k.E)).Bytes())}}})
	})
	mux.HandleFunc("POST /introspect", func(w http.ResponseWriter, r *http.Request) {
		a.asked.Add(1)
		if id, secret, _ := r.BasicAuth(); id != "gate%2Fway" || secret != "s%3Acret" || r.FormValue("token") == "" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		writeJSON(w, a.introspec)
	})
	a.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if a.broken.Load() {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(a.Close)
	return a
}

func kid(i int64) string { return []string{"first", "second"}[i] }

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

func encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// unsigned returns the part of a JWT that is signed.
func unsigned(t *testing.T, header, payload map[string]any) string {
	t.Helper()
	h, err := json.Marshal(header)
	if err != nil {
		t.Fatal(err)
	}
	p, err := json.Marshal(payload)
	if err != nil {
		t.Fatal(err)
	}
	return encode(h) + "." + encode(p)
}

// signed returns a JWT with RS256.
func signed(t *testing.T, key int64, header, payload map[string]any) string {
	t.Helper()
	text := unsigned(t, header, payload)
	sum := sha256.Sum256([]byte(text))
	signature, err := rsa.SignPKCS1v15(nil, keyOf()[key], crypto.SHA256, sum[:])
	if err != nil {
		t.Fatal(err)
	}
	return text + "." + encode(signature)
}

// withPublicKey returns a JWT with HS256 and the public key as the secret.
func withPublicKey(t *testing.T, payload map[string]any) string {
	t.Helper()
	public, err := x509.MarshalPKIXPublicKey(&keyOf()[0].PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	text := unsigned(t, map[string]any{"alg": "HS256", "kid": "first"}, payload)
	mac := hmac.New(sha256.New, public)
	mac.Write([]byte(text))
	return text + "." + encode(mac.Sum(nil))
}
