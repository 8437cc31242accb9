package main

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// Whoever logs does not wait for a reader, who is told later what he missed.
func TestLogThatNobodyReads(t *testing.T) { synctest.Test(t, testUnreadLog) }

func testUnreadLog(t *testing.T) {
	r, w := io.Pipe()
	s := (&serveOptions{logFormat: "json"}).newDisplay(w, false)
	const lines = 10_000
	long := strings.Repeat("x", 1000)
	var callers sync.WaitGroup
	for range 4 {
		callers.Go(func() {
			for range lines / 4 {
				s.log.Info("call", "tool", long)
			}
		})
	}
	callers.Wait() // for ever, if one of them does
	read := make(chan []byte)
	go func() {
		data, _ := io.ReadAll(r)
		read <- data
	}()
	s.log.Info("last")
	s.close()
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	calls, lost := 0, 0
	for line := range bytes.Lines(<-read) {
		var l struct {
			Level, Msg string
			Lines      int
		}
		if err := json.Unmarshal(line, &l); err != nil {
			t.Fatalf("%v: %.100s", err, line)
		}
		if l.Msg == "call" || l.Msg == "last" {
			calls++
		}
		if l.Lines > 0 && l.Level == slog.LevelError.String() {
			lost += l.Lines
		}
	}
	if calls+lost != lines+1 || calls < 900 || lost < 1000 {
		t.Errorf("%d lines came, and %d are told to be lost, of %d", calls, lost, lines+1)
	}
}

// A reader that never reads does not hold up the end either.
func TestLogThatIsNeverRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, w := io.Pipe()
		s := newLogBuffer(w, nil)
		if _, err := s.Write([]byte("line\n")); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil { // for ever, if it waits
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		<-s.done
	})
}

// The first line is written at once, and lines that follow soon are written
// together.
func TestLogLinesAreWrittenTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &written{}
		s := newLogBuffer(w, nil)
		for i := range 10 {
			if _, err := s.Write([]byte("line\n")); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			if i == 0 && w.writes != 1 {
				t.Errorf("%d writes after the first line", w.writes)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if w.writes != 2 || w.Len() != 50 {
			t.Errorf("%d bytes in %d writes", w.Len(), w.writes)
		}
	})
}

// A written buffer counts the writes.
type written struct {
	bytes.Buffer
	writes int
}

func (w *written) Write(p []byte) (int, error) {
	w.writes++
	return w.Buffer.Write(p)
}

// TestLogDurations: a duration in the JSON log has its unit in its name.
func TestLogDurations(t *testing.T) {
	var b strings.Builder
	newLogger(&b, slog.LevelInfo, "json").Info("x", "took", 3406*time.Millisecond, "n", 2)
	if !strings.HasSuffix(b.String(), `"msg":"x","tookMs":3406,"n":2}`+"\n") {
		t.Error(b.String())
	}
}
