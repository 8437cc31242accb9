package upstream

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// A network lies between clients and servers in memory. It does to messages
// what a test has planned, each mishap once.
type network struct {
	mu      sync.Mutex
	planned [2][]mishap // in each direction, for the messages that come next
	used    bool        // a mishap has happened
	mixed   bool        // messages were sent again, or in another order
}

// Directions of messages.
const (
	toServer = iota
	toClient
)

// A mishap is what happens to one message.
type mishap struct {
	kind byte
	size int // of what is left of it, or milliseconds
}

// Kinds of mishaps.
const (
	intact  = iota
	dropped // never arrives
	cut     // only its beginning arrives
	twice   // arrives again
	swapped // arrives after the next one
	late    // arrives later, and others overtake it
	stalled // arrives later, and all others behind it
	halved  // arrives in two pieces
	noise   // other lines arrive before it
	broken  // the connection ends before it
	mishaps
)

func (n *network) plan(direction int, f mishap) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.planned[direction] = append(n.planned[direction], f)
}

func (n *network) next(direction int) mishap {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.planned[direction]) == 0 {
		return mishap{}
	}
	f := n.planned[direction][0]
	n.planned[direction] = n.planned[direction][1:]
	n.used = n.used || f.kind != intact
	n.mixed = n.mixed || f.kind == twice || f.kind == swapped || f.kind == late
	return f
}

func (n *network) clean() (unused, inOrder bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return !n.used, !n.mixed
}

var errBroken = errors.New("the network broke the connection")

// pass carries messages from r to w until one of them ends. Frame reads one
// message, with its end. The sender never waits: a lock that it may hold would
// stop the clock of the bubble.
func (n *network) pass(direction int, r io.Reader, w io.Writer, frame func(*bufio.Reader) ([]byte, error)) error {
	l := &line{w: w, turn: make(chan struct{}, 1)}
	defer l.later.Wait()
	var (
		queue [][]byte
		ended error
		mu    sync.Mutex
		more  = make(chan struct{}, 1)
	)
	go func() {
		for in := bufio.NewReader(r); ; {
			message, err := frame(in)
			mu.Lock()
			if len(message) > 0 {
				queue = append(queue, message)
			}
			ended = err
			mu.Unlock()
			select {
			case more <- struct{}{}:
			default:
			}
			if err != nil {
				return
			}
		}
	}()
	for range more {
		for {
			mu.Lock()
			err := ended
			var message []byte
			if len(queue) > 0 {
				message, queue = queue[0], queue[1:]
			}
			mu.Unlock()
			switch {
			case message != nil:
				if err := l.carry(n.next(direction), message); err != nil {
					return err
				}
				continue
			case err != nil:
				_ = l.write(l.held)
				return err
			}
			break
		}
	}
	return nil
}

// A line is one direction of one connection.
type line struct {
	w     io.Writer
	turn  chan struct{} // full while somebody writes
	later sync.WaitGroup
	held  []byte // a message that waits for the next one
}

// carry does to a message what is planned.
func (l *line) carry(m mishap, message []byte) error {
	pause := time.Duration(m.size) * time.Millisecond
	switch m.kind {
	case dropped:
		return nil
	case cut:
		return l.write(message[:m.size%len(message)], []byte("\n\n"), l.release())
	case twice:
		return l.write(message, message, l.release())
	case swapped:
		l.held = append(l.held, message...)
		return nil
	case late:
		l.later.Go(func() {
			time.Sleep(pause)
			_ = l.write(message)
		})
		return nil
	case stalled:
		time.Sleep(pause)
	case halved:
		if err := l.write(message[:m.size%len(message)]); err != nil {
			return err
		}
		time.Sleep(time.Millisecond)
		return l.write(message[m.size%len(message):], l.release())
	case noise:
		return l.write([]byte("a line of a log\n{\"jsonrpc\":\"2.0\",\"id\":1e9,\"result\":{}}\n\n"), message, l.release())
	case broken:
		return errBroken
	}
	return l.write(message, l.release())
}

func (l *line) release() []byte {
	held := l.held
	l.held = nil
	return held
}

func (l *line) write(parts ...[]byte) error {
	l.turn <- struct{}{}
	defer func() { <-l.turn }()
	for _, part := range parts {
		if len(part) == 0 { // a pipe waits for its reader even then
			continue
		}
		if _, err := l.w.Write(part); err != nil {
			return err
		}
	}
	return nil
}

// Frames of the transports.
func oneLine(r *bufio.Reader) ([]byte, error) { return r.ReadBytes('\n') }
func wholeBody(r *bufio.Reader) ([]byte, error) {
	body, err := io.ReadAll(r)
	if err == nil {
		err = io.EOF
	}
	return body, err
}

