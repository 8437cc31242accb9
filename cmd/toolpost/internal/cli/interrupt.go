package cli

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// Interruptible returns what read returns, or the reason why ctx is done if that
// comes first. A terminal, a pipe or a network drive may never answer, and a
// signal must end the command nevertheless.
func Interruptible[T any](ctx context.Context, read func() (T, error)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	answers := make(chan answer, 1)
	go func() {
		value, err := read()
		answers <- answer{value, err}
	}()
	select {
	case a := <-answers:
		return a.value, a.err
	case <-ctx.Done():
		var none T
		return none, context.Cause(ctx)
	}
}

// Interruptibly is like interruptible, for work that has no result.
func Interruptibly(ctx context.Context, work func() error) error {
	_, err := Interruptible(ctx, func() (struct{}, error) { return struct{}{}, work() })
	return err
}

// UntilSignal returns a context that a first signal ends, also the one of a terminal
// that is closed: servers that ignore the end of their input are ended too. A second
// signal ends the process at once.
func UntilSignal() context.Context {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // nohup ignores it
		signal.Notify(signals, syscall.SIGHUP)
	}
	quits := make(chan os.Signal, 1)
	signal.Notify(quits, syscall.SIGQUIT) // before any command hides what is typed
	h := &interruptHandler{}
	go h.quit(quits)
	go func() {
		first := <-signals
		for first == os.Interrupt && h.handle() {
			first = <-signals
		}
		cancel(fmt.Errorf("signal: %v", first))
		for next := <-signals; next == syscall.SIGHUP; { // a closed terminal may send several
			next = <-signals
		}
		h.leave()
		os.Exit(ExitInterrupted)
	}()
	return context.WithValue(ctx, interruptKey{}, h)
}

type interruptKey struct{}

// An interruptHandler takes interrupts of the user that shall not end the
// command.
type interruptHandler struct {
	mu   sync.Mutex
	do   func() bool // reports whether it has done something; nil if it does nothing
	last func()      // is called before a signal ends the process at once; nil if nothing is
}

// quit ends the process at a SIGQUIT as Go does, with a trace of all goroutines, but has
// the terminal as it was before.
func (h *interruptHandler) quit(quits <-chan os.Signal) {
	<-quits
	h.leave()
	signal.Reset(syscall.SIGQUIT)
	if self, err := os.FindProcess(os.Getpid()); err == nil {
		_ = self.Signal(syscall.SIGQUIT) // no system that sends it refuses it
	}
}

func (h *interruptHandler) leave() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.last != nil {
		h.last()
	}
}

func (h *interruptHandler) handle() bool {
	h.mu.Lock()
	do := h.do
	h.mu.Unlock()
	return do != nil && do()
}

func (h *interruptHandler) set(do func() bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.do = do
}

// OnInterrupt has do handle interrupts until stop is called. If do reports
// false, an interrupt ends the command.
func OnInterrupt(ctx context.Context, do func() bool) (stop func()) {
	h, ok := ctx.Value(interruptKey{}).(*interruptHandler)
	if !ok {
		return func() {}
	}
	h.set(do)
	return func() { h.set(nil) }
}

// BeforeExit has do run before a second signal or SIGQUIT ends the process at once, when
// no deferred call runs any more.
func BeforeExit(ctx context.Context, do func()) {
	if h, ok := ctx.Value(interruptKey{}).(*interruptHandler); ok {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.last = do
	}
}
