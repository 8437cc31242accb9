package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// fixture is a small MCP server over stdio that is written by hand, so that
// it shares no code with what is tested. With the argument "broken" it is, with
// "poison" its tools are, and with "tools" and a file it lists those of the file
// and announces a change with every call. With "counted", a file and a time or
// another file, it appends its process id to the file, and starts after that time or
// once the other file exists; with "hangs" it answers nothing.
func fixture() {
	if len(os.Args) > 1 && os.Args[1] == "broken" {
		fmt.Fprintln(os.Stderr, "no license key")
		os.Exit(3)
	}
	in := bufio.NewReader(os.Stdin)
	if len(os.Args) > 1 && os.Args[1] == "hangs" {
		_, _ = io.Copy(io.Discard, in)
		return
	}
	if len(os.Args) > 3 && os.Args[1] == "counted" {
		count(os.Args[2], os.Args[3])
	}
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		var m struct {
			ID     json.RawMessage
			Method string
			Params json.RawMessage
		}
		if json.Unmarshal(line, &m) != nil || m.ID == nil {
			continue
		}
		go func() {
			if result := answer(m.Method, m.Params); result != "" {
				fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", m.ID, result)
			} else {
				fmt.Printf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}`+"\n", m.ID)
			}
		}()
	}
}

// count appends the id of this process to a file, and waits.
func count(path, until string) {
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = fmt.Fprintln(file, os.Getpid())
	}
	if err := errors.Join(err, file.Close()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(3)
	}
	if wait, err := time.ParseDuration(until); err == nil {
		time.Sleep(wait)
		return
	}
	for begun := time.Now(); time.Since(begun) < time.Minute; {
		if _, err := os.Stat(until); err == nil {
			return
		}
		time.Sleep(5 * time.Millisecond) // there is nothing to listen to
	}
}

const fixtureTools = `{"tools":[` +
	`{"name":"show","description":"Shows its arguments.\nMore.","inputSchema":{"type":"object","properties":{` +
	`"n":{"type":"integer"},"x":{"type":"number"},"on":{"type":"boolean"},"s":{"type":"string"},"id":{"type":["string","integer"]},` +
	`"list":{"type":"array","items":{"type":"integer"}},"any":{},"o":{"type":"object"}}},"x-order":1},` +
	`{"name":"fail","description":"Always fails","inputSchema":{"type":"object"}},` +
	`{"name":"picture","inputSchema":{"type":"object"}},` +
	`{"name":"wait","description":"Makes the file started, waits for release","inputSchema":{"type":"object","properties":{"started":{"type":"string"},"release":{"type":"string"}}}}]}`

func answer(method string, params json.RawMessage) string {
	switch method {
	case "initialize":
		return `{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"fixture","version":"1"}}`
	case "ping":
		return `{}`
	case "tools/list":
		if len(os.Args) > 2 && os.Args[1] == "tools" {
			list, _ := os.ReadFile(os.Args[2])
			return `{"tools":` + strings.Join(strings.Fields(string(list)), " ") + `}`
		}
		if len(os.Args) > 1 && os.Args[1] == "poison" {
			return `{"tools":[{"name":"good","inputSchema":{"type":"object"}},{"name":"bad"},{"name":"list","inputSchema":{"type":"array"}},` +
				`{"name":"good","inputSchema":{"type":"object"}},{"name":"odd","inputSchema":{"type":"object"},"outputSchema":7}]}`
		}
		return fixtureTools
	case "tools/call":
		return toolResult(params)
	}
	return ""
}

func toolResult(params json.RawMessage) string {
	var call struct {
		Name      string
		Arguments json.RawMessage
	}
	_ = json.Unmarshal(params, &call)
	if len(os.Args) > 1 && os.Args[1] == "tools" {
		fmt.Println(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
		return `{"content":[{"type":"text","text":"called"}]}`
	}
	switch call.Name {
	case "show":
		text, _ := json.Marshal(string(call.Arguments) + os.Getenv("SHOWN"))
		return `{"content":[{"type":"text","text":` + string(text) + `}],"x":9007199254740993}`
	case "fail":
		return `{"content":[{"type":"text","text":"the disk is full"}],"isError":true}`
	case "picture":
		return `{"content":[{"type":"text","text":"a picture"},{"type":"image","mimeType":"image/png","data":"iVBORw0KGgo="}]}`
	case "wait":
		var files struct{ Started, Release string }
		_ = json.Unmarshal(call.Arguments, &files)
		_ = os.WriteFile(files.Started, nil, 0o600)
		for {
			if _, err := os.Stat(files.Release); err == nil {
				return `{"content":[{"type":"text","text":"released"}]}`
			}
			time.Sleep(5 * time.Millisecond) // there is nothing to listen to
		}
	}
	return ""
}