func oneEvent(r *bufio.Reader) (event []byte, err error) {
	for {
		line, err := r.ReadBytes('\n')
		event = append(event, line...)
		if err != nil || len(bytes.TrimSpace(line)) == 0 {
			return event, err
		}
	}
}

// A service serves one session over stdio.
type service func(ctx context.Context, in io.ReadCloser, out io.WriteCloser) error

// spawn starts a process in memory.
func (n *network) spawn(s service) func(*Config, time.Duration) (*process, error) {
	return func(_ *Config, grace time.Duration) (*process, error) {
		p := &process{cmd: &exec.Cmd{Path: "memory", Process: &os.Process{Pid: 1 << 30}}, // no such process
			grace: grace, exited: make(chan struct{}), gone: make(chan struct{})}
		stdin, in := net.Pipe()
		out, stdout := net.Pipe()
		serverIn, feed := net.Pipe()
		drain, serverOut := net.Pipe()
		p.stdin, p.stdout, p.state = in, memory{out}, "exited"
		all := []io.Closer{stdin, stdout, serverIn, feed, drain, serverOut}
		ctx, cancel := context.WithCancel(context.Background())
		go func() {
			_ = n.pass(toServer, stdin, feed, oneLine)
			stdin.Close()
			feed.Close()
			cancel() // the server does not wait for its calls
		}()
		go func() {
			if n.pass(toClient, drain, stdout, oneLine) == errBroken {
				stdout.Close()
			}
		}()
		go func() {
			_ = s(ctx, serverIn, serverOut)
			for _, c := range all {
				c.Close()
			}
			close(p.exited)
			close(p.gone)
		}()
		return p, nil
	}
}

// A memory is a pipe that a process writes to.
type memory struct{ net.Conn }

func (m memory) End() { m.Close() }

// A listener accepts connections in memory.
type listener struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *listener) Close() error {
	l.once.Do(func() { close(l.done) })
	return nil
}

func (l *listener) Addr() net.Addr { return &net.IPAddr{} }

func (l *listener) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case l.conns <- theirs:
		return ours, nil
	case <-l.done:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// serve serves h over HTTP in memory until end.
func serve(h http.Handler) (l *listener, end func()) {
	l = &listener{conns: make(chan net.Conn), done: make(chan struct{})}
	server := &http.Server{Handler: h}
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(l) })
	return l, func() {
		_ = server.Close()
		serving.Wait()
	}
}

// wrap returns what sends requests over the network to l.
func (n *network) wrap(l *listener) func(*http.Transport) http.RoundTripper {
	return func(base *http.Transport) http.RoundTripper {
		base.DialContext = l.dial
		return &road{n, base}
	}
}

// A road sends requests over a network.
type road struct {
	*network
	base *http.Transport
}

func (o *road) CloseIdleConnections() { o.base.CloseIdleConnections() }

func (o *road) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		message, err := io.ReadAll(r.Body)
		r.Body.Close()
		if err != nil {
			return nil, err
		}
		f := o.next(toServer)
		send := func() (*http.Response, error) {
			again := r.Clone(r.Context())
			again.Body, again.ContentLength = io.NopCloser(bytes.NewReader(message)), int64(len(message))
			return o.base.RoundTrip(again)
		}
		switch f.kind {
		case cut:
			message = message[:f.size%max(1, len(message))]
		case late, stalled:
			select {
			case <-time.After(time.Duration(f.size) * time.Millisecond):
			case <-r.Context().Done():
				return nil, context.Cause(r.Context())
			}
		case dropped, broken:
			return nil, errBroken
		case twice, swapped:
			if resp, err := send(); err == nil {
				resp.Body.Close()
			}
		}
		return o.answer(send())
	}
	return o.answer(o.base.RoundTrip(r))
}

// answer returns a response whose body comes over the network.
func (o *road) answer(resp *http.Response, err error) (*http.Response, error) {
	if err != nil {
		return nil, err
	}
	frame := wholeBody
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		frame = oneEvent
	}
	body, in := io.Pipe()
	arriving := &arrival{body, resp.Body}
	go func() {
		err := o.pass(toClient, arriving.from, in, frame)
		arriving.from.Close()
		if err == nil {
			err = io.EOF
		}
		in.CloseWithError(err)
	}()
	resp.Body, resp.ContentLength = arriving, -1
	return resp, nil
}

// An arrival is a body that comes over the network.
type arrival struct {
	*io.PipeReader
	from io.ReadCloser
}

func (a *arrival) Close() error { return errors.Join(a.PipeReader.Close(), a.from.Close()) }
