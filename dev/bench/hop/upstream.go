package main

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
)

// The newest protocol version of each era: with sessions, and stateless. An
// upstream of both eras is for peers that speak another one to it than to their
// clients.
const (
	sessionEra   = "2025-11-25"
	statelessEra = "2026-07-28"
	bothEras     = "both"
)

// textOf returns the text of a result of size bytes: lines of a log. Its first
// and last characters tell a complete text from a part of it.
func textOf(size int) string {
	const line = "2026-11-22T12:00:00Z INFO request done method=GET path=/v1/items status=200 took=12ms\n"
	return first + strings.Repeat(line, size/len(line)+1)[:size-len(first)-len(last)] + last
}

const (
	first = "BEGIN "
	last  = " END"
)

// encodedText returns textOf(size) as a JSON string without its quotes.
func encodedText(size int) []byte {
	return []byte(strings.ReplaceAll(textOf(size), "\n", `\n`))
}

// An upstream is an MCP server with one tool, "text", whose result is
// a text of as many bytes as the argument asks for. It answers with prepared
// bytes, so that it takes little of the time that is measured.
type upstream struct {
	sessions, stateless bool // the eras that it speaks
	json                bool // answers over HTTP are JSON, not one event
	texts               map[int][]byte
	next                atomic.Int64 // session
}

func newUpstream(era string, asJSON bool) *upstream {
	u := &upstream{sessions: era != statelessEra, stateless: era != sessionEra, json: asJSON, texts: map[int][]byte{}}
	for _, s := range sizes {
		u.texts[s.bytes] = encodedText(s.bytes)
	}
	return u
}

// A request is what the upstream reads of a message.
type request struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Version   string `json:"protocolVersion"`
		Arguments struct {
			Bytes int `json:"bytes"`
		} `json:"arguments"`
	} `json:"params"`
}

// version is the one that initialize agrees on: what the client asks for, if
// that has sessions.
func (r *request) version() string {
	if v := r.Params.Version; v > "2024" && v < sessionEra && !strings.ContainsAny(v, `"\\`) {
		return v
	}
	return sessionEra
}

const (
	tool = `{"name":"text","description":"Returns a text.","inputSchema":` +
		`{"type":"object","properties":{"bytes":{"type":"integer","description":"Length of the text."}},"required":["bytes"]}}`
	serverInfo = `{"name":"upstream","version":"1.0.0"}`
)

// complete is what every result of the stateless era carries.
const complete = `,"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":` + serverInfo + `}`

// answer appends the answer to b. An unknown method is an error.
func (u *upstream) answer(b []byte, r *request) []byte {
	b = append(b, `{"jsonrpc":"2.0","id":`...)
	b = append(b, r.ID...)
	switch {
	case r.Method == "tools/call":
		b = append(b, `,"result":{"content":[{"type":"text","text":"`...)
		b = append(b, u.texts[r.Params.Arguments.Bytes]...)
		b = append(b, `"}]`...)
	case r.Method == "tools/list":
		b = append(b, `,"result":{"tools":[`+tool+`]`...)
		if u.stateless {
			b = append(b, `,"ttlMs":60000,"cacheScope":"public"`...)
		}
	case r.Method == "initialize" && u.sessions:
		b = append(b, `,"result":{"protocolVersion":"`+r.version()+`","capabilities":{"tools":{}},"serverInfo":`+serverInfo...)
	case r.Method == "ping" && u.sessions:
		b = append(b, `,"result":{`...)
	case r.Method == "server/discover" && u.stateless:
		b = append(b, `,"result":{"supportedVersions":["`+statelessEra+`"],"capabilities":{"tools":{}},"ttlMs":60000,"cacheScope":"public"`...)
	default:
		return append(b, `,"error":{"code":-32601,"message":"method not found"}}`...)
	}
	if u.stateless {
		b = append(b, complete...)
	}
	return append(b, "}}"...)
}

// ServeHTTP serves streamable HTTP.
func (u *upstream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.Method {
	case http.MethodPost:
	case http.MethodDelete: // of a session
		return
	default:
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	body, err := io.ReadAll(r.Body)
	var m request
	if err != nil || json.Unmarshal(body, &m) != nil {
		http.Error(w, "not a JSON-RPC message", http.StatusBadRequest)
		return
	}
	h := w.Header()
	if m.ID == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	if m.Method == "initialize" && u.sessions {
		h.Set("Mcp-Session-Id", "session-"+strconv.FormatInt(u.next.Add(1), 10))
	}
	status := http.StatusOK
	if stateless := r.Header.Get("Mcp-Protocol-Version") == statelessEra; stateless && !u.stateless || !stateless && !u.sessions {
		status = http.StatusBadRequest
	}
	if u.json || status != http.StatusOK {
		h.Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = w.Write(u.answer(nil, &m))
		return
	}
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-cache")
	b := u.answer([]byte("event: message\ndata: "), &m)
	_, _ = w.Write(append(b, "\n\n"...))
}

// serveStdio serves standard input and output.
func (u *upstream) serveStdio() error {
	in := bufio.NewReaderSize(os.Stdin, 64<<10)
	var b []byte
	for {
		line, err := in.ReadBytes('\n')
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		var m request
		if json.Unmarshal(line, &m) != nil || m.ID == nil || m.Method == "" {
			continue
		}
		b = append(u.answer(b[:0], &m), '\n')
		if _, err := os.Stdout.Write(b); err != nil {
			return err
		}
	}
}
