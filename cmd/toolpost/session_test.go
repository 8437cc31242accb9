//go:build unix

package main

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/folder"
)

// TestSessionEndsCommands: what a session left running is ended when it is over.
func TestSessionEndsCommands(t *testing.T) {
	dir := t.TempDir()
	o := &serveOptions{logFormat: "text", logLevel: slog.LevelError, addr: "127.0.0.1:0", access: accessOptions{insecure: true}, folder: folder.Options{Tools: []string{folder.Bash}, Root: dir}}
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	d := o.newDisplay(io.Discard, true)
	defer d.close()
	s, end, err := o.open(t.Context(), d, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer end()
	defer s.Close()
	serving, stop := context.WithCancel(t.Context())
	var served sync.WaitGroup
	defer served.Wait()
	defer stop()
	served.Go(func() { _ = s.Serve(serving) })
	ask := (&httpSession{t: t, url: strings.TrimSuffix(s.Access().URL, "/mcp")}).send
	ask(http.MethodPost, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`)
	ask(http.MethodPost, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	told := filepath.Join(dir, "told")
	if err := syscall.Mkfifo(told, 0o600); err != nil {
		t.Fatal(err)
	}
	ask(http.MethodPost, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"bash","arguments":{"command":"echo $$ > told; exec sleep 1000","background":true}}}`)
	text, err := os.ReadFile(told)
	pid, e := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || e != nil || syscall.Kill(pid, 0) != nil {
		t.Fatalf("the command is %q (%v)", text, err)
	}
	ask(http.MethodDelete, "")
	for end := time.Now().Add(patience); syscall.Kill(pid, 0) == nil; runtime.Gosched() {
		if time.Now().After(end) {
			t.Fatalf("process %d runs on", pid)
		}
	}
}
