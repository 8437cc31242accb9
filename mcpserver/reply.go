package mcpserver

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/toolpost/toolpost/internal/wire"
)

// A reply is the response to one HTTP request: JSON, or a stream of events if
// messages come before the result, or the result takes long.
type reply struct {
	w      http.ResponseWriter
	accept acceptance
	broken func() // may be nil

	gate
	started bool // as a stream; guarded by the gate, as what follows

	// One timer is for all that is to be done while a result takes long: nearly no
	// result does, and each timer is paid for by all.
	timer   *time.Timer // of beatTime; nil if there is nothing to do
	beats   int
	client  context.Context // canceled when the client leaves
	left    bool            // the client had left at the last beat
	abandon func()          // may be nil
}

// Times in which a call that takes long is looked after.
const (
	beatTime = 5 * time.Second
	// commentBeats is how long a stream may be silent, and how long a client waits for
	// the beginning of a response. Clients and proxies give up after a minute or some.
	commentBeats = 3
)

// newReply returns the response to a request, which stop must end. If the result takes
// long, it becomes a stream with comments, for clients that say they read streams.
// Broken is called when a write fails, abandon some seconds after the client has left:
// its result cannot be delivered, but a client that leaves does not cancel. Both may be
// nil.
func newReply(w http.ResponseWriter, r *http.Request, accept acceptance, broken, abandon func()) *reply {
	p := &reply{w: w, accept: accept, broken: broken, client: r.Context(), abandon: abandon}
	if accept.named || abandon != nil {
		p.timer = time.AfterFunc(time.Hour, p.beat)
		p.timer.Reset(beatTime) // now the function may use p
	}
	return p
}

// beat looks after a call that takes long, and has itself called again while that is of use.
func (p *reply) beat() {
	if p.look() {
		p.timer.Reset(beatTime)
	}
}

// look reports whether to look again.
func (p *reply) look() bool {
	if !p.mu.TryLock() { // a message is being written
		return true
	}
	defer p.mu.Unlock()
	switch p.beats++; {
	case p.closed:
		return false
	case p.client.Err() != nil && !p.left:
		p.left = true
	case p.left && p.abandon != nil:
		p.abandon()
		return false
	case p.accept.named && p.beats%commentBeats == 0:
		_ = p.startStream() // if it fails, the client has left, which the next beat sees
	}
	return true
}

// stop gives the response up. The timer may be kept a while, but not what belongs to the call.
func (p *reply) stop() {
	if p.timer != nil {
		p.timer.Stop()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	p.w, p.broken, p.client, p.abandon = nil, nil, nil, nil
}

var errReplied = errors.New("the response has ended")

// send implements [sender].
func (p *reply) send(_ context.Context, message []byte) error { return p.put(inMemory(message)) }

// put sends a message. Messages after the result are dropped.
func (p *reply) put(message payload) error {
	if !p.accept.events {
		return errNoStream
	}
	return p.pass(func() error { return p.event("message", message) })
}

// start begins a stream with a comment, which proxies pass on at once.
func (p *reply) start() error { return p.pass(p.startStream) }

// startStream is start, or writes another comment. The lock is held.
func (p *reply) startStream() error {
	p.stream()
	return p.check(writePaced(p.w, framing{before: ": ok\n\n"}, nil))
}

// event writes an event. The lock is held.
func (p *reply) event(name string, data payload) error {
	p.stream()
	return p.check(writePaced(p.w, event(name), data))
}

func (p *reply) check(err error) error {
	if err != nil && p.broken != nil {
		p.broken()
	}
	return err
}

// stream writes the header of a stream, once. The lock is held.
func (p *reply) stream() {
	if p.started {
		return
	}
	p.started = true
	p.w.Header().Set("Content-Type", "text/event-stream")
	p.w.Header().Set("Cache-Control", "no-cache, no-transform")
	p.w.WriteHeader(http.StatusOK)
}

// end writes the response, and gives it up. If it fails, the client has left, or
// the file of a long result cannot be read.
func (p *reply) end(status int, response payload) {
	defer response.close()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	if !p.started && (p.accept.json || status != http.StatusOK) {
		writeJSON(p.w, status, response)
		return
	}
	if p.event("message", response) != nil {
		panic(http.ErrAbortHandler) // the stream does not end as if it were whole
	}
}

// writeTime is how long a client may take to read one chunk.
const writeTime = 30 * time.Second

// writePaced writes and flushes a message. A client that stops reading breaks
// its connection; a slow one may take as long as it needs.
func writePaced(w http.ResponseWriter, f framing, message payload) error {
	c := http.NewResponseController(w)
	pace := func() { _ = c.SetWriteDeadline(time.Now().Add(writeTime)) } // not every writer has deadlines
	defer func() { _ = c.SetWriteDeadline(time.Time{}) }()
	pace()
	if err := f.write(w, message, pace); err != nil {
		return err
	}
	if err := c.Flush(); err != nil && !errors.Is(err, errors.ErrUnsupported) { // such a writer flushes at its end
		return err
	}
	return nil
}

// jsonType is a header of all responses, which nothing changes.
var jsonType = []string{"application/json"}

func writeJSON(w http.ResponseWriter, status int, message payload) {
	header := w.Header()
	header["Content-Type"] = jsonType
	header["Content-Length"] = []string{strconv.FormatInt(message.size(), 10)}
	w.WriteHeader(status)
	_ = writePaced(w, framing{}, message) // the client is gone if it fails
}

// refuse answers what is not served with an error.
func refuse(w http.ResponseWriter, status int, id []byte, fault *wire.Error) {
	writeJSON(w, status, inMemory(wire.AppendError(nil, id, fault)))
}

// faultID returns the id that the answer to a bad message has. A client whose
// request is answered without its id waits for its timeout. The id of an answer is ours,
// and may be that of a request of the client too.
func faultID(msgs []wire.Message) []byte {
	if len(msgs) != 1 || msgs[0].Method == "" && (msgs[0].Result != nil || msgs[0].Err != nil) {
		return nil
	}
	return msgs[0].ID
}
