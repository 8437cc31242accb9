//go:build unix

package live

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
)

// A pill is a tool as some server somewhere lists it, byte for byte, which
// some client takes badly.
type pill struct{ row, tools string }

const good = `{"name":"good","description":"Says it back.","inputSchema":{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}}`

// input makes a tool whose input schema is odd, output one whose output schema is.
func input(row, schema string) pill {
	return pill{row, fmt.Sprintf(`{"name":%q,"description":"Odd input.","inputSchema":%s}`, row, schema)}
}

func output2(row, schema string) pill {
	return pill{row, fmt.Sprintf(`{"name":%q,"description":"Odd output.","inputSchema":{"type":"object","properties":{"text":{"type":"string"}}},"outputSchema":%s}`, row, schema)}
}

func property(row, schema string) pill {
	return input(row, `{"type":"object","properties":{"text":`+schema+`}}`)
}

func key(row, key string) pill {
	return input(row, fmt.Sprintf(`{"type":"object","properties":{%q:{"type":"string"}},"required":[%q]}`, key, key))
}

var longKey = strings.Repeat("k", 65)

// pills has one row for each kind of oddity that clients were seen to take badly.
var pills = []pill{
	{"missing", `{"name":"missing","description":"No input schema."}`},
	input("empty", `{}`),
	input("untyped", `{"properties":{"text":{"type":"string"}}}`),
	input("union", `{"anyOf":[{"type":"object","properties":{"text":{"type":"string"}}},{"type":"object","properties":{"id":{"type":"integer"}}}]}`),
	input("nullable", `{"type":["object","null"],"properties":{"text":{"type":"string"}}}`),
	input("array", `{"type":"array","items":{"type":"string"}}`),
	input("required", `{"type":"object","properties":{"text":{"type":"string"}},"required":null}`),
	input("properties", `{"type":"object","properties":null}`),
	property("true", `true`),
	output2("outarray", `{"type":"array","items":{"type":"string"}}`),
	output2("outunion", `{"anyOf":[{"type":"object"},{"type":"null"}]}`),
	output2("outuntyped", `{"properties":{"text":{"type":"string"}}}`),
	input("anyof", `{"type":"object","properties":{"text":{"type":"string"},"id":{"type":"integer"}},"anyOf":[{"required":["text"]},{"required":["id"]}]}`),
	input("oneof", `{"type":"object","properties":{"text":{"type":"string"},"id":{"type":"integer"}},"oneOf":[{"required":["text"]},{"required":["id"]}]}`),
	input("allof", `{"type":"object","allOf":[{"properties":{"text":{"type":"string"}}},{"properties":{"id":{"type":"integer"}}}]}`),
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
	{"long", fmt.Sprintf(`{"name":"long","description":%q,"inputSchema":{"type":"object","properties":{"text":{"type":"string"}}}}`, strings.Repeat("It is long. ", 500))},
	{"name", fmt.Sprintf(`{"name":"name_%s","description":"A long name.","inputSchema":{"type":"object","properties":{"text":{"type":"string"}}}}`, strings.Repeat("n", 123))},
	{"twins", `{"name":"a.b","description":"With a dot.","inputSchema":{"type":"object","properties":{"text":{"type":"string"}}}},` +
		`{"name":"a_b","description":"With an underscore.","inputSchema":{"type":"object","properties":{"text":{"type":"string"}}}}`},
}

// listed returns the tools that a server with a row lists: a good one and the
// row; without a row the good one alone, with "all" every row.
func listed(row string) string {
	list := []string{good}
	for _, p := range pills {
		if row == p.row || row == "all" {
			list = append(list, p.tools)
		}
	}
	return "[" + strings.Join(list, ",") + "]"
}

// names returns the names of the tools that a server with a row lists.
func names(t *testing.T, row string) []string {
	t.Helper()
	var list []struct{ Name string }
	if err := json.Unmarshal([]byte(listed(row)), &list); err != nil {
		t.Fatal(err)
	}
	all := make([]string, len(list))
	for i, tool := range list {
		all[i] = tool.Name
	}
	return all
}

// A message is one of JSON-RPC.
type message struct {
	ID     json.RawMessage
	Method string
	Params struct {
		ProtocolVersion string
		ClientInfo      json.RawMessage
		Name            string
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
		result = `{"tools":` + listed(row) + `}`
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
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
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
	t.Cleanup(s.Close)
	return s.URL + "/mcp"
}
