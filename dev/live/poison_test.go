//go:build unix

package live

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
)

// A pill is a tool as some server somewhere lists it, byte for byte, which
// some client takes badly. A row is a kind of them.
type pill struct{ row, name, tool string }

// odd makes a pill of an input schema and an output schema; none is "".
func odd(row, input, output string) pill { return named(row, row, input, output) }

func named(row, name, input, output string) pill {
	tool := fmt.Sprintf(`{"name":%q,"description":%q`, name, says(name))
	if input != "" {
		tool += `,"inputSchema":` + input
	}
	if output != "" {
		tool += `,"outputSchema":` + output
	}
	return pill{row, name, tool + "}"}
}

// says is the description of a tool: it tells it from all others, under
// whatever name the tool reaches a model.
func says(name string) string { return "Says what tool " + name + " got." }

func property(row, schema string) pill {
	return odd(row, `{"type":"object","properties":{"text":`+schema+`}}`, "")
}

func key(row, key string) pill {
	return odd(row, fmt.Sprintf(`{"type":"object","properties":{%q:{"type":"string"}},"required":[%q]}`, key, key), "")
}

const plain = `{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}`

var (
	longKey  = strings.Repeat("k", 65)
	longName = strings.Repeat("n", 128)
)

// pills has one row for each kind of oddity that clients were seen to take badly.
var pills = []pill{
	odd("missing", "", ""),
	odd("empty", `{}`, ""),
	odd("untyped", `{"properties":{"text":{"type":"string"}}}`, ""),
	odd("union", `{"anyOf":[{"type":"object","properties":{"text":{"type":"string"}}},{"type":"object","properties":{"id":{"type":"integer"}}}]}`, ""),
	odd("nullable", `{"type":["object","null"],"properties":{"text":{"type":"string"}}}`, ""),
	odd("array", `{"type":"array","items":{"type":"string"}}`, ""),
	odd("required", `{"type":"object","properties":{"text":{"type":"string"}},"required":null}`, ""),
	odd("properties", `{"type":"object","properties":null}`, ""),
	property("true", `true`),
	odd("outarray", plain, `{"type":"array","items":{"type":"string"}}`),
	odd("outunion", plain, `{"anyOf":[{"type":"object"},{"type":"null"}]}`),
	odd("outuntyped", plain, `{"properties":{"text":{"type":"string"}}}`),
	odd("anyof", `{"type":"object","properties":{"text":{"type":"string"},"id":{"type":"integer"}},"anyOf":[{"required":["text"]},{"required":["id"]}]}`, ""),
	odd("oneof", `{"type":"object","properties":{"text":{"type":"string"},"id":{"type":"integer"}},"oneOf":[{"required":["text"]},{"required":["id"]}]}`, ""),
	odd("allof", `{"type":"object","allOf":[{"properties":{"text":{"type":"string"}}},{"properties":{"id":{"type":"integer"}}}]}`, ""),
	key("dollar", "$filter"),
	key("brackets", "ids[]"),
	key("space", "my key"),
	key("longkey", longKey),
	key("unicode", "名前"),
	key("at", "@type"),
	key("colon", "a:b"),
	property("tuple", `{"type":"array","items":[{"type":"string"},{"type":"integer"}]}`),
	property("exclusive", `{"type":"number","minimum":0,"exclusiveMinimum":true}`),
	property("flag", `{"type":"string","required":false}`),
	property("any", `{"type":"any"}`),
	{"long", "long", fmt.Sprintf(`{"name":"long","description":%q,"inputSchema":%s}`, says("long")+strings.Repeat(" It goes on.", 500), plain)},
	named("name", longName, plain, ""),
	named("twins", "a.b", plain, ""),
	named("twins", "a_b", plain, ""),
}

// listed returns what a server with a row lists: a good tool and those of the
// row; for no row the good one alone, for "all" every row.
func listed(row string) []pill {
	list := []pill{named("", "good", plain, "")}
	for _, p := range pills {
		if row == p.row || row == "all" {
			list = append(list, p)
		}
	}
	return list
}

// A message is one of JSON-RPC.
type message struct {
	ID     json.RawMessage
	Method string
	Params struct {
		ProtocolVersion string
		ClientInfo      json.RawMessage
		Name            string
		URI             string
		Arguments       json.RawMessage
	}
}

// rpc answers one message, nil to a notification.
func rpc(row string, line []byte) []byte {
	var m message
	if json.Unmarshal(line, &m) != nil || m.ID == nil {
		return nil
	}
	var result string
	switch m.Method {
	case "initialize":
		result = fmt.Sprintf(`{"protocolVersion":%q,"capabilities":{"tools":{}},"serverInfo":{"name":"poison","version":"1"}}`, m.Params.ProtocolVersion)
	case "tools/list":
		var tools []string
		for _, p := range listed(row) {
			tools = append(tools, p.tool)
		}
		result = `{"tools":[` + strings.Join(tools, ",") + `]}`
	case "tools/call":
		result = marshal(object{"content": []any{object{"type": "text", "text": echo(m.Params.Name, m.Params.Arguments)}}})
	case "ping":
		result = `{}`
	default:
		return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no method %s"}}`, m.ID, m.Method)
	}
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
}

// echo is what a call answers.
func echo(name string, arguments json.RawMessage) string {
	return fmt.Sprintf("%s got %s", name, arguments)
}

// poison is the command line of a server over stdio: this test binary, which
// TestMain makes one. It appends what it reads to a file.
func poison(t *testing.T, row, log string) []string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return []string{self, "poison", row, log}
}

// servePoison is that server.
func servePoison(row, log string) error {
	file, err := os.OpenFile(log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	in := bufio.NewReader(os.Stdin)
	for {
		line, err := in.ReadBytes('\n')
		if err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		if _, err := file.Write(line); err != nil {
			return err
		}
		if out := rpc(row, line); out != nil {
			if _, err := os.Stdout.Write(append(out, '\n')); err != nil {
				return err
			}
		}
	}
}

// poisonHTTP is the same over HTTP. It appends the messages and the user
// agent of each request.
func poisonHTTP(t *testing.T, row, log string) string {
	s := listen(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || r.Method != http.MethodPost {
			http.Error(w, "POST only", http.StatusMethodNotAllowed)
			return
		}
		file, err := os.OpenFile(log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			t.Error(err)
			return
		}
		defer file.Close()
		fmt.Fprintf(file, "%s\n{\"userAgent\":%q}\n", bytes.TrimSpace(body), r.UserAgent())
		out := rpc(row, body)
		if out == nil {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Write(out) //nolint:errcheck // the client may have gone
	}))
	return s.URL + "/mcp"
}
