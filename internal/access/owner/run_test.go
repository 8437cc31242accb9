package owner

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/access/proof"
)

// TestRun: the process that noted a run gets requests; another one at its address is only
// asked for the proof, and neither is one of another configuration found.
func TestRun(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	var run *Run
	var mu sync.Mutex
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, r.Method+" "+r.URL.Path+" "+r.Header.Get("Authorization"))
		if run != nil {
			proof.Answer(w, r, proof.RunHeader, run.Key)
		}
	}))
	defer server.Close()
	c := &config.Config{URLs: "http://one.example/mcp?key=secret"}
	if FindRun(c) != nil {
		t.Error("a run was found before there was one")
	}
	noted, err := NoteRun(c, server.URL+"/mcp")
	if err != nil {
		t.Fatal(err)
	}
	path := noted.path
	if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o077 != 0 && os.Getenv("OS") != "Windows_NT" {
		t.Errorf("%v, %v", info, err)
	}
	if raw, _ := os.ReadFile(path); strings.Contains(string(raw)+path, "secret") {
		t.Errorf("%s: %s", path, raw)
	}
	call := func() error {
		s := FindRun(c).Server(time.Minute)
		req, _ := http.NewRequest(http.MethodPost, s.URL, strings.NewReader("arguments"))
		resp, err := s.Wrap(http.DefaultTransport.(*http.Transport).Clone()).RoundTrip(req)
		if err == nil {
			err = resp.Body.Close()
		}
		return err
	}
	if err := call(); err == nil {
		t.Error("a process without the key got a request")
	}
	mu.Lock()
	run = noted
	mu.Unlock()
	if err := call(); err != nil {
		t.Error(err)
	}
	if got, want := strings.Join(asked, ", "), "GET /healthz , GET /healthz , POST /mcp "; got != want {
		t.Errorf("asked %q, want %q", got, want)
	}
	if FindRun(&config.Config{URLs: "http://two.example/mcp"}) != nil {
		t.Error("a run of another configuration was found")
	}
	dead := exec.Command(os.Args[0], "-test.run=^$")
	if err := dead.Run(); err != nil {
		t.Fatal(err)
	}
	left := strings.TrimSuffix(path, strconv.Itoa(os.Getpid())+".json") + strconv.Itoa(dead.Process.Pid) + ".json"
	note := fmt.Appendf(nil, `{"pid":%d,"url":"http://127.0.0.1:1/mcp","key":"k","started":"2100-01-01T00:00:00Z"}`, dead.Process.Pid)
	if err := os.WriteFile(left, note, 0o600); err != nil {
		t.Fatal(err)
	}
	crashed := filepath.Join(filepath.Dir(left), "crashed-1.json") // as a crash of the system leaves it
	if err := os.WriteFile(crashed, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if r := FindRun(c); r == nil || r.Key != noted.Key {
		t.Errorf("found %+v, although its process has ended", r)
	}
	other, err := NoteRun(&config.Config{URLs: "http://two.example/mcp"}, server.URL+"/mcp")
	if err != nil {
		t.Fatal(err)
	}
	if err := noted.Forget(); err != nil || FindRun(c) != nil || FindRun(&config.Config{URLs: "http://two.example/mcp"}) == nil {
		t.Errorf("forgot another one: %v", err)
	}
	if err := other.Forget(); err != nil {
		t.Error(err)
	}
	for _, gone := range []string{left, crashed} {
		if _, err := os.Stat(gone); err == nil {
			t.Errorf("%s: the note of a process that has ended is still there", gone)
		}
	}
}

// TestOtherProcess: a process that got the PID of an earlier one is not the one that serves.
func TestOtherProcess(t *testing.T) {
	if processStart(os.Getpid()) == "" {
		t.Skip("when processes were started is not known here")
	}
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	c := &config.Config{URLs: "http://one.example/mcp"}
	noted, err := NoteRun(c, "http://127.0.0.1:1/mcp")
	if err != nil {
		t.Fatal(err)
	}
	if r := FindRun(c); r == nil || !r.IsAlive() {
		t.Fatalf("found %+v", r)
	}
	raw, _ := os.ReadFile(noted.path)
	other := strings.Replace(string(raw), `"process":"`, `"process":"9`, 1)
	if err := os.WriteFile(noted.path, []byte(other), 0o600); err != nil || other == string(raw) {
		t.Fatalf("%v, %s", err, raw)
	}
	if r := FindRun(c); r != nil {
		t.Errorf("found %+v", r)
	}
}

// TestSilentPort: a port that accepts connections and never answers is waited for no longer
// than it was allowed.
func TestSilentPort(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() // the system accepts connections
	r := &Run{URL: "http://" + l.Addr().String() + "/mcp", Key: "k"}
	s := r.Server(time.Millisecond)
	req, _ := http.NewRequest(http.MethodPost, s.URL, nil)
	if _, err := s.Wrap(http.DefaultTransport.(*http.Transport).Clone()).RoundTrip(req); !errors.Is(err, proof.ErrUnproven) {
		t.Errorf("got %v", err)
	}
}

// TestLostAnswer: a call whose answer is lost may have been executed, which its error says.
func TestLostAnswer(t *testing.T) {
	answers := map[string]struct {
		answer func(http.ResponseWriter)
		fails  string
	}{
		"lost":     {func(http.ResponseWriter) { panic(http.ErrAbortHandler) }, "may have been executed"},
		"cut":      {func(w http.ResponseWriter) { w.Header().Set("Content-Length", "100"); _, _ = w.Write([]byte("{")) }, "may have been executed"},
		"a defect": {func(w http.ResponseWriter) { w.WriteHeader(http.StatusInternalServerError) }, "may have been executed"},
		"refused":  {func(w http.ResponseWriter) { w.WriteHeader(http.StatusConflict) }, ErrNotSame.Error()},
		"an error of the server": {func(w http.ResponseWriter) {
			w.Header().Set(AnswerHeader, AnswerError)
			_, _ = w.Write([]byte(`{"Code": -32602, "Message": "no such tool"}`))
		}, "no such tool"},
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		proof.Answer(w, r, proof.RunHeader, "k")
		if r.URL.Path == CallPath {
			answers[r.URL.Query().Get("tool")].answer(w)
		}
	}))
	defer server.Close()
	c := (&Run{URL: server.URL + "/mcp", Key: "k", PID: 1}).Client(time.Hour, "f", "toolpost call")
	defer c.Close()
	for name, tt := range answers {
		if _, err := c.Call(t.Context(), name, []byte("{}")); err == nil || !strings.Contains(err.Error(), tt.fails) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	server.Close()
	if _, err := c.Call(t.Context(), "t", []byte("{}")); !errors.Is(err, ErrNotSame) && (err == nil || !strings.Contains(err.Error(), "may have been executed")) {
		t.Errorf("nothing listens: %v", err)
	}
}
