package tooltest

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/toolpost/toolpost/internal/lazyregexp"
	"github.com/toolpost/toolpost/internal/secret"
)

// plainHeaders are the headers of requests that describe it, whose values are
// not secret.
var plainHeaders = []string{
	"Accept", "Accept-Encoding", "Accept-Language", "Connection", "Content-Length", "Content-Type", "User-Agent",
	"Anthropic-Version", "Anthropic-Beta", "Openai-Beta", "Idempotency-Key",
}

// shortestSecret is the length of the shortest value that is removed wherever it
// occurs: shorter ones are parts of words.
const shortestSecret = 6

// A trafficRedactor removes secrets, also those of requests that come later.
type trafficRedactor struct {
	mu       sync.Mutex
	values   []string
	replacer *strings.Replacer // of the values
}

func newTrafficRedactor(values []string) *trafficRedactor {
	h := &trafficRedactor{}
	h.add(values)
	return h
}

func (h *trafficRedactor) add(values []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, value := range values {
		if !slices.Contains(h.values, value) {
			h.values = append(h.values, value)
		}
	}
	h.replacer = secret.Replacer(secret.Mark, h.values...)
}

// learn notes the secrets of a request: the values of headers and the parts of the
// URL that are named like one, or look like one.
func (h *trafficRedactor) learn(r *http.Request) {
	var found []string
	for name, values := range r.Header {
		if slices.Contains(plainHeaders, http.CanonicalHeaderKey(name)) {
			continue
		}
		for _, value := range values {
			if secret.Is(name, value) {
				found = append(found, value)
				if _, credential, ok := strings.Cut(value, " "); ok { // after the scheme, such as Bearer
					found = append(found, strings.TrimSpace(credential))
				}
			}
		}
	}
	if _, password, ok := r.BasicAuth(); ok {
		found = append(found, password)
	}
	if password, ok := r.URL.User.Password(); ok {
		found = append(found, password)
	}
	for name, values := range r.URL.Query() {
		for _, value := range values {
			if secret.Is(name, value) {
				found = append(found, value)
			}
		}
	}
	h.add(found)
}

// redactKnown returns a text without the known secrets.
func (h *trafficRedactor) redactKnown(text string) string {
	h.mu.Lock()
	replacer := h.replacer
	h.mu.Unlock()
	return replacer.Replace(text)
}

// findSecret returns a known secret that is in a text, empty if there is none.
func (h *trafficRedactor) findSecret(text string) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, value := range h.values {
		if len(value) >= shortestSecret && strings.Contains(text, value) {
			return value
		}
	}
	return ""
}

// text returns a text without secrets.
func (h *trafficRedactor) text(text string) string { return secret.RedactText(h.redactKnown(text)) }

// url returns an address without secrets. The values of its query that are named
// like a secret are removed whatever they are.
func (h *trafficRedactor) url(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return h.text(address)
	}
	if u.User != nil {
		u.User = url.User("user")
	}
	query := u.Query()
	for name, values := range query {
		for i, value := range values {
			if secret.Is(name, value) {
				values[i] = secret.Mark
			}
		}
	}
	u.RawQuery = query.Encode()
	return h.text(u.String())
}

// body returns a body without secrets: JSON, a stream of events with JSON, a form,
// or another text. One without secrets stays as it is, to the byte.
func (h *trafficRedactor) body(data []byte) []byte {
	switch {
	case !utf8.Valid(data):
		return []byte(h.text(string(data)))
	case json.Valid(data):
		return h.json(data)
	}
	var all []byte
	for line := range bytes.Lines(data) {
		value, isData := bytes.CutPrefix(line, []byte("data:"))
		if trimmed := bytes.TrimSpace(value); isData && json.Valid(trimmed) {
			all = append(append(all, "data:"...), bytes.Replace(value, trimmed, h.json(trimmed), 1)...)
		} else {
			all = append(all, h.text(string(line))...)
		}
	}
	return all
}

// signature is where models' requests and answers have the signatures of thoughts.
var signature = lazyregexp.New(`^(/messages/\d+)?/content(_block)?(/\d+)?/signature$|^/delta/signature$`)

// publicMembers excepts members of models' answers: a provider takes a thought back only
// with its signature, which opens nothing.
func publicMembers() *secret.JSONOptions {
	return &secret.JSONOptions{Public: func(pointer string) bool { return signature.MatchString(pointer) }}
}

// json returns a JSON value without secrets. The known ones are removed first: a
// pattern may match the beginning of one only.
func (h *trafficRedactor) json(data []byte) []byte {
	for _, opts := range []*secret.JSONOptions{{Known: true, Text: h.redactKnown}, publicMembers()} {
		if clear, hidden := secret.RedactJSON(data, opts); hidden > 0 {
			data = clear
		}
	}
	return []byte(h.redactKnown(string(data)))
}

// learnBody notes the values of the members of a JSON body that are named like a
// secret, because a server may repeat them in another form.
func (h *trafficRedactor) learnBody(data []byte) {
	clear, hidden := secret.RedactJSON(data, publicMembers())
	var whole, redacted any
	if hidden == 0 || json.Unmarshal(data, &whole) != nil || json.Unmarshal(clear, &redacted) != nil {
		return
	}
	h.add(hiddenTexts(whole, redacted))
}

// hiddenTexts returns the texts of a JSON value that are hidden in the redacted one.
func hiddenTexts(whole, redacted any) (texts []string) {
	switch whole := whole.(type) {
	case string:
		if redacted == secret.Mark {
			texts = []string{whole}
		}
	case []any:
		list, _ := redacted.([]any)
		for i, part := range whole[:min(len(whole), len(list))] {
			texts = append(texts, hiddenTexts(part, list[i])...)
		}
	case map[string]any:
		members, _ := redacted.(map[string]any)
		for name, part := range whole {
			texts = append(texts, hiddenTexts(part, members[name])...)
		}
	}
	return texts
}
