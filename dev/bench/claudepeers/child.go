package main

import (
	"context"
	"sync"
	"time"
)

// A library runs one prompt, as its documentation says.
type library struct {
	name string
	run  func(ctx context.Context, job *job) (text string, err error) // nil for the official one
}

func libraries() []library {
	return []library{
		{"ours", runOurs},
		{"severity1 v0.6.12", runSeverity1},
		{"roasbeef v1.0.9", runRoasbeef},
		{"official, Python 0.2.187", nil},
	}
}

// A job is what a library is to do.
type job struct {
	prompt string
	cli    string // "" finds it in PATH
	tools  bool
	agent  bool
	meet   bool // calls wait for another one

	mu      sync.Mutex
	calls   int
	running int
	atOnce  int
	met     chan struct{}
}

// add is the tool. It is the same for all.
func (j *job) add(a, b float64) float64 {
	j.mu.Lock()
	j.calls++
	j.running++
	j.atOnce = max(j.atOnce, j.running)
	if j.running == 2 {
		close(j.met)
	}
	j.mu.Unlock()
	if j.meet {
		select {
		case <-j.met:
		case <-time.After(2 * time.Second):
		}
	}
	j.mu.Lock()
	j.running--
	j.mu.Unlock()
	return a + b
}

const prompt = "Go on."

// patience is how long a run may take.
const patience = 60 * time.Second

// work does the job in this process.
func work(l library, s *scenario, cli string) *outcome {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	j := &job{prompt: prompt, tools: s.tools, agent: s.agent, meet: s.name == "parallel", met: make(chan struct{})}
	if s.path {
		j.cli = cli
	}
	o := &outcome{Began: time.Now()}
	text, err := l.run(ctx, j)
	o.Text, o.Calls, o.AtOnce = text, j.calls, j.atOnce
	if err != nil {
		o.Err = err.Error()
	}
	return o
}
