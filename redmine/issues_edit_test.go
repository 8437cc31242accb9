package redmine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// A describedIssue is an issue of a Redmine that keeps each change in its journal,
// and takes every change whatever it is based on.
type describedIssue struct {
	mu          sync.Mutex
	description string
	journals    []map[string]any
	writes      int
	readers     int           // that read it before anybody may write
	first       chan struct{} // closed when they have
}

func (d *describedIssue) handle(w http.ResponseWriter, r *http.Request, body string) bool {
	if !strings.HasPrefix(r.URL.Path, "/issues/5") {
		return false
	}
	if r.Method == http.MethodPut {
		<-d.first
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if r.Method == http.MethodPut {
		var in struct{ Issue struct{ Description string } }
		if err := json.Unmarshal([]byte(body), &in); err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return true
		}
		d.write(in.Issue.Description, 1)
		return true
	}
	if d.readers--; d.readers == 0 {
		close(d.first)
	}
	raw, err := json.Marshal(map[string]any{"issue": map[string]any{
		"id": 5, "subject": "S", "project": map[string]any{"id": 1, "name": "P"}, "description": d.description,
		"journals": slices.Clone(d.journals), "updated_on": "2026-01-01T00:00:00Z",
	}})
	if err != nil {
		panic(err)
	}
	_, _ = w.Write(raw)
	return true
}

func (d *describedIssue) write(text string, user int) {
	if d.writes++; text != d.description {
		d.journals = append(d.journals, map[string]any{
			"id": len(d.journals) + 1, "user": map[string]any{"id": user, "name": "Somebody"}, "created_on": "2026-01-01T00:00:00Z",
			"details": []any{map[string]any{"property": "attr", "name": "description", "old_value": d.description, "new_value": text}},
		})
	}
	d.description = text
}

func described(text string, readers int) *describedIssue {
	return &describedIssue{description: text, readers: readers, first: make(chan struct{})}
}

// TestManyEditsAtOnce: programs that edit one description at the same moment lose
// nothing, and each is told the truth.
func TestManyEditsAtOnce(t *testing.T) {
	for _, programs := range []int{2, 3, 5, 12} {
		for _, form := range []struct{ name, text, end, old, by string }{
			{"lines", "slot %02d\r\n", "", "slot %02d", "edit %02d"},
			{"list at the end", "", "END", "END", "item %02d\nEND"},
			{"words of a line", "slot%02d ", "", "slot%02d", "edit%02d"},
		} {
			t.Run(fmt.Sprintf("%d %s", programs, form.name), func(t *testing.T) {
				t.Parallel() // the programs wait for each other
				fill := func(text string, n int) string { return strings.ReplaceAll(text, "%02d", fmt.Sprintf("%02d", n)) }
				text := ""
				for n := range programs {
					text += fill(form.text, n)
				}
				d := described(text+form.end, programs)
				var wg sync.WaitGroup
				told, failed := make([]string, programs), make([]bool, programs)
				for n := range programs {
					f := newFake(nil) // a process of its own
					f.handle = d.handle
					set := f.open(t)
					wg.Go(func() {
						told[n], failed[n] = use(t.Context(), t, set, "edit_issue_description", fmt.Sprintf(`{"id":"5","old_text":%q,"new_text":%q}`, fill(form.old, n), fill(form.by, n)))
					})
				}
				wg.Wait()
				for n := range programs {
					by := strings.TrimSuffix(fill(form.by, n), "\nEND")
					if in := strings.Count(d.description, by) == 1; !in || failed[n] {
						t.Errorf("edit %d is in the text: %v; it was told: %s", n, in, told[n])
					}
				}
				if t.Failed() {
					t.Logf("after %d writes: %s", d.writes, d.description)
				}
			})
		}
	}
}

// TestEditOverwritten: a program that never puts back what it replaced takes an
// edit away, and the edit's caller is told so.
func TestEditOverwritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := described("one\ntwo", 1)
		f := newFake(nil)
		f.handle = func(w http.ResponseWriter, r *http.Request, body string) bool {
			defer func() {
				if r.Method == http.MethodPut {
					d.mu.Lock()
					d.write("all of it is mine", 9)
					d.mu.Unlock()
				}
			}()
			return d.handle(w, r, body)
		}
		text, failed := use(t.Context(), t, f.open(t), "edit_issue_description", `{"id":"5","old_text":"one","new_text":"eins"}`)
		if !failed || !strings.Contains(text, "was overwritten by a change of Somebody (note 2)") || d.writes != 2 {
			t.Errorf("%d writes, failed %v: %s", d.writes, failed, text)
		}
	})
}

