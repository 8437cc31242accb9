package gateway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/gateway"
	"github.com/toolpost/toolpost/internal/hidden"
)

// jobs gives every fake a tool that creates tasks, with the ids that next
// returns, and lists of all that it created.
func jobs(t *testing.T, f *fleet, next func(who string) string) {
	t.Helper()
	declared := map[string]string{}
	all := map[string][]string{}
	for _, u := range f.started {
		who := u.cfg.Name
		declared[who] = `{"tasks":{"list":{}}}`
		u.connect("job")
		u.set(func(u *fake) {
			u.handle(func(context.Context, *toolpost.Call) (*toolpost.Result, error) {
				id := next(who)
				all[who] = append(all[who], id)
				return toolpost.RawResult(fmt.Appendf(nil, `{"task":{"taskId":%q,"status":"working", "ttl":1.0}}`, id)), nil
			})
		})
	}
	extend(f, declared, func(who string, call *toolpost.Call) string {
		if call.Name != "tasks/list" {
			return fmt.Sprintf(`{"at":%q,"taskId":%s,"_meta":{"io.modelcontextprotocol/related-task":%s}}`, who, member(call.Params, "taskId"), call.Params)
		}
		var items []string
		for _, id := range all[who] {
			items = append(items, fmt.Sprintf(`{"taskId":%q, "n":1.0}`, id))
		}
		return `{"tasks":[` + strings.Join(items, ",") + `]}`
	})
	synctest.Wait() // until all of it is listed
}

func member(object json.RawMessage, name string) string {
	m := map[string]json.RawMessage{}
	_ = json.Unmarshal(object, &m)
	return string(m[name])
}

// create calls a tool that creates a task, and returns the task's id.
func create(t *testing.T, g *gateway.Gateway, session, tool string) string {
	t.Helper()
	r, err := g.Live().Call(t.Context(), &toolpost.Call{Session: session, Name: tool})
	if err != nil {
		t.Fatal(err)
	}
	var result struct{ Task struct{ TaskID string } }
	if err := json.Unmarshal(hidden.EncodedOf(r).Raw, &result); err != nil {
		t.Fatal(err)
	}
	return result.Task.TaskID
}

// Two servers that give the same id, and two clients: everybody gets the own
// task, and nobody else's.
func TestTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, f := open(t, servers("a", "x", "b", "x"))
		jobs(t, f, func(string) string { return "1" })
		first, second := create(t, g, "s", "a__job"), create(t, g, "s", "b__job")
		if first != "1" || second != "b__1" {
			t.Fatalf("the tasks are %q and %q", first, second)
		}
		for id, want := range map[string]string{
			first:  `{"at":"a","taskId":"1","_meta":{"io.modelcontextprotocol/related-task":{"taskId":"1"}}}`,
			second: `{"at":"b","taskId":"b__1","_meta":{"io.modelcontextprotocol/related-task":{"taskId":"b__1"}}}`,
		} {
			if got := send(t, g, "s", "tasks/get", `{"taskId":"`+id+`"}`); got != want {
				t.Errorf("%s: got %s, want %s", id, got, want)
			}
			if got := send(t, g, "other", "tasks/get", `{"taskId":"`+id+`"}`); !strings.HasPrefix(got, "error: unknown task") {
				t.Errorf("%s: another client gets %s", id, got)
			}
		}
		if got, want := send(t, g, "s", "tasks/list", `{}`), `{"tasks":[{"taskId":"1", "n":1.0},{"taskId":"b__1", "n":1.0}]}`; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if got, want := send(t, g, "other", "tasks/list", `{}`), `{"tasks":[]}`; got != want {
			t.Errorf("another client gets %s, want %s", got, want)
		}
		// a server that begins anew gives the id to another client
		create(t, g, "other", "a__job")
		if got := send(t, g, "s", "tasks/get", `{"taskId":"1"}`); !strings.HasPrefix(got, "error: unknown task") {
			t.Errorf("got the task of another client: %s", got)
		}
		g.Views().SessionEnded("other")
		if got := send(t, g, "other", "tasks/get", `{"taskId":"1"}`); !strings.HasPrefix(got, "error: unknown task") {
			t.Errorf("after the end of the session: %s", got)
		}
	})
}

