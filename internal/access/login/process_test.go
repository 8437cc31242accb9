package login_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/access/login"
	"github.com/toolpost/toolpost/internal/access/vault"
	"github.com/toolpost/toolpost/upstream"
)

// The variables that make the test binary another process with the same login: it
// writes its process id, waits for a line, and sends one request.
const (
	childVault  = "TOOLPOST_TEST_LOGIN_VAULT"
	childServer = "TOOLPOST_TEST_LOGIN_SERVER"
)

func TestMain(m *testing.M) {
	dir := os.Getenv(childVault)
	if dir == "" {
		// Those that are parallel wait, so all of them run at a time, unless the command line
		// says how many.
		if err := flag.Set("test.parallel", "8"); err != nil {
			panic(err)
		}
		os.Exit(m.Run())
	}
	_, _ = os.Stdin.Read(make([]byte, 1))
	text, err := ask(login.New(vault.Folder(dir), nil), &config.Server{Config: upstream.Config{Name: "it", URL: os.Getenv(childServer)}})
	if err != nil {
		text = err.Error()
	}
	_, _ = os.Stdout.WriteString(text)
}

// A child is another process with the same login.
type child struct {
	*exec.Cmd
	start io.WriteCloser
	out   strings.Builder
}

func newChild(t *testing.T, dir string, cfg *config.Server) *child {
	t.Helper()
	c := &child{Cmd: exec.Command(os.Args[0])}
	c.Env = append(os.Environ(), childVault+"="+dir, childServer+"="+cfg.URL)
	c.Stdout, c.Stderr = &c.out, &c.out
	var err error
	if c.start, err = c.StdinPipe(); err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (c *child) answer() string {
	_, _ = c.start.Write([]byte("\n"))
	_ = c.Wait()
	return c.out.String()
}

// Ten processes renew one token at the same time: the authorization server is
// asked once for each expiry, and nobody is logged out.
func TestTenProcesses(t *testing.T) {
	w, dir := newWorld(t), t.TempDir()
	l := login.New(vault.Folder(dir), nil)
	if _, err := l.Login(t.Context(), w.config(), nil, browser(t)); err != nil {
		t.Fatal(err)
	}
	for round := 1; round <= 2; round++ {
		w.expire()
		expireStored(t, vault.Folder(dir))
		var children []*child
		for range 10 {
			children = append(children, newChild(t, dir, w.config()))
		}
		var all sync.WaitGroup
		for _, c := range children {
			all.Go(func() {
				if got := c.answer(); got != "welcome" {
					t.Errorf("a process got %q", got)
				}
			})
		}
		all.Wait()
		w.mu.Lock()
		if w.refreshes != round {
			t.Errorf("%d refreshes after %d expiries", w.refreshes, round)
		}
		w.mu.Unlock()
	}
}

// expireStored lets the stored token end, as a process sees it.
func expireStored(t *testing.T, v vault.Vault) {
	t.Helper()
	changeStored(t, v, func(r map[string]any) { r["expiry"] = time.Now().Add(-time.Hour) })
}

func changeStored(t *testing.T, v vault.Vault, change func(r map[string]any)) {
	t.Helper()
	names, err := v.Names()
	if err == nil {
		err = v.Update(t.Context(), names[0], func(data []byte) ([]byte, error) {
			var r map[string]any
			err := json.Unmarshal(data, &r)
			change(r)
			data, _ = json.Marshal(r)
			return data, err
		})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Goroutines of one process share a renewal too.
func TestOneRefreshOfAProcess(t *testing.T) {
	w := newWorld(t)
	w.lifetime = 1 // below the time before the end at which a token is renewed
	l := login.New(vault.Folder(t.TempDir()), nil)
	if _, err := l.Login(t.Context(), w.config(), nil, browser(t)); err != nil {
		t.Fatal(err)
	}
	w.mu.Lock()
	w.lifetime = 3600
	w.mu.Unlock()
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() { mustAsk(t, l, w.config()) })
	}
	all.Wait()
	if w.refreshes != 1 {
		t.Errorf("%d refreshes", w.refreshes)
	}
}

// A process is killed after the authorization server has replaced its token, and
// before it has kept the new one. The next one reports that a login is needed,
// with the command, and a login helps.
func TestKilledBetweenRefreshAndSave(t *testing.T) {
	w, dir := newWorld(t), t.TempDir()
	l := login.New(vault.Folder(dir), nil)
	if _, err := l.Login(t.Context(), w.config(), nil, browser(t)); err != nil {
		t.Fatal(err)
	}
	w.expire()
	c := newChild(t, dir, w.config())
	w.mu.Lock()
	w.granted = func(rw http.ResponseWriter, body []byte) { // half of the answer, and then the kill
		rw.Header().Set("Content-Type", "application/json")
		rw.Header().Set("Content-Length", strconv.Itoa(len(body)))
		_, _ = rw.Write(body[:len(body)-1])
		_ = http.NewResponseController(rw).Flush()
		_ = c.Process.Kill()
	}
	w.mu.Unlock()
	if got := c.answer(); got != "" {
		t.Fatalf("the process was not killed: %q", got)
	}
	w.mu.Lock()
	w.granted = nil
	w.mu.Unlock()
	for range 2 {
		_, err := ask(login.New(vault.Folder(dir), nil), w.config())
		if e := loginError(err); e == nil || e.Command != "toolpost login it" {
			t.Errorf("after the kill: %v", err)
		}
	}
	if w.refreshes != 2 { // the one that was killed, and one more
		t.Errorf("%d refreshes: the authorization server was asked again for what it had refused", w.refreshes)
	}
	if status, err := l.Status(w.config()); err != nil || status.State != login.LoginNeeded {
		t.Errorf("got %+v, %v", status, err)
	}
	if _, err := l.Login(t.Context(), w.config(), nil, browser(t)); err != nil {
		t.Fatal(err)
	}
	mustAsk(t, l, w.config())
}

// A renewed login that cannot be kept is not used, and is kept when that is
// possible again: its predecessor is used up.
func TestVaultIsFull(t *testing.T) {
	w := newWorld(t)
	v := &fullVault{Vault: vault.Folder(t.TempDir())}
	l := login.New(v, nil)
	if _, err := l.Login(t.Context(), w.config(), nil, browser(t)); err != nil {
		t.Fatal(err)
	}
	mustAsk(t, l, w.config())
	w.expire()
	v.full = true
	if _, err := ask(l, w.config()); err == nil || loginError(err) != nil || !strings.Contains(err.Error(), "no space") {
		t.Errorf("a full vault: %v", err)
	}
	v.full = false
	mustAsk(t, l, w.config())
	if w.refreshes != 1 {
		t.Errorf("%d refreshes", w.refreshes)
	}
}

type fullVault struct {
	vault.Vault
	full bool
}

// No secret is in an error, a status or a log.
func TestNoSecretIsShown(t *testing.T) {
	w, v := newWorld(t), vault.Folder(t.TempDir())
	var log strings.Builder
	l := login.New(v, logger(&log))
	if _, err := l.Login(t.Context(), w.config(), nil, browser(t)); err != nil {
		t.Fatal(err)
	}
	w.expire()
	w.mu.Lock()
	var secrets []string
	for token := range w.refresh {
		secrets = append(secrets, token)
		w.used[token] = true // the server refuses it, and repeats it in its answer
	}
	w.mu.Unlock()
	_, err := ask(l, w.config())
	if err == nil || !strings.Contains(err.Error(), "invalid_grant") {
		t.Fatal(err)
	}
	all, _ := l.List()
	listed, _ := json.Marshal(all)
	for _, s := range secrets {
		if strings.Contains(err.Error()+log.String()+string(listed), s) {
			t.Errorf("%q is shown", s)
		}
	}
	if errors.Unwrap(err) == nil {
		t.Error("the error has lost its cause")
	}
}

// Update does not keep the secret while the vault is full.
func (v *fullVault) Update(ctx context.Context, name string, change func([]byte) ([]byte, error)) error {
	return v.Vault.Update(ctx, name, func(old []byte) ([]byte, error) {
		next, err := change(old)
		if v.full && err == nil {
			err = errors.New("no space")
		}
		return next, err
	})
}

func logger(w io.Writer) *slog.Logger {
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelDebug}))
}
