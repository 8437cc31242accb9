//go:build unix

package live

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/toolpost/toolpost/dev/accept"
	"github.com/toolpost/toolpost/internal/cleartext"
	"github.com/toolpost/toolpost/internal/wire"
)

// lists are the lists of MCP, with the member that names an item.
var lists = []struct{ method, member, key string }{
	{"tools/list", "tools", "name"},
	{"prompts/list", "prompts", "name"},
	{"resources/list", "resources", "uri"},
	{"resources/templates/list", "resourceTemplates", "uriTemplate"},
}

// A damagedServer lists real definitions, of which some are damaged.
type damagedServer struct {
	name   string
	result map[string]string   // by method
	intact map[string][]string // names of the items that are not damaged, by the member of their list
	calls  map[string]string   // results by tool, damaged too
	odd    []string            // URIs of resources that clients which parse them refuse
}

// newDamagedServer damages definitions, always alike for one seed.
func newDamagedServer(seed uint64) *damagedServer {
	rng := rand.New(rand.NewPCG(seed, 29))
	s := &damagedServer{
		name: fmt.Sprintf("bad%d", seed), result: map[string]string{}, calls: map[string]string{}, intact: map[string][]string{},
	}
	for _, l := range lists {
		var items []string
		for i, item := range s.definitions(l.member, rng) {
			if i%2 == 0 {
				s.intact[l.member] = append(s.intact[l.member], item[l.key].(string))
				items = append(items, marshal(item))
				continue
			}
			items = append(items, damage(rng, item, l.member == "tools"))
		}
		if l.member == "resources" {
			items = append(items, s.oddResources(rng)...)
		}
		rng.Shuffle(len(items), func(i, j int) { items[i], items[j] = items[j], items[i] })
		s.result[l.method] = fmt.Sprintf(`{%q:[%s]}`, l.member, strings.Join(items, ","))
	}
	for i, tool := range s.intact["tools"] {
		result := map[string]any{
			"content": []any{
				map[string]any{"type": "text", "text": "a", "annotations": map[string]any{"audience": []any{"user"}, "priority": 0.5}, "_meta": map[string]any{"a": 1}},
				map[string]any{"type": "resource_link", "uri": "test://a", "name": "a", "mimeType": "text/plain"},
				map[string]any{"type": "resource", "resource": map[string]any{"uri": "test://a", "mimeType": "text/plain", "text": "a"}},
				map[string]any{"type": "image", "data": "AAAA", "mimeType": "image/png"},
			},
			"structuredContent": map[string]any{"a": "b"}, "isError": false, "_meta": map[string]any{"x/y": 1},
		}
		if s.calls[tool] = damage(rng, result, false); i == 0 {
			s.calls[tool] = marshal(result)
		}
	}
	return s
}

