package live

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
)

const (
	longRows = 5_000_000 // of 100 characters: 500 MB
	longLast = "verdict: 3 of 4 failed"
)

// longStdio is a server whose tool returns 500 MB, and longHTTP another.
func longStdio() {
	out := bufio.NewWriter(os.Stdout)
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		if writeLong(out, in.Bytes()) {
			fmt.Fprintln(out)
		}
		_ = out.Flush() // the end of the pipe ends the process
	}
}

func longHTTP(w http.ResponseWriter, r *http.Request) {
	question, err := io.ReadAll(r.Body)
	if err != nil || r.Method != http.MethodPost {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	out := bufio.NewWriter(w)
	defer out.Flush() //nolint:errcheck // the client notices
	if r.URL.Path == "/events" {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprint(out, "data: ")
		defer fmt.Fprint(out, "\n\n")
	} else {
		w.Header().Set("Content-Type", "application/json")
	}
	writeLong(out, question)
}

// writeLong answers a message, and reports whether it has an answer.
func writeLong(out io.Writer, question []byte) bool {
	var m struct {
		ID     json.RawMessage
		Method string
	}
	if json.Unmarshal(question, &m) != nil || m.ID == nil {
		return false
	}
	switch m.Method {
	case "initialize":
		fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"long","version":"1"}}}`, m.ID)
	case "tools/list":
		fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"log","inputSchema":{"type":"object"}}]}}`, m.ID)
	case "tools/call":
		fmt.Fprint(out, `{"result":{"content":[{"type":"text","text":"`)
		for i := range longRows {
			fmt.Fprintf(out, `%09d %s\n`, i+1, strings.Repeat("log entry ", 9)[:89])
		}
		fmt.Fprintf(out, `%s\n"}]},"jsonrpc":"2.0","id":%s}`, longLast, m.ID)
	default:
		fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}`, m.ID)
	}
	return true
}