// A lenient server reads odd params and spellings too, and has the tasks of all
// clients.
func TestTasksOfAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, f := open(t, servers("a", "x"))
		jobs(t, f, func(string) string { return "1" })
		create(t, g, "s", "a__job")
		for method, params := range map[string]string{
			"tasks/get": `{"taskId":1}`, "tasks/result": `{}`, "tasks/cancel": `{"taskId":null}`, "tasks/update": `{"taskId":["1"]}`, "tasks/other": `{"taskId":1}`,
			"io.modelcontextprotocol/tasks/get": `{"taskId":"1"}`, "IO.ModelContextProtocol/tasks/get": `{"taskId":"1"}`, "io/modelcontextprotocol:tasks.get": `{"taskId":"1"}`,
			"Tasks/Get": `{"taskId":"1"}`, "tasks.get": `{"taskId":"1"}`, "tasks:list": `{}`, "tasks/LIST": `{}`,
		} {
			if got := send(t, g, "other", method, params); !strings.HasPrefix(got, "error: ") {
				t.Errorf("%s %s: got %s", method, params, got)
			}
		}
		const list = "io.modelcontextprotocol/tasks/list"
		extend(f, map[string]string{"a": `{"extensions":{"io.modelcontextprotocol/tasks":{}}}`}, func(string, *toolpost.Call) string {
			return `{"tasks":[{"taskId":"1"}]}`
		})
		if got := send(t, g, "other", list, "{}"); got != `{"tasks":[]}` {
			t.Errorf("%s: got %s", list, got)
		}
		if got := send(t, g, "s", list, "{}"); got != `{"tasks":[{"taskId":"1"}]}` {
			t.Errorf("%s: got %s", list, got)
		}
	})
}

// The list of a toolset in this program, whose results have no bytes yet, is
// filtered too.
func TestTasksOfAToolset(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, f := open(t, servers("a", "x"))
		jobs(t, f, func(string) string { return "1" })
		f.last("a").set(func(u *fake) {
			u.features.Extend = func(context.Context, *toolpost.Call) (*toolpost.Result, error) {
				return toolpost.TextResult("of another"), nil
			}
		})
		synctest.Wait()
		if got := send(t, g, "other", "tasks/list", "{}"); got != `{"content":[]}` {
			t.Errorf("got %s", got)
		}
	})
}

// A server that answers with what a client sends gives no client the task of
// another one.
func TestEchoedTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, f := open(t, servers("a", "x"))
		jobs(t, f, func(string) string { return "1" })
		create(t, g, "s", "a__job")
		extend(f, map[string]string{"a": `{"tasks":{},"echo":{}}`}, func(_ string, call *toolpost.Call) string { return string(call.Params) })
		f.last("a").set(func(u *fake) {
			u.features.ReadUnlisted = func(context.Context, *toolpost.Call) (*toolpost.Result, error) {
				return toolpost.RawResult(json.RawMessage(`{"contents":[],"task":{"taskId":"1"}}`)), nil
			}
		})
		synctest.Wait()
		for _, params := range []string{`{"task":{"taskId":"1"}}`, `{"resultType":"task","taskId":"1","task":{}}`} {
			if got := send(t, g, "other", "echo/x", params); got != params {
				t.Errorf("got %s", got)
			}
		}
		if _, err := features(g).ReadUnlisted(t.Context(), &toolpost.Call{Session: "other", Name: "x://y"}); err != nil {
			t.Error(err)
		}
		if got := send(t, g, "other", "tasks/get", `{"taskId":"1"}`); !strings.HasPrefix(got, "error: unknown task") {
			t.Errorf("another client got the task: %s", got)
		}
		if got := send(t, g, "s", "tasks/get", `{"taskId":"1"}`); got != `{"taskId":"1"}` {
			t.Errorf("its client got %s", got)
		}
	})
}