// TestEditGuardedByHash: an edit with the hash of another text is refused.
func TestEditGuardedByHash(t *testing.T) {
	d := described("one\r\ntwo", 1)
	f := newFake(nil)
	f.handle = d.handle
	set := f.open(t)
	_, structured, _ := result(t.Context(), t, set, "get_issue", `{"id":"5","include":"none"}`)
	var seen struct {
		Hash string `json:"description_hash"`
	}
	if err := json.Unmarshal([]byte(structured), &seen); err != nil || len(seen.Hash) != 8 {
		t.Fatal(structured, err)
	}
	for _, tool := range []string{"edit_issue_description", "update_issue"} {
		arguments := map[string]string{
			"edit_issue_description": `{"id":"5","old_text":"one","new_text":"eins","description_hash":%q}`,
			"update_issue":           `{"id":"5","description":"eins","description_hash":%q}`,
		}[tool]
		if text, failed := use(t.Context(), t, set, tool, fmt.Sprintf(arguments, "00000000")); !failed || !strings.Contains(text, "was changed") || d.writes > 0 {
			t.Errorf("%s: %s", tool, text)
		}
	}
	if text, failed := use(t.Context(), t, set, "edit_issue_description", fmt.Sprintf(`{"id":"5","old_text":"one","new_text":"eins","description_hash":%q}`, seen.Hash)); failed || d.description != "eins\r\ntwo" {
		t.Errorf("%q %s", d.description, text)
	}
}

// TestEditIsOwn: the caller's edit is not reported as a change of others, and the
// answer does not repeat a long description.
func TestEditIsOwn(t *testing.T) {
	for _, rest := range []string{"", strings.Repeat(" and so on", 8000)} {
		d := described("alpha beta gamma"+rest, 1)
		f := newFake(nil)
		f.handle = d.handle
		text, structured, failed := result(t.Context(), t, f.open(t), "edit_issue_description", `{"id":"5","old_text":"beta","new_text":"BETA"}`)
		if failed || strings.Contains(text, "also changed") || !strings.HasPrefix(d.description, "alpha BETA gamma") || len(text)+len(structured) > 4000 {
			t.Errorf("%d bytes: %.500s", len(text)+len(structured), text)
		}
		if !strings.Contains(structured, "description_hash") || (rest != "") != strings.Contains(text, "get_issue returns it") {
			t.Errorf("%.500s", text)
		}
	}
}

// TestEditsWaitForTheirOwnThing: an edit that hangs stops only edits of the same
// issue, and those give up when they are cancelled.
func TestEditsWaitForTheirOwnThing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hang := make(chan struct{})
		f := newFake(map[string]string{"GET /issues/6.json": strings.Replace(anIssue, `"id":5,`, `"id":6,"description":"one",`, 1), "PUT /issues/6.json": ""})
		f.handle = func(w http.ResponseWriter, r *http.Request, body string) bool {
			if r.URL.Path == "/issues/5.json" {
				<-hang
				w.WriteHeader(http.StatusNotFound)
				return true
			}
			if r.Method == http.MethodPut {
				_, _ = io.WriteString(w, "")
				return true
			}
			return false
		}
		set := f.open(t)
		const edit = `{"id":%q,"old_text":"one","new_text":"eins"}`
		var first sync.WaitGroup
		first.Go(func() { use(t.Context(), t, set, "edit_issue_description", fmt.Sprintf(edit, "5")) })
		synctest.Wait()
		start := time.Now()
		use(t.Context(), t, set, "edit_issue_description", fmt.Sprintf(edit, "6"))
		if f.count("PUT /issues/6.json") != 1 || time.Since(start) > time.Minute {
			t.Errorf("another issue had to wait: %v", f.requests)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		done := make(chan string)
		go func() {
			text, _ := use(ctx, t, set, "edit_issue_description", fmt.Sprintf(edit, "#5"))
			done <- text
		}()
		synctest.Wait()
		cancel(errors.New("enough"))
		select {
		case <-done:
		case <-time.After(time.Minute):
			t.Error("a cancelled edit goes on waiting")
		}
		close(hang)
		first.Wait()
		if n := f.count("GET /issues/5.json"); n != 1 {
			t.Errorf("%d reads of the issue that hangs", n)
		}
	})
}
