package e2e_test

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/toolpost/toolpost/internal/wire"
)

// oddResults returns results of tools as odd as servers may write them: white
// space, order, escapes, numbers, and members and types that nobody knows.
// Meta is the text of their _meta, "" if they have none.
func oddResults() (results []string, meta []string) {
	contents := []string{
		`[]`, `[ ]`, "[\n\t{ \"type\" : \"text\",\r\n \"text\":\"a\" }\n]", `[{"text":"b","type":"text"}]`,
		`[{"type":"text","text":"\u00e9\/\u003c\ud83d\ude00\b\f"}]`, `[{"type":"text","text":"é/<😀 \u2028\u2029"}]`,
		`[{"type":"text","text":"c","annotations":{"priority":1.0,"audience":[]},"x-new":[1e400,-0,0.10,1E+2]}]`,
		`[{"type":"hologram","data":{"a":null}},{"type":"text","text":""}]`,
		`[{"type":"image","data":"aGk=","mimeType":"image\/png"},{"type":"resource_link","uri":"ui:\/\/x","name":"n"}]`,
		`[{"type":"resource","resource":{"uri":"a:b","text":"t","_meta":{"k":[ ]}}}]`,
	}
	others := []string{
		``, `"isError":false`, `"isError": true`, `"structuredContent":{"big":12345678901234567890,"f":1.10,"e":1e-7}`,
		` "structuredContent" : { "z":1 , "a":2 , "\u0061b":[[],{}] }`, `"x-unknown":{"b":1,"a":[true,false,null]}`,
		`"resultType":"complete"`, `"ttlMs":5 ,"cacheScope":"private"`,
	}
	metas := []string{"", `{}`, `{ "k" : 1 }`, `{"com.example/x":{"deep":[{"a":"\u0041"}]},"n":1.50}`}
	for i, c := range contents {
		for j, o := range others {
			for k, m := range metas {
				members := []string{`"content":` + c}
				if o != "" {
					members = append(members, o)
				}
				if m != "" {
					members = append(members, `"_meta":`+m)
				}
				if (i+j+k)%3 == 1 { // another order
					members[0], members[len(members)-1] = members[len(members)-1], members[0]
				}
				space := []string{"", " ", "\n  "}[(i+2*j+k)%3]
				results = append(results, "{"+space+strings.Join(members, space+",")+space+"}")
				meta = append(meta, m)
			}
		}
	}
	return results, meta
}

// TestExactBytes passes odd results through the gateway, between every pair of
// protocol eras.
func TestExactBytes(t *testing.T) {
	results, meta := oddResults()
	if len(results) < 300 {
		t.Fatalf("only %d results", len(results))
	}
	for _, server := range []string{wire.LastSession, wire.Stateless} {
		url := serveGateway(t, serveResults(t, results), server)
		for _, client := range []string{wire.LastSession, wire.Stateless} {
			t.Run("server "+server+", client "+client, func(t *testing.T) {
				c := newRawClient(t, url, client)
				for i, raw := range results {
					want := raw
					if client == wire.Stateless {
						want = completed(raw, meta[i])
					}
					if got := c.call(fmt.Sprintf(`"name":"odd","arguments":{"n":%d}`, i)); got != want {
						t.Errorf("result %d\n%s\nwant\n%s", i, got, want)
					}
				}
			})
		}
	}
}

// completed returns a result with what 2026-07-28 demands at its end.
func completed(raw, meta string) string {
	const info = `"io.modelcontextprotocol/serverInfo":{"name":"toolpost","version":"0.0.0"}`
	var added []string
	if !strings.Contains(raw, "resultType") {
		added = append(added, `"resultType":"complete"`)
	}
	switch strings.Trim(meta, "{} ") {
	case "":
		if meta == "" {
			added = append(added, `"_meta":{`+info+`}`)
		}
		raw = strings.Replace(raw, `"_meta":{}`, `"_meta":{`+info+`}`, 1)
	default:
		raw = strings.Replace(raw, meta, strings.TrimRight(meta[:len(meta)-1], " ")+","+info+"}", 1)
	}
	if len(added) == 0 {
		return raw
	}
	return strings.TrimRight(raw[:len(raw)-1], " \n") + "," + strings.Join(added, ",") + "}"
}