// A server that ignores the case of names reads no other task than the one that
// was checked.
func TestOtherSpellingsOfATask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, f := open(t, servers("a", "x", "b", "x"))
		n := map[string]int{}
		jobs(t, f, func(who string) string { n[who]++; return fmt.Sprint(n[who]) })
		victim, own := create(t, g, "s", "a__job"), create(t, g, "other", "a__job")
		create(t, g, "other", "b__job")
		renamed := create(t, g, "other", "b__job")
		if victim != "1" || own != "2" || renamed != "b__2" {
			t.Fatalf("the tasks are %q, %q and %q", victim, own, renamed)
		}
		for _, id := range []string{own, renamed} {
			params := `{"TaskId":"1","taskId":"` + id + `","TASKID":"1","task\u0000Id":"1"}`
			want := fmt.Sprintf(`"taskId":%q,"_meta":{"io.modelcontextprotocol/related-task":{"taskId":%q}}}`, id, id)
			if got := send(t, g, "other", "tasks/get", params); !strings.HasSuffix(got, want) {
				t.Errorf("%s: got %s", id, got)
			}
		}
		heard := extend(f, map[string]string{"a": `{"tasks":{}}`}, plain)
		features(g).Notified(&toolpost.Call{Session: "other", Name: "notifications/tasks/x", Params: json.RawMessage(`{"taskId":"2","taskid":"1"}`)})
		if want := []string{`a notifications/tasks/x{"taskId":"2"}`}; !slices.Equal(*heard, want) {
			t.Errorf("got %q, want %q", *heard, want)
		}
	})
}

// A call can belong to a task of its client only.
func TestCallsOfTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, f := open(t, servers("a", "x", "b", "x"))
		n := 0
		jobs(t, f, func(string) string { n++; return fmt.Sprint((n + 1) / 2) })
		create(t, g, "s", "a__job")                                                      // 1
		create(t, g, "other", "b__job")                                                  // 1
		own, renamed := create(t, g, "other", "a__job"), create(t, g, "other", "b__job") // 2, 2
		if own != "2" || renamed != "b__2" {
			t.Fatalf("the tasks are %q and %q", own, renamed)
		}
		f.last("b").set(func(f *fake) {
			f.handle(func(_ context.Context, call *toolpost.Call) (*toolpost.Result, error) {
				return toolpost.TextResult(string(call.Params)), nil
			})
		})
		synctest.Wait()
		about := func(id string) json.RawMessage {
			return json.RawMessage(`{"_meta":{"n":1.0, "io.modelcontextprotocol/related-task":{"taskId":"` + id + `"}}}`)
		}
		for _, session := range []string{"s", "other", "third"} {
			_, err := g.Live().Call(t.Context(), &toolpost.Call{Session: session, Name: "a__job", Params: about("1")})
			if refused := err != nil && strings.Contains(err.Error(), "unknown task"); refused != (session != "s") {
				t.Errorf("%s: %v", session, err)
			}
		}
		r, err := g.Live().Call(t.Context(), &toolpost.Call{Session: "other", Name: "b__job", Params: about(renamed)})
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Parts()[0].Text; got != string(about("2")) {
			t.Errorf("the server gets %s", got)
		}
	})
}

// Servers and clients that create many tasks displace their own.
func TestManyTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, f := open(t, servers("a", "x"))
		n := 0
		jobs(t, f, func(string) string { n++; return fmt.Sprint(n) })
		mine := create(t, g, "mine", "a__job")
		for i := range 12_000 {
			create(t, g, fmt.Sprint("s", i%20), "a__job")
		}
		for id, want := range map[string]bool{"2": false, "12001": true} {
			session := map[string]string{"2": "s0", "12001": "s19"}[id]
			if got := send(t, g, session, "tasks/get", `{"taskId":"`+id+`"}`); strings.HasPrefix(got, "{") != want {
				t.Errorf("task %s: got %s", id, got)
			}
		}
		if got := send(t, g, "mine", "tasks/get", `{"taskId":"`+mine+`"}`); !strings.HasPrefix(got, "{") {
			t.Errorf("the task of another client was displaced: %s", got)
		}
	})
}
