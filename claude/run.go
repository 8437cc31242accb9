package claude

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"

	"github.com/toolpost/toolpost/claude/internal/cli"
	"github.com/toolpost/toolpost/claude/internal/control"
	"github.com/toolpost/toolpost/claude/message"
	"github.com/toolpost/toolpost/claude/sessions"
	"github.com/toolpost/toolpost/dep"
)

// A run is one CLI from its start to its end: it answers what the CLI asks, and
// keeps what it says until that is read.
type run struct {
	opts   *Options
	conn   *conn
	tools  *tools
	output *outputWatch
	turns  turns
	inbox  inbox

	once   bool          // the input is closed when all prompts are done
	ready  chan struct{} // closed when the CLI has answered initialize, or ended
	info   json.RawMessage
	finish context.CancelCauseFunc // ends what works for this run
	end    func() error            // closes the run's dependencies
	ended  chan struct{}           // closed when the reader has ended
}

// start does not wait for the CLI: what is sent next is read in its turn.
func start(ctx context.Context, opts *Options, once bool) (*run, error) {
	if opts == nil {
		opts = &Options{}
	}
	if err := errors.Join(context.Cause(ctx), opts.check()); err != nil {
		return nil, err
	}
	opts, err := opts.restore(ctx)
	if err != nil {
		return nil, err
	}
	opts.warnShadowed()
	scope := new(dep.Scope).Open(context.WithoutCancel(ctx), dep.PerRun)
	work, finish := context.WithCancelCause(scope)
	r := &run{
		opts: opts, once: once, output: newOutputWatch(opts.output()),
		ready: make(chan struct{}), ended: make(chan struct{}), finish: finish, end: scope.Close,
	}
	r.turns.feeding = once
	if err := connect(work, ctx, r); err != nil {
		finish(err)
		return nil, errors.Join(err, scope.Close())
	}
	r.inbox.mirror = newMirror(work, opts.SessionStore, r.lose)
	stop := context.AfterFunc(ctx, func() { r.abort(context.Cause(ctx)) })
	go r.read(stop)
	return r, introduce(work, r)
}

// connect starts the CLI, as long as the caller waits. Ctx is that of the run.
func connect(ctx, caller context.Context, r *run) (err error) {
	opening, opened := context.WithCancelCause(ctx)
	defer opened(nil)
	defer context.AfterFunc(caller, func() { opened(context.Cause(caller)) })()
	if r.tools, err = openTools(ctx, opening, r.opts); err != nil {
		return cmp.Or(context.Cause(caller), err)
	}
	defer func() {
		if err != nil {
			r.tools.close()
		}
	}()
	startCLI := r.opts.Start
	if startCLI == nil {
		startCLI = func(ctx context.Context, how *Command) (Transport, error) { return how.Start(ctx) }
	}
	process, err := startCLI(opening, r.opts.command(r.tools))
	if err != nil {
		return err
	}
	attach(ctx, r, process)
	return nil
}

// attach has the requests of the CLI p answered by r.
func attach(ctx context.Context, r *run, p Transport) {
	r.conn = newConn(ctx, p, r.opts.logger(), map[string]responder{
		"can_use_tool":  r.opts.permit,
		"hook_callback": r.opts.hook,
		"mcp_message":   r.tools.receive,

		"elicitation":         r.opts.elicit,
		"request_user_dialog": r.opts.dialog,
	})
	r.conn.answered = r.alive
	r.tools.connect(r.conn)
}

// introduce sends the first request; ready is closed when it is answered.
func introduce(ctx context.Context, r *run) error {
	var wait func(context.Context) (json.RawMessage, error)
	body, err := r.opts.initialize(r.tools)
	if err == nil {
		wait, err = r.conn.post("initialize", body)
	}
	if err != nil {
		_ = r.close() // the cause is what is told
		return r.because(err)
	}
	go func() {
		defer close(r.ready)
		info, err := wait(ctx)
		if refused := (*RequestError)(nil); errors.As(err, &refused) {
			r.abort(err) // all other errors are those of a session that has ended
		}
		r.info = info
	}()
	return nil
}

// close interrupts the CLI if it works, ends it, and waits until nothing of it is
// left.
func (r *run) close() error {
	r.stop(ErrClosed)
	err := r.conn.close()
	<-r.ended
	return err
}

// lose reports that the session store lacks lines of a transcript.
func (r *run) lose(key sessions.Key, err error) {
	warn(r.opts.logger(), "the session store does not take lines of a transcript", err, "session", key.SessionID)
	if m, bad := r.opts.parser().Parse(mirrorError(key, err)); bad == nil {
		r.inbox.put(m, nil, 0)
	}
}

// abort is close with a cause that is told. It does not wait.
func (r *run) abort(cause error) {
	r.inbox.why.set(cause)
	r.stop(cause)
	_ = r.conn.close() // the cause is what is told
}

// stop has the CLI leave its work, if it heeds that in time: after the end of its
// input it would finish it.
func (r *run) stop(cause error) {
	r.inbox.stopped.set(cause)
	if r.turns.busy() {
		patience, done := context.WithTimeout(context.Background(), r.opts.grace())
		defer done()
		if wait, err := r.conn.post("interrupt", nil); err == nil {
			_, _ = wait(patience) // it is ended in any case
		}
	}
	r.finish(cause)
}

