//go:build unix

// Command callpath lists the functions of this module that one tools/call over HTTP (MCP
// 2025-11-25) to a server over stdio enters: from the handler of HTTP to the moment when
// its server has it, and from there until its client has the answer. Those that wait for the
// answer at that moment are its stack, which is shown first. It builds cmd/toolpost with
// counters of coverage, which it reads at those two moments, so that inlining changes
// nothing.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// repeats is how many calls are counted. A function is listed if each of them entered it,
// so that what runs by chance is not.
const repeats = 3

func main() {
	ground := flag.Bool("ground", false, "list the functions of packages below internal too")
	flag.Parse()
	if flag.Arg(0) == "server" {
		serve(flag.Arg(1))
		return
	}
	if err := run(*ground); err != nil {
		fmt.Fprintln(os.Stderr, "callpath:", err)
		os.Exit(1)
	}
}

func run(ground bool) error {
	folder, err := os.MkdirTemp("", "callpath")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	program, err := build(folder)
	if err != nil {
		return err
	}
	in, out, err := measure(folder, program)
	if err != nil {
		return err
	}
	frames, err := stackOf(in[0] + ".stacks")
	if err != nil {
		return err
	}
	fmt.Printf("stack: %d functions; the last one has called the connection, which has written\n ", len(frames))
	for _, f := range frames {
		fmt.Printf(" %s", f)
	}
	fmt.Println()
	for _, way := range []struct {
		title   string
		folders []string
	}{{"in", in}, {"back", out}} {
		entered, err := enteredIn(way.folders)
		if err != nil {
			return err
		}
		show(way.title, entered, ground)
	}
	return nil
}

// dump is added to a small package of the program: at each SIGUSR1, the counters are written into a folder
// of their own, and begin again.
const dump = `package ownversion

import (
	"errors"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/coverage"
	"runtime/pprof"
	"strconv"
	"syscall"
)

func init() {
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGUSR1)
	go func() {
		for n := 0; ; n++ {
			<-asked
			to := filepath.Join(os.Getenv("CALLPATH"), strconv.Itoa(n))
			err := errors.Join(os.Mkdir(to+".new", 0o700), writeStacks(to+".stacks"), coverage.WriteMetaDir(to+".new"), coverage.WriteCountersDir(to+".new"), coverage.ClearCounters(), os.Rename(to+".new", to))
			if err != nil {
				panic(err)
			}
		}
	}()
}

func writeStacks(name string) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(pprof.Lookup("goroutine").WriteTo(f, 2), f.Close())
}
`

// build builds the program with counters in each package of the module but the one that
// dump is added to: the tool that counts knows only files that are there.
func build(folder string) (program string, err error) {
	const main, uncounted = module + "/cmd/toolpost", module + "/internal/ownversion"
	root, err := os.Getwd()
	if err != nil {
		return "", err
	}
	listed, err := exec.Command("go", "list", "-deps", main).Output()
	if err != nil {
		return "", fmt.Errorf("list the packages of the program: %w", err)
	}
	counted := slices.DeleteFunc(strings.Fields(string(listed)), func(pkg string) bool {
		return pkg == uncounted || pkg != module && !strings.HasPrefix(pkg, module+"/")
	})
	added, overlay := filepath.Join(folder, "dump.go"), filepath.Join(folder, "overlay.json")
	program = filepath.Join(folder, "toolpost")
	err = errors.Join(os.WriteFile(added, []byte(dump), 0o600),
		os.WriteFile(overlay, fmt.Appendf(nil, `{"Replace":{%q:%q}}`, filepath.Join(root, "internal/ownversion/callpath_dump.go"), added), 0o600))
	if err != nil {
		return "", err
	}
	command := exec.Command("go", "build", "-o", program, "-overlay", overlay, "-cover", "-covermode=atomic", "-coverpkg="+strings.Join(counted, ","), main)
	command.Stderr = os.Stderr
	return program, command.Run()
}

// A gateway is a toolpost that serves.
type gateway struct {
	folder, address string
	process         *os.Process
	session         string
	dumped          int // how often its counters were written
}

