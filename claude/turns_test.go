package claude

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolpost/toolpost/claude/message"
)

func TestTurnsSettle(t *testing.T) {
	state := func(s string) message.Message { return &message.SessionState{State: s} }
	answer := func(uuids ...string) message.Message { return &message.Result{UserMessageUUIDs: uuids} }
	task := &message.Result{Origin: &message.Origin{Kind: "task-notification"}}
	list := func(ids ...string) message.Message {
		m := &message.BackgroundTasksChanged{}
		for _, id := range ids {
			m.Tasks = append(m.Tasks, message.Task{TaskID: id, Ambient: id == "ambient"})
		}
		return m
	}
	started, done := &message.TaskStarted{Task: message.Task{TaskID: "t"}}, &message.TaskNotification{Task: message.Task{TaskID: "t"}}
	for _, test := range []struct {
		name    string
		prompts []string
		seen    []message.Message
		settled int // the message that settles, from 1; 0 for none
	}{
		{"a result, then idle", []string{"a"}, []message.Message{state("running"), answer("a"), state("idle")}, 3},
		{"idle before a result", []string{"a"}, []message.Message{state("idle"), state("running")}, 0},
		{"a sub-agent goes on", []string{"a"}, []message.Message{state("running"), answer("a"), task, state("idle")}, 4},
		{"a CLI that tells no state", []string{"a"}, []message.Message{answer("a")}, 1},
		{"and has a sub-agent", []string{"a"}, []message.Message{started, answer("a"), done, &message.Init{}, task}, 5},
		{"a shell goes on", []string{"a"}, []message.Message{state("running"), list("s"), started, answer("a"), state("idle"), done, list(), state("running"), task, state("idle")}, 10},
		{"two shells go on", []string{"a"}, []message.Message{state("running"), list("s", "t"), answer("a"), state("idle"), list("t"), state("running"), task, state("idle"), list(), state("running"), task, state("idle")}, 12},
		{"a shell ends in the turn", []string{"a"}, []message.Message{state("running"), list("s"), list(), answer("a"), state("idle")}, 5},
		{"a task that is always there", []string{"a"}, []message.Message{state("running"), list("ambient"), answer("a"), state("idle")}, 4},
		{"prompts answered together", []string{"a", "b"}, []message.Message{state("running"), answer("a", "b"), state("idle")}, 3},
		{"prompts answered one by one", []string{"a", "b"}, []message.Message{answer("a"), answer("b")}, 2},
		{"results that name no prompt", []string{"a", "b"}, []message.Message{answer(), answer()}, 2},
		{"a task's result names no prompt", []string{"a"}, []message.Message{task, answer()}, 2},
	} {
		var turns turns
		for _, p := range test.prompts {
			turns.sent(p, false)
		}
		settled := 0
		for i, m := range test.seen {
			if turns.see(m) {
				settled = i + 1
				break
			}
		}
		if settled != test.settled {
			t.Errorf("%s: settled by message %d, want %d", test.name, settled, test.settled)
		}
	}
}

func TestTurnsAnswers(t *testing.T) {
	var turns turns
	turns.sent("a", true)
	turns.sent("b", true)
	both := &message.Result{UserMessageUUIDs: []string{"a", "b"}}
	later := &message.Result{}
	turns.see(both)
	turns.see(later)
	if turns.answers(later, "a") || !turns.answers(both, "a") || !turns.answers(both, "b") {
		t.Error("the result that names the prompts is not the one that answers them")
	}
	if turns.result() != later {
		t.Error("the last result is not the last")
	}
}

func TestTurnsExpect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var turns turns
		var late time.Time
		wait := func() {
			turns.expect(time.Minute, time.Second, func() bool { return false }, func() { late = time.Now() })
		}
		wait()
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if !late.IsZero() {
			t.Error("it is late before there is a result")
		}
		turns.see(&message.Result{})
		wait()
		time.Sleep(50 * time.Second)
		wait()
		want := time.Now().Add(time.Minute)
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if !late.Equal(want) {
			t.Errorf("it is late at %v, want %v: a minute after the last message", late, want)
		}
		late = time.Time{}
		wait()
		turns.stop()
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if !late.IsZero() {
			t.Error("it is late after it was stopped")
		}
	})
}
