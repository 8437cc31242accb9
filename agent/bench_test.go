package agent_test

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/agent"
	"github.com/toolpost/toolpost/model"
)

// endless calls a tool in each of its turns, and ends after the given number.
func endless(b testing.TB, turns int) *script {
	return &script{t: b, trust: true, think: func(r *model.Request) ([]model.Part, error) {
		if n := len(r.Messages) / 2; n < turns {
			return []model.Part{call(n, "echo", fmt.Sprintf(`{"text":"%d"}`, n))}, nil
		}
		return say("Done."), nil
	}}
}

// BenchmarkTurn measures a turn, with one call, in a conversation of 100 turns.
func BenchmarkTurn(b *testing.B) {
	for _, in := range []string{"memory", "file"} {
		b.Run(in, func(b *testing.B) {
			const turns = 100
			n := 0
			for b.Loop() {
				if n++; n%turns != 1 {
					continue // it was measured with the first one
				}
				s := agent.NewSession()
				if in == "file" {
					s = open(b, filepath.Join(b.TempDir(), "session.jsonl"))
				}
				if _, err := agent.New(endless(b, turns), toolpost.Tools{tool("echo", echo)}, nil).Do(b.Context(), s, prompt("Go")); err != nil {
					b.Fatal(err)
				}
				s.Close()
			}
		})
	}
}

// BenchmarkSessions runs 1,000 sessions at the same time, and reports the memory
// of each while all wait for the model.
func BenchmarkSessions(b *testing.B) {
	const sessions = 1000
	for b.Loop() {
		before := heap()
		var waiting, ended sync.WaitGroup
		waiting.Add(sessions)
		release := make(chan struct{})
		tools := toolpost.Tools{tool("wait", func(context.Context, string) (string, error) {
			waiting.Done()
			<-release
			return "", nil
		})}
		all := make([]*agent.Session, sessions)
		for i := range all {
			all[i] = agent.NewSession()
			m := turns(b, []model.Part{call(1, "wait", `{"text":""}`)}, say("Done."))
			ended.Go(func() {
				if _, err := agent.New(m, tools, nil).Do(b.Context(), all[i], prompt("Go")); err != nil {
					b.Error(err)
				}
			})
		}
		waiting.Wait()
		b.ReportMetric(float64(heap()-before)/sessions, "B/running-session")
		close(release)
		ended.Wait()
		b.ReportMetric(float64(heap()-before)/sessions, "B/idle-session")
		runtime.KeepAlive(all)
	}
}

// heap returns the bytes in use, with the stacks of goroutines.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc + m.StackInuse
}
