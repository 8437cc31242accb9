package agent_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/agent"
	"github.com/toolpost/toolpost/model"
)

// journal keeps the results of steps, as an engine for durable execution does.
type journal map[string]json.RawMessage

func (j journal) step(ctx context.Context, name string, do func(context.Context) (json.RawMessage, error)) (json.RawMessage, error) {
	if raw, ok := j[name]; ok {
		return raw, nil
	}
	raw, err := do(ctx)
	if err == nil {
		j[name] = raw
	}
	return raw, err
}

// TestReplayOfRecall replays a run whose conversation was summarized. The tools whose
// outputs a summary repeats do not run again.
func TestReplayOfRecall(t *testing.T) {
	kept, ran := journal{}, 0
	isRead := true
	todos := toolpost.New("read_todos", "Lists the todos.", func(context.Context, struct{}) (string, error) {
		ran++
		return "Count to the end", nil
	}, &toolpost.Options{Annotations: toolpost.Annotations{ReadOnly: &isRead}})
	var first, again string
	for _, text := range []*string{&first, &again} {
		m, summaries := long(t, 20)
		s := agent.NewSession()
		tools := toolpost.Tools{tool("echo", echo), tool("write_todos", echo), todos}
		do(t, agent.New(m, tools, &agent.Options{Window: 10_000, Parallel: 1, Step: kept.step}), s, prompt("Count"))
		if *text = s.Messages()[0].Text(); text == &first && *summaries < 2 {
			t.Fatalf("%d summaries", *summaries)
		}
	}
	before := ran
	if before == 0 || !strings.Contains(first, "Count to the end") {
		t.Errorf("read_todos ran %d times; the summary is %s", before, first)
	}
	if calls := countSteps(kept, "recall"); before != calls || first != again {
		t.Errorf("read_todos ran %d times in %d steps; the summaries are %s\nand %s", before, calls, first, again)
	}
}

func countSteps(j journal, purpose string) (n int) {
	for name := range j {
		if strings.HasPrefix(name, purpose+" ") {
			n++
		}
	}
	return n
}

// TestReplayWithoutIDs replays a call to which the model gave no id, and goes on.
func TestReplayWithoutIDs(t *testing.T) {
	kept := journal{}
	for range 2 {
		c := call(1, "echo", `{"text":"a"}`)
		c.ID = ""
		m := turns(t, []model.Part{c}, say("Done."))
		if countSteps(kept, "call") > 0 {
			m = turns(t, say("Done."))
			delete(kept, "request 1")
		}
		s := agent.NewSession()
		if got := do(t, agent.New(m, toolpost.Tools{tool("echo", echo)}, &agent.Options{Step: kept.step}), s, prompt("Go")); got.Text != "Done." {
			t.Errorf("%+v", got)
		}
	}
}