// measure makes calls, and returns the folders of counters of their ways in and back.
func measure(folder, program string) (in, out []string, err error) {
	listener, err := net.Listen("unix", filepath.Join(folder, "calls"))
	if err != nil {
		return nil, nil, err
	}
	defer listener.Close()
	g, stop, err := start(folder, program)
	if err != nil {
		return nil, nil, err
	}
	defer stop()
	if err := g.open(); err != nil {
		return nil, nil, err
	}
	for range 1 + repeats { // the first call opens what later calls find
		answered := make(chan error, 1)
		if _, err := g.dump(); err != nil {
			return nil, nil, err
		}
		go func() {
			answered <- g.post(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"up__wait","arguments":{"bytes":1}}}`)
		}()
		call, err := accept(listener, answered)
		if err != nil {
			return nil, nil, err
		}
		there, err := g.dump()
		if err != nil {
			return nil, nil, err
		}
		if err := errors.Join(call.Close(), <-answered); err != nil {
			return nil, nil, err
		}
		back, err := g.dump()
		if err != nil {
			return nil, nil, err
		}
		in, out = append(in, there), append(out, back)
	}
	return in[1:], out[1:], nil
}

// accept returns the connection that the server dials when it has a call.
func accept(l net.Listener, answered <-chan error) (net.Conn, error) {
	type accepted struct {
		net.Conn
		error
	}
	dialed := make(chan accepted, 1)
	go func() {
		c, err := l.Accept()
		dialed <- accepted{c, err}
	}()
	select {
	case a := <-dialed:
		return a.Conn, a.error
	case err := <-answered:
		return nil, errors.Join(errors.New("the call was answered without the server"), err)
	}
}

// start starts a gateway in front of one server over stdio, which is this program.
func start(folder, program string) (g *gateway, stop func(), err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, nil, err
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, err
	}
	g = &gateway{folder: folder, address: free.Addr().String()}
	free.Close()
	file := filepath.Join(folder, "toolpost.json")
	config := fmt.Sprintf(`{"mcpServers":{"up":{"command":%q,"args":["server",%q]}}}`, self, filepath.Join(folder, "calls"))
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		return nil, nil, err
	}
	command := exec.Command(program, "serve", "--config", file, "--addr", g.address)
	home := filepath.Join(folder, "home")
	command.Env = append(os.Environ(), "CALLPATH="+folder, "GOCOVERDIR="+folder, "HOME="+home, "XDG_STATE_HOME="+home, "XDG_CONFIG_HOME="+home, "XDG_CACHE_HOME="+home)
	command.Stderr = os.Stderr
	if err := command.Start(); err != nil {
		return nil, nil, err
	}
	g.process = command.Process
	return g, func() { _ = errors.Join(command.Process.Kill(), command.Wait()) }, nil
}

// patience is how long anything may take.
const patience = time.Minute

// until tries until it succeeds.
func until(try func() error) error {
	for began := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		if err := try(); err == nil || time.Since(began) > patience {
			return err
		}
	}
}

// open opens a session once the gateway lists the tool.
func (g *gateway) open() error {
	err := until(func() error {
		return g.post(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"callpath","version":"1"}}}`)
	})
	if err != nil {
		return err
	}
	if err := g.post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`); err != nil {
		return err
	}
	return g.post(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
}

// post sends a message, and reads the answer.
func (g *gateway) post(message string) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+g.address+"/mcp", strings.NewReader(message))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if g.session != "" {
		r.Header.Set("Mcp-Session-Id", g.session)
		r.Header.Set("MCP-Protocol-Version", "2025-11-25")
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode/100 != 2 || bytes.Contains(body, []byte(`"error"`)) || bytes.Contains(body, []byte(`"isError":true`)) {
		return fmt.Errorf("answer to %s: %s %s %w", message, answer.Status, body, err)
	}
	if id := answer.Header.Get("Mcp-Session-Id"); id != "" {
		g.session = id
	}
	return nil
}

// settleTime is how long goroutines may take to come to rest at a moment that is counted.
const settleTime = 300 * time.Millisecond

// dump has the gateway write its counters, and returns their folder.
func (g *gateway) dump() (string, error) {
	time.Sleep(settleTime)
	to := filepath.Join(g.folder, strconv.Itoa(g.dumped))
	g.dumped++
	if err := g.process.Signal(syscall.SIGUSR1); err != nil {
		return "", err
	}
	return to, until(func() error {
		_, err := os.Stat(to)
		return err
	})
}