// serveResults is a server of both eras whose tool returns one of results.
func serveResults(t *testing.T, results []string) string {
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		found, _, fault := wire.Parse(body)
		if fault != nil || r.Method != http.MethodPost {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		m, n := found[0], 0
		result := `{"resultType":"complete"}`
		switch m.Method {
		case "initialize":
			w.Header().Set("Mcp-Session-Id", "s")
			result = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"odd","version":"1"}}`
		case "server/discover":
			result = `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"ttlMs":0,"cacheScope":"private","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"odd","version":"1"}}}`
		case "tools/list":
			result = `{"resultType":"complete","tools":[{"name":"odd","inputSchema":{"type":"object"}}],"ttlMs":0,"cacheScope":"private"}`
		case "tools/call":
			fmt.Sscanf(string(wire.Get(m.Arguments, "n")), "%d", &n)
			result = results[n]
		}
		response := wire.AppendResult(nil, m.ID, []byte(result))
		switch {
		case !m.IsCall():
			w.WriteHeader(http.StatusAccepted)
		case n%2 == 1 && bytes.IndexByte(response, '\r') < 0:
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, "data: %s\n\n", bytes.ReplaceAll(response, []byte("\n"), []byte("\ndata: ")))
		default:
			w.Header().Set("Content-Type", "application/json")
			w.Write(response)
		}
	}))
	t.Cleanup(h.Close)
	return h.URL
}

// serveGateway serves a gateway in front of one server, and returns its address.
func serveGateway(t *testing.T, url, version string) string {
	t.Helper()
	return listen(t, openGateway(t, fmt.Sprintf(`{"mcpServers":{"odd":{"url":%q,"protocolVersion":%q,"prefix":""}}}`, url, version))) + "/mcp"
}

// A rawClient speaks one version of MCP, and shows the bytes of results.
type rawClient struct {
	t                     *testing.T
	url, version, session string
	accept                string
}

func newRawClient(t *testing.T, url, version string) *rawClient {
	c := &rawClient{t: t, url: url, version: version}
	if version != wire.Stateless {
		c.post("initialize", `"protocolVersion":"`+version+`","capabilities":{},"clientInfo":{"name":"raw","version":"1"}`)
	}
	return c
}

func (c *rawClient) call(members string) string { return c.post("tools/call", members) }

func (c *rawClient) post(method, members string) string {
	c.t.Helper()
	if c.version == wire.Stateless {
		members += `,"_meta":{"` + wire.MetaVersion + `":"` + c.version + `","` + wire.MetaClientInfo + `":{"name":"raw","version":"1"},"` + wire.MetaCapabilities + `":{}}`
	}
	body := `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{` + members + `}}`
	r, err := http.NewRequestWithContext(c.t.Context(), http.MethodPost, c.url, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	for name, value := range map[string]string{
		"Content-Type": "application/json", "Accept": cmp.Or(c.accept, "application/json, text/event-stream"), "Mcp-Protocol-Version": c.version,
		"Mcp-Session-Id": c.session, "Mcp-Method": method, "Mcp-Name": "odd",
	} {
		if value != "" {
			r.Header.Set(name, value)
		}
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		c.t.Fatal(err)
	}
	defer resp.Body.Close()
	c.session = cmp.Or(c.session, resp.Header.Get("Mcp-Session-Id"))
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		var lines []string
		for line := range strings.Lines(string(data)) {
			if text, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "data:"); ok {
				lines = append(lines, strings.TrimPrefix(text, " "))
			}
		}
		data = []byte(strings.Join(lines, "\n"))
	}
	found := wire.Read(data)
	if len(found) != 1 || found[0].Result == nil {
		c.t.Fatalf("%s: %s %s", method, resp.Status, data)
	}
	return string(found[0].Result)
}