// read handles what the CLI writes until it ends.
func (r *run) read(stop func() bool) {
	defer close(r.ended)
	parser := r.opts.parser()
	var last error
	for {
		line, err := r.conn.process.ReadLine()
		if long := (*cli.LineTooLongError)(nil); errors.As(err, &long) {
			r.reportMalformed(err)
			continue
		}
		if err != nil {
			last = err
			break
		}
		m, err := parser.Parse(line)
		var own any
		if err == nil {
			own, err = control.Decode(m)
		}
		switch {
		case err != nil:
			r.reportMalformed(err)
		case !r.conn.handle(own) && !r.inbox.keep(own):
			r.take(m, len(line))
		}
		r.alive()
	}
	stop()
	r.turns.stop()
	cause := r.last(last)
	r.inbox.why.set(cause)
	r.conn.out.lines.drop() // who sends from here on is told the cause
	r.inbox.end(cause)
	r.conn.calls.Close(r.because(ErrClosed))
	r.finish(ErrClosed)
	r.tools.close()
	_ = r.conn.close() // it has ended; its group may not have
	if err := r.end(); err != nil {
		r.opts.logger().Warn("cannot close the dependencies of a run", "error", err)
	}
}

// take notes what a message of so many bytes means for the session, and queues it.
func (r *run) take(m message.Message, size int) {
	r.output.see(m)
	settled := r.turns.see(m) // before a turn reads m and asks whether it is answered
	if !r.inbox.put(m, nil, size) && r.inbox.why.set(errUnread) {
		go r.abort(errUnread)
	}
	if init, ok := m.(*message.Init); ok {
		if err := check(init, r.tools); err != nil {
			r.inbox.put(nil, err, 0)
		}
	}
	if settled && r.once {
		r.retire()
	}
}

// check tells what of a set-up is not as it must be.
func check(init *message.Init, ts *tools) error {
	if old := (*VersionError)(nil); errors.As(exportedError(cli.Supported(init.Version)), &old) {
		return old
	}
	ts.warnUnavailable(init)
	return ts.compareTools(init)
}

// retire ends the CLI when it is done. It has time to say its last.
func (r *run) retire() {
	go func() { _ = r.close() }() // read sees its end
}

// ErrUnfinished reports a run that was still running after its result and
// silent for Options.IdleTimeout.
var ErrUnfinished = errors.New("background tasks did not end in time after the result; raise Options.IdleTimeout")

// alive restarts the timers that wait for silence.
func (r *run) alive() {
	if r.once {
		r.turns.expect(r.opts.idleTimeout(), r.opts.grace(), r.isAwaited, r.late)
	}
}

// isAwaited reports whether the CLI waits for this process, or for a person.
func (r *run) isAwaited() bool { return r.conn.served.Len() > 0 || r.turns.asks() }

// late is called when nothing was heard for long after a result.
func (r *run) late() {
	if r.turns.isDone() { // the end of a task has caused no turn
		r.retire()
		return
	}
	cause := ErrUnfinished
	if failure := r.failure(r.turns.result()); failure != nil {
		cause = failure
	}
	r.inbox.why.set(cause)
	r.retire()
}

// reportMalformed reports a line that cannot be read. What waits for it is not left
// waiting.
func (r *run) reportMalformed(err error) {
	bad := (*message.ParseError)(nil)
	if errors.As(err, &bad) {
		r.conn.refuse(bad)
	}
	if !r.conn.introduced && (!r.opts.SkipMalformed || bad != nil && bad.Type == "control_response") {
		r.inbox.why.set(err) // the first of several
		go r.abort(err)
		return
	}
	if r.opts.SkipMalformed {
		r.opts.logger().Warn("skipped a malformed message", "error", err)
		return
	}
	r.inbox.put(nil, err, 0)
}

// last is why the messages end, err being why the process did: io.EOF if nothing
// is wrong.
func (r *run) last(err error) error {
	result := r.turns.result()
	exit := (*ExitError)(nil)
	died := errors.As(err, &exit)
	if result != nil && r.once {
		if failure := r.failure(result); failure != nil {
			return r.andExit(failure, exit)
		}
	}
	switch {
	case context.Cause(r.conn.ctx) == ErrClosed:
		return io.EOF
	case died && exit.Code == 1 && result != nil && isFailure(result):
		return io.EOF // it exits so after such a result, which was told
	case err == io.EOF && r.once && result == nil:
		return ErrNoResult
	}
	return err
}

// andExit adds to the failure of a result how the CLI died, if it did so in another turn.
func (r *run) andExit(failure error, exit *ExitError) error {
	if exit == nil || !r.turns.hasPending() || context.Cause(r.conn.ctx) != nil {
		return failure
	}
	return errors.Join(failure, exit)
}

// failure is what is wrong with a result, nil if nothing is.
func (r *run) failure(result *message.Result) error {
	if err := r.output.failure(result); err != nil {
		return err
	}
	if isFailure(result) && !r.output.hasRecovered(result) {
		return resultError(result)
	}
	return nil
}

// because returns what ended the session in place of err, if it has ended.
func (r *run) because(err error) error {
	if cause := r.inbox.why.get(); cause != nil && cause != io.EOF {
		return cause
	}
	return err
}
