package gateway_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/hidden"
)

// A task that has not ended keeps the process that has it, as a call does, until the
// server says that it has ended or its time is over.
func TestOpenTasksKeepTheirProcess(t *testing.T) {
	for name, c := range map[string]struct {
		result string
		kept   bool
		end    func(*pooled)
	}{
		"no task": {`{"content":[]}`, false, nil},
		"a task that ends": {`{"task":{"taskId":"1","status":"working","ttl":null}}`, true, func(p *pooled) {
			p.f.started[1].Notify(toolpost.Event{Notification: &toolpost.Call{Name: "notifications/tasks/status", Params: []byte(`{"taskId":"1","status":"completed"}`)}})
		}},
		"a task whose time is over": {`{"task":{"taskId":"1","status":"working","ttl":3600000}}`, true, func(*pooled) { time.Sleep(time.Hour) }},
		"a task without an end":     {`{"task":{"taskId":"1","status":"working"}}`, true, func(*pooled) { time.Sleep(25 * time.Hour) }},
		"a task that has ended":     {`{"task":{"taskId":"1","status":"failed"}}`, false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := openPooled(t, nil)
				p.two()
				p.f.started[1].set(func(u *fake) {
					u.handle(func(context.Context, *toolpost.Call) (*toolpost.Result, error) {
						return toolpost.RawResult([]byte(c.result)), nil
					})
				})
				synctest.Wait()
				p.call(session("b"))
				time.Sleep(30 * time.Minute)
				synctest.Wait()
				if kept := !p.f.started[1].isClosed(); kept != c.kept {
					t.Fatalf("after half an hour, the process is kept: %v", kept)
				}
				if c.end == nil {
					return
				}
				c.end(p)
				time.Sleep(30 * time.Minute)
				synctest.Wait()
				if !p.f.started[1].isClosed() {
					t.Error("the process stays when its task has ended")
				}
			})
		})
	}
}

// A task of a client without sessions belongs to the process that created it, also if
// the server asks for the first time in the call that creates the task.
func TestTaskOfAFirstQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := openPooled(t, nil)
		owner := hidden.Owner{Session: "client x", Party: "x", Shared: true}
		home := p.f.started[0]
		for _, u := range p.f.started {
			extendOne(u)
		}
		home.set(func(u *fake) {
			u.handle(func(context.Context, *toolpost.Call) (*toolpost.Result, error) {
				hidden.UpstreamOptionsOf(&home.opts).OneClient(false)
				return toolpost.RawResult([]byte(`{"task":{"taskId":"1","status":"working"}}`)), nil
			})
		})
		synctest.Wait()
		p.call(owner)
		home.set(func(u *fake) { u.unsettled = true }) // so that another call gets another process
		p.call(owner)
		r, err := p.g.Live().Features().Extend(t.Context(), hidden.WithOwner(&toolpost.Call{Name: "tasks/get", Params: []byte(`{"taskId":"1"}`)}, owner))
		if err != nil {
			t.Fatal(err)
		}
		if got := string(hidden.EncodedOf(r).Raw); got != `{"taskId":"1","status":"working","by":"home"}` {
			t.Errorf("got %s", got)
		}
	})
}

// extendOne gives a fake tasks.
func extendOne(u *fake) {
	u.set(func(u *fake) {
		u.features = &toolpost.Features{Proxy: toolpost.Proxy{Capabilities: []byte(`{"tasks":{}}`), Extend: func(context.Context, *toolpost.Call) (*toolpost.Result, error) {
			return toolpost.RawResult([]byte(`{"taskId":"1","status":"working","by":"home"}`)), nil
		}}}
	})
}
