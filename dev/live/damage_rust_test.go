//go:build unix

package live

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolpost/toolpost/internal/jsontree"
)

// rustTypes are the types of the official Rust SDK: members that are known, each
// with its type; "!" marks one that must be there and is not null. The SDK refuses
// a whole list because of a known member that is there twice or has another type.
// Members that are not known may be anything.
var rustTypes = map[string]map[string]string{
	"tools": {
		"name": "string!", "title": "string", "description": "string", "inputSchema": "object!", "outputSchema": "object",
		"annotations": "hints", "execution": "execution", "icons": "[]icon", "_meta": "object",
	},
	"prompts": {
		"name": "string!", "title": "string", "description": "string", "arguments": "[]argument", "icons": "[]icon", "_meta": "object",
	},
	"resources": {
		"uri": "string!", "name": "string!", "title": "string", "description": "string", "mimeType": "string", "size": "integer",
		"icons": "[]icon", "annotations": "annotations", "_meta": "object",
	},
	"resourceTemplates": {
		"uriTemplate": "string!", "name": "string!", "title": "string", "description": "string", "mimeType": "string",
		"icons": "[]icon", "annotations": "annotations",
	},
	"hints": {
		"title": "string", "readOnlyHint": "boolean", "destructiveHint": "boolean", "idempotentHint": "boolean", "openWorldHint": "boolean",
	},
	"execution":   {"taskSupport": "forbidden|optional|required"},
	"argument":    {"name": "string!", "title": "string", "description": "string", "required": "boolean"},
	"icon":        {"src": "string!", "mimeType": "string", "sizes": "[]string", "theme": "light|dark"},
	"annotations": {"audience": "[]user|assistant", "priority": "number", "lastModified": "time"},
}

// rustRefuses returns why the Rust SDK refuses a value, "" if it does not.
func rustRefuses(v *jsontree.Value, kind string) string {
	kind, needed := strings.CutSuffix(kind, "!")
	if !needed && v.Kind == jsontree.KindNull {
		return ""
	}
	ok := true
	if inner, list := strings.CutPrefix(kind, "[]"); list {
		if v.Kind != jsontree.KindArray {
			return fmt.Sprintf("%s is not a list", jsontree.Brief(v))
		}
		for _, kid := range v.Kids {
			if why := rustRefuses(kid, inner+"!"); why != "" {
				return why
			}
		}
		return ""
	}
	switch kind {
	case "string":
		ok = v.Kind == jsontree.KindString
	case "boolean":
		ok = v.Kind == jsontree.KindBoolean
	case "number":
		ok = v.Kind&jsontree.KindNumber != 0
	case "integer":
		ok = v.Kind == jsontree.KindInteger && v.Raw[0] != '-' && !bytes.ContainsAny(v.Raw, ".eE")
	case "object":
		ok = v.Kind == jsontree.KindObject
	case "time":
		_, err := time.Parse(time.RFC3339, v.Text)
		ok = err == nil
	default:
		if rustTypes[kind] != nil {
			return rustObject(v, rustTypes[kind])
		}
		ok = v.Kind == jsontree.KindString && slices.Contains(strings.Split(kind, "|"), v.Text)
	}
	if !ok {
		return fmt.Sprintf("%s is not %s", jsontree.Brief(v), kind)
	}
	return ""
}

func rustObject(v *jsontree.Value, members map[string]string) string {
	if v.Kind != jsontree.KindObject {
		return fmt.Sprintf("%s is not an object", jsontree.Brief(v))
	}
	seen := map[string]bool{}
	for _, m := range v.Kids {
		kind := members[m.Name]
		if kind == "" {
			continue
		}
		if seen[m.Name] {
			return m.Name + " is there twice"
		}
		seen[m.Name] = true
		if why := rustRefuses(m, kind); why != "" {
			return m.Name + ": " + why
		}
	}
	for name, kind := range members {
		if strings.HasSuffix(kind, "!") && !seen[name] {
			return name + " is missing"
		}
	}
	return ""
}

// askLikeRust reads lists as the official Rust SDK does, which CI cannot build.
func askLikeRust(t *testing.T, _ string, urls []string) (answers []listing) {
	for _, url := range urls {
		a := listing{URL: url, Errors: map[string]string{}, Names: map[string][]string{}, Last: "hello"}
		for _, l := range lists {
			body := firstRequest(t, url, l.method)
			v, broken := jsontree.Parse(body, 1000) // refuses halves of surrogate pairs, as Rust does
			if broken != nil {
				a.Errors[l.member] = broken.Error()
				continue
			}
			for _, item := range v.Get("result").Get(l.member).Items() {
				if why := rustObject(item, rustTypes[l.member]); why != "" {
					a.Errors[l.member] = fmt.Sprintf("%s: %.300s", why, item.Raw)
				} else {
					a.Names[l.member] = append(a.Names[l.member], item.Get(l.key).Text)
				}
			}
		}
		answers = append(answers, a)
	}
	return answers
}

// firstRequest begins a session with a request without params, and returns the
// message that answers.
func firstRequest(t *testing.T, url, method string) []byte {
	t.Helper()
	session, _ := rawRequest(t, url, "", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"rmcp","version":"1"}}}`)
	rawRequest(t, url, session, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	_, body := rawRequest(t, url, session, fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":%q}`, method))
	return body
}

// rawRequest posts a message, and returns the id of the session and the message
// that answers.
func rawRequest(t *testing.T, url, session, body string) (id string, answer []byte) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if session != "" {
		r.Header.Set("Mcp-Session-Id", session)
		r.Header.Set("MCP-Protocol-Version", "2025-11-25")
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	answer, err = io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasPrefix(response.Header.Get("Content-Type"), "text/event-stream") {
		for line := range bytes.Lines(answer) {
			if data, ok := bytes.CutPrefix(line, []byte("data:")); ok && json.Valid(bytes.TrimSpace(data)) {
				answer = bytes.TrimSpace(data)
			}
		}
	}
	return response.Header.Get("Mcp-Session-Id"), answer
}
