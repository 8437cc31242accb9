package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// A client that does not finish the header of its request loses its connection. Other
// clients are served meanwhile.
func TestSlowHeaders(t *testing.T) {
	t.Parallel() // it waits for the limit of the server
	address := strings.TrimPrefix(startBridge(t, "--", "fixture"), "http://")
	dial := func() net.Conn {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
			t.Fatal(err)
		}
		return conn
	}
	slow := make([]net.Conn, 50)
	for i := range slow {
		slow[i] = dial()
		fmt.Fprintf(slow[i], "POST /mcp HTTP/1.1\r\nHost: %s\r\nX-Slow: ", address)
	}
	other := dial()
	fmt.Fprintf(other, "GET /healthz HTTP/1.1\r\nHost: %s\r\n\r\n", address)
	if resp, err := http.ReadResponse(bufio.NewReader(other), nil); err != nil || resp.StatusCode != http.StatusOK {
		t.Errorf("another client gets %v, %v", resp, err)
	}
	for i, conn := range slow {
		if _, err := io.Copy(io.Discard, conn); err != nil && strings.Contains(err.Error(), "timeout") {
			t.Fatalf("connection %d is open after %v", i, patience)
		}
	}
}
