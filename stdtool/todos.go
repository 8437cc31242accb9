package stdtool

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"
	"sync"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/store"
)

// Todos returns write_todos and read_todos: a plan for each session, or one if
// sessions are not known. The store keeps the plans; those of nil are in memory.
func Todos(s store.Store) toolpost.Toolset {
	if s == nil {
		s = store.Memory(nil)
	}
	k := &todoKeeper{store: s, alone: rand.Text()}
	return toolpost.Tools{
		newTool("write_todos", k.write, options("Write todos", false, false, true, false)),
		newTool("read_todos", k.read, readOnly("Read todos")),
	}
}

type writeTodosInput struct {
	Todos []todo `json:"todos" jsonschema:"maxItems=200,description=The whole list in order; it replaces the one before"`
}

type readTodosInput struct{}

type todo struct {
	ID      string `json:"id,omitempty" jsonschema:"maxLength=40,description=The id that the todo has in the list; leave it out for a new one"`
	Content string `json:"content" jsonschema:"minLength=1,maxLength=1000,description=What is to be done"`
	Status  string `json:"status" jsonschema:"enum=pending,enum=in_progress,enum=completed,enum=cancelled,description=At most one todo may be in_progress"`
}

// A todoList is the plan of a session.
type todoList struct {
	Last  int    `json:"last"` // the highest number that was given as an id
	Todos []todo `json:"todos"`
}

// write replaces the list of the session.
func (k *todoKeeper) write(ctx context.Context, in writeTodosInput) (string, error) {
	if err := checkTodos(in.Todos); err != nil {
		return "", err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	session := toolpost.CallFrom(ctx).Session
	list, err := k.load(ctx, session)
	if err != nil {
		return "", err
	}
	list.replace(in.Todos)
	if err := k.save(ctx, session, list); err != nil {
		return "", err
	}
	return list.show(), nil
}

// read shows the list of the session.
func (k *todoKeeper) read(ctx context.Context, _ readTodosInput) (string, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	list, err := k.load(ctx, toolpost.CallFrom(ctx).Session)
	if err != nil {
		return "", err
	}
	return list.show(), nil
}

func checkTodos(todos []todo) error {
	ids := map[string]bool{}
	var active []string
	for i, t := range todos {
		switch {
		case strings.TrimSpace(t.Content) == "":
			return toolpost.Retry.Errorf("todo number %d has no content: write what is to be done", i+1)
		case t.ID != "" && ids[t.ID]:
			return toolpost.Retry.Errorf("two todos have the id %q: leave out the id of new ones", t.ID)
		case t.Status == "in_progress":
			active = append(active, fmt.Sprintf("%q", t.Content))
		}
		ids[t.ID] = true
	}
	if len(active) > 1 {
		return toolpost.Retry.Errorf("%d todos are in_progress, but only one may be: choose one, and set the others to pending or completed: %s",
			len(active), strings.Join(active, ", "))
	}
	return nil
}

// replace takes todos as the list. One without an id has that of the todo with
// the same content, or a new one.
func (l *todoList) replace(todos []todo) {
	taken := map[string]bool{}
	for _, t := range todos {
		taken[t.ID] = true
		if n, err := strconv.Atoi(t.ID); err == nil && n < 1e9 {
			l.Last = max(l.Last, n)
		}
	}
	known := map[string][]string{} // ids by content, in order
	for _, t := range l.Todos {
		if !taken[t.ID] {
			known[t.Content] = append(known[t.Content], t.ID)
		}
	}
	l.Todos = make([]todo, 0, len(todos))
	for _, t := range todos {
		if t.ID == "" {
			if ids := known[t.Content]; len(ids) > 0 {
				t.ID, known[t.Content] = ids[0], ids[1:]
			} else {
				l.Last++
				t.ID = strconv.Itoa(l.Last)
			}
		}
		l.Todos = append(l.Todos, t)
	}
}

// show returns the list as text.
func (l *todoList) show() string {
	if len(l.Todos) == 0 {
		return "[no todos]"
	}
	var b strings.Builder
	open := 0
	for _, t := range l.Todos {
		if t.Status == "pending" || t.Status == "in_progress" {
			open++
		}
		fmt.Fprintf(&b, "%s [%s] %s\n", t.ID, t.Status, collapseSpace(t.Content))
	}
	fmt.Fprintf(&b, "\n[%d of %d todos are open]\n", open, len(l.Todos))
	return b.String()
}

// A todoKeeper keeps lists as blobs. Those of a store do not change: each list
// is written anew under the next number, before the one before is removed.
type todoKeeper struct {
	store store.Store
	alone string // stands for the session of calls that have none
	mu    sync.Mutex
}

// prefix is what the names of a session's lists begin with.
func (k *todoKeeper) prefix(session string) string {
	if session == "" {
		session = k.alone
	}
	return fmt.Sprintf("todos.%x.", sha256.Sum256([]byte(session)))
}

// newest returns the number of the session's list, 0 if there is none.
func (k *todoKeeper) newest(ctx context.Context, prefix string) (int, error) {
	newest := 0
	for info, err := range k.store.List(ctx) {
		if err != nil {
			return 0, err
		}
		if number, ours := strings.CutPrefix(info.Name, prefix); ours {
			if n, err := strconv.Atoi(number); err == nil {
				newest = max(newest, n)
			}
		}
	}
	return newest, nil
}

func (k *todoKeeper) load(ctx context.Context, session string) (*todoList, error) {
	fail := func(err error) (*todoList, error) { return nil, fmt.Errorf("read the todos: %w", err) }
	prefix := k.prefix(session)
	n, err := k.newest(ctx, prefix)
	if err != nil {
		return fail(err)
	}
	list := &todoList{}
	if n == 0 {
		return list, nil
	}
	blob, err := k.store.Open(ctx, prefix+strconv.Itoa(n))
	if errors.Is(err, fs.ErrNotExist) { // it has expired meanwhile
		return list, nil
	}
	if err != nil {
		return fail(err)
	}
	defer blob.Close()
	if err := json.NewDecoder(io.NewSectionReader(blob, 0, blob.Info().Size)).Decode(list); err != nil {
		return fail(err)
	}
	return list, nil
}

func (k *todoKeeper) save(ctx context.Context, session string, list *todoList) error {
	prefix := k.prefix(session)
	n, err := k.newest(ctx, prefix)
	if err == nil {
		err = k.put(ctx, prefix+strconv.Itoa(n+1), list)
	}
	if err == nil && n > 0 {
		err = k.store.Remove(ctx, prefix+strconv.Itoa(n))
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("save the todos: %w", err)
	}
	return nil
}

func (k *todoKeeper) put(ctx context.Context, name string, list *todoList) error {
	w, err := k.store.Create(ctx, name)
	if err != nil {
		return err
	}
	defer w.Close()
	if err := json.NewEncoder(w).Encode(list); err != nil {
		return err
	}
	_, err = w.Commit()
	return err
}