// What addresses are made of that readers of URLs refuse, and of some that they accept.
var (
	oddSchemes  = []string{"http:", "https://", "ftp:///", "FILE://", "file:", "git://", "x+y:", "urn:", "1x://", "", "/"}
	oddURIParts = []string{"a", "repo", "b.example", "日本", "bücher", "xn--a", "1.2.3.4", "256.0.0.1", "0x", "..", "[::1]", "[::1", "[]", "%41", "%zz", "%", "%00", "\x01", "\n",
		" ", "@", ":", ":80", ":99999", ":main", "/", "//", `\`, "?", "#", "|", "^", "<", `"`, "{x}", "_"}
)

// oddResources returns resources that are intact but for their URIs.
func (s *damagedServer) oddResources(rng *rand.Rand) (items []string) {
	for i := range 8 {
		uri := oddSchemes[rng.IntN(len(oddSchemes))]
		for range rng.IntN(5) {
			uri += oddURIParts[rng.IntN(len(oddURIParts))]
		}
		uri += fmt.Sprintf("?%s-%d", s.name, i) // that no other server has
		if !wire.IsURI(uri) && cleartext.Clean(uri) == uri {
			s.odd = append(s.odd, uri)
		}
		items = append(items, marshal(map[string]any{"uri": uri, "name": fmt.Sprint("odd ", i)}))
	}
	return items
}

// definitions returns twelve definitions for a list, with every optional member.
func (s *damagedServer) definitions(member string, rng *rand.Rand) (all []map[string]any) {
	real := accept.Tools()
	for i := range 12 {
		name := fmt.Sprintf("%s_%d", member, i)
		d := map[string]any{
			"name": name, "title": "A title 😀", "description": "Describes " + name + ".",
			"icons": []any{map[string]any{"src": "data:image/png;base64,AAAA", "mimeType": "image/png", "sizes": []any{"48x48"}}},
			"_meta": map[string]any{"example.com/a": map[string]any{"b": 1}},
		}
		audience := map[string]any{"audience": []any{"user", "assistant"}, "priority": 0.5, "lastModified": "2025-01-12T15:00:58Z"}
		switch member {
		case "tools":
			d["inputSchema"] = schemaOf(real[rng.IntN(len(real))])
			if i%3 > 0 {
				d["outputSchema"] = schemaOf(real[rng.IntN(len(real))])
			}
			d["annotations"] = map[string]any{"title": "T", "readOnlyHint": true, "destructiveHint": false, "idempotentHint": true, "openWorldHint": false}
			d["execution"] = map[string]any{"taskSupport": "forbidden"}
		case "prompts":
			d["arguments"] = []any{map[string]any{"name": "a", "title": "A", "description": "An argument.", "required": true}, map[string]any{"name": "b"}}
		case "resources":
			d["uri"], d["mimeType"], d["size"], d["annotations"] = "test://"+s.name+"/"+name, "text/plain", 12, audience
		default:
			d["uriTemplate"], d["mimeType"], d["annotations"] = "test://"+s.name+"/"+name+"/{id}", "text/plain", audience
		}
		all = append(all, d)
	}
	return all
}

// schemaOf returns the schema of a real tool that the Java SDK accepts too, whose
// additionalProperties at the root is a boolean.
func schemaOf(s accept.Sample) (schema map[string]any) {
	if json.Unmarshal(s.Input(), &schema) != nil || schema["type"] != "object" {
		return map[string]any{"type": "object"}
	}
	if _, boolean := schema["additionalProperties"].(bool); !boolean {
		delete(schema, "additionalProperties")
	}
	return schema
}

// half stands for half of a surrogate pair until the JSON is written.
const half = "@half@"

// damage returns the JSON of v with one or two things damaged: a value of another
// type, null, a member that is missing, there twice, half of a surrogate pair, an
// odd part of a schema.
func damage(rng *rand.Rand, v map[string]any, schemas bool) string {
	twice := ""
	for range 1 + rng.IntN(2) {
		objects := objectsBelow(v, nil)
		o := objects[rng.IntN(len(objects))]
		if rng.IntN(2) == 0 {
			o = v // the members of the definition itself, more often
		}
		keys := slices.Sorted(maps.Keys(o))
		if len(keys) == 0 {
			continue
		}
		key := keys[rng.IntN(len(keys))]
		switch rng.IntN(8) {
		case 0, 1:
			o[key] = nil
		case 2, 3:
			o[key] = oddValue(rng)
		case 4:
			delete(o, key)
		case 5:
			twice = key
		case 6:
			o[key] = "a" + half
		case 7:
			if schemas {
				addOddPart(rng, v)
			} else {
				o[half] = "x"
			}
		}
	}
	text := strings.ReplaceAll(marshal(v), half, `\ud83d`)
	if twice != "" {
		quoted := marshal(twice) + ":"
		text = strings.Replace(text, quoted, quoted+marshal(oddValue(rng))+","+quoted, 1)
	}
	return text
}

// addOddPart adds an odd part to a schema of a tool.
func addOddPart(rng *rand.Rand, tool map[string]any) {
	name := []string{"inputSchema", "outputSchema", "outputSchema"}[rng.IntN(3)]
	schema, ok := tool[name].(map[string]any)
	if !ok {
		schema = map[string]any{"type": "object", "properties": map[string]any{"a": map[string]any{}}}
		tool[name] = schema
	}
	objects := objectsBelow(schema, nil)
	var part map[string]any
	if json.Unmarshal([]byte("{"+oddParts[rng.IntN(len(oddParts))]+"}"), &part) == nil {
		for k, v := range part {
			objects[rng.IntN(len(objects))][k] = v
		}
	}
}

// ServeHTTP answers as a server of 2025-11-25 without sessions does.
func (s *damagedServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var m message
	if r.Method != http.MethodPost || err != nil || json.Unmarshal(body, &m) != nil {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	if m.ID == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	result := s.result[m.Method]
	switch m.Method {
	case "initialize":
		result = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"prompts":{},"resources":{}},"serverInfo":{"name":"damaged","version":"1"}}`
	case "tools/call":
		result = s.calls[m.Params.Name]
	case "resources/read":
		result = marshal(map[string]any{"contents": []any{map[string]any{"uri": m.Params.URI, "text": m.Params.URI}}})
	case "ping":
		result = "{}"
	}
	w.Header().Set("Content-Type", "application/json")
	if result == "" {
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}`, m.ID)
		return
	}
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
}

// newGoodServer returns a server whose definitions are all valid.
func newGoodServer() *damagedServer {
	s := &damagedServer{name: "good", result: map[string]string{}, intact: map[string][]string{}, calls: map[string]string{
		"hello": `{"content":[{"type":"text","text":"hello"}],"structuredContent":{"a":"b"}}`,
	}}
	for _, l := range lists {
		name := map[string]string{"name": "hello", "uri": "test://good/hello", "uriTemplate": "test://good/hello/{id}"}[l.key]
		item := map[string]any{"name": "hello", l.key: name}
		if l.member == "tools" {
			item["inputSchema"] = map[string]any{"type": "object"}
			item["outputSchema"] = map[string]any{"type": "object", "properties": map[string]any{"a": map[string]any{"type": "string"}}, "required": []any{"a"}}
		}
		s.result[l.method] = fmt.Sprintf(`{%q:[%s]}`, l.member, marshal(item))
		s.intact[l.member] = []string{name}
	}
	return s
}

// start serves s and returns its address.
func (s *damagedServer) start(t *testing.T) string {
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return server.URL
}
