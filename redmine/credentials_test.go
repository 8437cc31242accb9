package redmine_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/redmine"
)

// A keyed Redmine accepts one key, which may be rotated.
type keyed struct {
	*fakeRedmine
	key     atomic.Value // what Redmine accepts
	kept    atomic.Value // what is read; "" cannot be read
	reads   atomic.Int32
	reading func(context.Context) error // nil returns at once
}

func newKeyed(t *testing.T, public bool) (*keyed, *toolpost.Set) {
	k := &keyed{fakeRedmine: newFake(map[string]string{"GET /projects.json": `{"projects":[{"id":1,"name":"New","identifier":"new","status":1}],"total_count":1}`})}
	k.key.Store("one")
	k.kept.Store("one")
	k.handle = func(w http.ResponseWriter, r *http.Request, _ string) bool {
		if r.Header.Get("X-Redmine-Api-Key") == k.key.Load() {
			return false
		}
		if public && r.URL.Path != "/users/current.json" {
			w.Write([]byte(`{"projects":[],"total_count":0}`)) //nolint:errcheck // a recorder
			return true
		}
		w.WriteHeader(http.StatusUnauthorized)
		return true
	}
	s, err := redmine.New(&redmine.Options{URL: "http://redmine.test", Transport: k.fakeRedmine, Key: "\x00file:/key\x00", Resolve: func(ctx context.Context, value string) (string, error) {
		if value == "" {
			return "", nil
		}
		k.reads.Add(1)
		if k.reading != nil {
			if err := k.reading(ctx); err != nil {
				return "", err
			}
		}
		if kept := k.kept.Load().(string); kept != "" {
			return kept, nil
		}
		return "", errors.New("${file:/key}: no such file")
	}})
	if err != nil {
		t.Fatal(err)
	}
	set, err := toolpost.NewSet(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	return k, set
}

// Credentials that cannot be read keep no call waiting, and are read again. So are those
// that Redmine refuses: the call that finds that out uses the new ones.
func TestCredentialsAreReadAgain(t *testing.T) {
	for name, public := range map[string]bool{"refused": false, "answered as nobody": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k, set := newKeyed(t, public)
				call := func() (string, bool) { return use(t.Context(), t, set, "list_projects", `{}`) }
				k.kept.Store("")
				if text, failed := call(); !failed || !strings.Contains(text, "credentials of Redmine cannot be read: ${file:/key}") {
					t.Errorf("unreadable: %s", text)
				}
				if len(k.requests) != 0 {
					t.Errorf("without credentials, %q", k.requests)
				}
				k.kept.Store("one")
				time.Sleep(6 * time.Second)
				if text, failed := call(); failed || !strings.Contains(text, "New") {
					t.Errorf("readable: %s", text)
				}
				time.Sleep(time.Hour)
				before := k.reads.Load()
				call()
				if n := k.reads.Load() - before; n != 0 {
					t.Errorf("good credentials are read %d times", n)
				}
				k.key.Store("two")
				k.kept.Store("two")
				time.Sleep(time.Hour)
				if text, failed := call(); failed || !strings.Contains(text, "New") {
					t.Errorf("rotated: %s", text)
				}
				k.key.Store("three") // and nobody writes it down
				time.Sleep(time.Hour)
				before = k.reads.Load()
				for range 5 {
					if text, failed := call(); !failed || !strings.Contains(text, "does not accept the credentials") {
						t.Errorf("wrong: %s", text)
					}
				}
				if n := k.reads.Load() - before; n != 1 {
					t.Errorf("wrong credentials are read %d times at once", n)
				}
			})
		})
	}
}

// A call whose credentials take long can be cancelled, and does not have the next one wait
// for its own reading.
func TestCredentialsThatTakeLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k, set := newKeyed(t, false)
		var slow atomic.Bool
		slow.Store(true)
		k.reading = func(ctx context.Context) error {
			if slow.Load() {
				<-ctx.Done()
			}
			return ctx.Err()
		}
		for range 2 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			if _, err := set.Call(ctx, &toolpost.Call{Name: "list_projects", Arguments: []byte(`{}`)}); err == nil && ctx.Err() == nil {
				t.Error("the call did not wait")
			}
			cancel()
		}
		slow.Store(false)
		if text, failed := use(t.Context(), t, set, "list_projects", `{}`); failed {
			t.Error(text)
		}
	})
}
