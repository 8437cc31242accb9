package claude

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"

	"github.com/toolpost/toolpost/claude/message"
)

func TestInbox(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b inbox
		first, cause := &message.System{}, errors.New("cause")
		go func() {
			synctest.Wait() // the reader waits
			b.put(first, nil, 1)
			b.why.set(cause)
			b.end(io.EOF)
		}()
		if m, err := b.next(t.Context()); m != first || err != nil {
			t.Errorf("next = %v, %v; want the first", m, err)
		}
		if _, err := b.next(t.Context()); err != cause {
			t.Errorf("the end is %v, want the first cause", err)
		}
		if _, err := b.next(t.Context()); err != io.EOF {
			t.Errorf("after the end comes %v, want io.EOF", err)
		}
		if b.why.get() != cause {
			t.Errorf("the cause is %v after it was told", b.why.get())
		}
	})
}

func TestInboxContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b inbox
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			synctest.Wait()
			cancel()
		}()
		if _, err := b.next(ctx); err != context.Canceled {
			t.Errorf("next = %v, want %v", err, context.Canceled)
		}
		b.put(&message.System{}, nil, 1)
		if m, err := b.next(t.Context()); m == nil || err != nil {
			t.Errorf("what comes later is %v, %v", m, err)
		}
	})
}

// TestUnread has no room for more than the limit until something is read.
func TestUnread(t *testing.T) {
	var b inbox
	put := func(size int) bool { return b.put(&message.System{}, nil, size) }
	if !put(maxUnread/2-1) || !put(maxUnread/2+1) || put(1) || put(maxUnread) || !put(0) {
		t.Error("what has no room is taken, or what has room is not")
	}
	if m, err := b.next(t.Context()); m == nil || err != nil {
		t.Fatalf("next = %v, %v", m, err)
	}
	if !put(maxUnread/2-1) || put(1) {
		t.Error("what was read still counts, or counts twice")
	}
}
