package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// patience is how long one answer may take.
const patience = 60 * time.Second

// An endpoint is where and how clients call the tool.
type endpoint struct {
	url    string
	era    string
	legacy bool   // HTTP+SSE of 2024-11-05
	tool   string // its name there
}

// A client is a cheap MCP client: it writes prepared bytes over one connection
// and reads of an answer only what tells that it is the right one.
type client struct {
	endpoint
	host   string
	conn   *conn
	stream *events // legacy
	header string
	nextID int

	call   []byte // a whole request of HTTP with a tools/call
	callID []byte // the digits of its id, in call
}

const clientInfo = `{"name":"bench","version":"1.0.0"}`

// dial opens a client, and a session where the era has them. The address from
// is where it connects from, "" for any.
func dial(e endpoint, from string) (*client, error) {
	u, err := url.Parse(e.url)
	if err != nil {
		return nil, err
	}
	c := &client{endpoint: e, host: u.Host, nextID: 100_000_000}
	if c.conn, err = connect(u.Host, from); err != nil {
		return nil, err
	}
	if err := c.open(u.RequestURI()); err != nil {
		c.conn.Close()
		return nil, err
	}
	return c, nil
}

func (c *client) open(path string) error {
	c.header = "POST " + path + " HTTP/1.1\r\nHost: " + c.host + "\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nUser-Agent: bench\r\n"
	switch {
	case c.legacy:
		if err := c.listen(path); err != nil {
			return err
		}
	case c.era == statelessEra:
		c.header += "Mcp-Protocol-Version: " + statelessEra + "\r\n"
		return nil
	}
	_, err := c.ask("initialize", `{"protocolVersion":"`+sessionEra+`","capabilities":{},"clientInfo":`+clientInfo+`}`)
	if err != nil {
		return err
	}
	if !c.legacy {
		c.header += "Mcp-Protocol-Version: " + sessionEra + "\r\n"
	}
	_, err = c.exchange(c.request("", `{"jsonrpc":"2.0","method":"notifications/initialized"}`), &answer{whole: true})
	return err
}

// listen opens the stream of the legacy transport, on which the server says
// where to post.
func (c *client) listen(path string) error {
	s, err := openEvents(c.host, path)
	if err != nil {
		return err
	}
	where, err := s.next("endpoint")
	if err != nil {
		s.close()
		return err
	}
	u, err := url.Parse(string(where))
	if err != nil {
		s.close()
		return err
	}
	c.stream = s
	c.header = strings.Replace(c.header, path, u.RequestURI(), 1)
	return nil
}

// close ends the session, if there is one, and the connection.
func (c *client) close() {
	if strings.Contains(c.header, "Mcp-Session-Id: ") {
		end := strings.Replace(c.header, "POST ", "DELETE ", 1) + "Content-Length: 0\r\n\r\n"
		_, _ = c.conn.exchange([]byte(end), &answer{}) // it ends anyway
	}
	c.abandon()
}

// abandon closes the connection and leaves the session as it is.
func (c *client) abandon() {
	c.conn.Close()
	if c.stream != nil {
		c.stream.close()
	}
}

// request returns a request of HTTP with a message.
func (c *client) request(headers, body string) []byte {
	return []byte(c.header + headers + "Content-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n" + body)
}

// ask sends a request and returns its result.
func (c *client) ask(method, params string) (json.RawMessage, error) {
	c.nextID++
	headers := ""
	if c.era == statelessEra {
		headers = "Mcp-Method: " + method + "\r\n"
		params = withMeta(params)
	}
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, c.nextID, method, params)
	a := &answer{whole: true}
	if _, err := c.exchange(c.request(headers, body), a); err != nil {
		return nil, fmt.Errorf("%s: %w", method, err)
	}
	var m struct{ Result, Error json.RawMessage }
	if err := json.Unmarshal(message(a.head), &m); err != nil {
		return nil, fmt.Errorf("%s: the answer is not JSON: %.200s", method, a.head)
	}
	if m.Result == nil {
		return nil, fmt.Errorf("%s: %.300s", method, m.Error)
	}
	return m.Result, nil
}

// withMeta adds what each request of the stateless era carries.
func withMeta(params string) string {
	meta := `"_meta":{"io.modelcontextprotocol/protocolVersion":"` + statelessEra + `","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":` + clientInfo + `}}`
	if params == "{}" {
		return "{" + meta
	}
	return strings.TrimSuffix(params, "}") + "," + meta
}

// message returns the last message of an event stream, or the body itself.
func message(body []byte) []byte {
	i := bytes.LastIndex(body, []byte("data:"))
	if i < 0 || i > 0 && body[i-1] != '\n' {
		return body
	}
	line, _, _ := bytes.Cut(body[i+len("data:"):], []byte("\n"))
	return line
}

// exchange sends a request and reads its answer, which with the legacy
// transport comes on the stream.
func (c *client) exchange(request []byte, a *answer) (status int, err error) {
	status, err = c.conn.exchange(request, a)
	if err != nil {
		return status, err
	}
	if status/100 != 2 {
		return status, fmt.Errorf("status %d: %.200s", status, a.head)
	}
	if a.session != "" {
		c.header += "Mcp-Session-Id: " + a.session + "\r\n"
		a.session = ""
	}
	if c.stream == nil || bytes.Contains(request, []byte(`"method":"notifications/`)) {
		return status, nil
	}
	a.reset()
	data, err := c.stream.next("message")
	_, _ = a.Write(data) // it takes everything
	return status, err
}

// find learns what the tool is called at the endpoint.
func (c *client) find() (string, error) {
	result, err := c.ask("tools/list", "{}")
	if err != nil {
		return "", err
	}
	var list struct{ Tools []struct{ Name string } }
	if err := json.Unmarshal(result, &list); err != nil {
		return "", err
	}
	for _, t := range list.Tools {
		if strings.HasSuffix(t.Name, "text") {
			return t.Name, nil
		}
	}
	return "", fmt.Errorf("the tool is not among the %d listed", len(list.Tools))
}

// prepare makes the request of all calls.
func (c *client) prepare(size int) {
	params := fmt.Sprintf(`{"name":%q,"arguments":{"bytes":%d}}`, c.tool, size)
	headers := ""
	if c.era == statelessEra {
		headers = "Mcp-Method: tools/call\r\nMcp-Name: " + c.tool + "\r\n"
		params = withMeta(params)
	}
	const start = `{"jsonrpc":"2.0","id":`
	id := strconv.Itoa(c.nextID)
	c.call = c.request(headers, start+id+`,"method":"tools/call","params":`+params+`}`)
	at := bytes.Index(c.call, []byte(start)) + len(start)
	c.callID = c.call[at : at+len(id)]
}

// callTool makes one prepared call and checks its answer.
func (c *client) callTool(w *want, a *answer) error {
	c.nextID++
	strconv.AppendInt(c.callID[:0], int64(c.nextID), 10)
	if _, err := c.exchange(c.call, a); err != nil {
		return err
	}
	return w.check(a, c.callID)
}
