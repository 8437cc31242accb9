package upstream

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/hidden"
	"github.com/toolpost/toolpost/internal/longjson"
	"github.com/toolpost/toolpost/internal/secret"
	"github.com/toolpost/toolpost/internal/wire"
)

// Members are set in their places or at the end, and all else stays.
func TestSetMembers(t *testing.T) {
	set := []wire.Member{{Name: "a", Value: json.RawMessage("1")}, {Name: "b"}}
	for in, want := range map[string]string{
		``: `{"a":1}`, `{}`: `{"a":1}`, `7`: `{"a":1}`, `{"x": 1.50 , "a": [2],"b":3}`: `{"x": 1.50 , "a": 1}`, `{"b":1}`: `{"a":1}`,
		`{"a":1} {"b":2}`: `{"a":1}`, "{\"x\":1}\n{}": `{"a":1}`, `{"a":1,]`: `{"a":1}`, `{"a":1}`: `{"a":1}`,
		`{"a":2,"\u0061":3,"c":"\ud800"}`:        `{"a":1,"c":"\ud800"}`,
		`{"A":2,"a":3,"\u0001a":4,"B":5,"aa":6}`: `{"a":1,"aa":6}`, `{"A":2}`: `{"a":1}`,
	} {
		if got := string(wire.SetAll(json.RawMessage(in), set...)); got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
}

// The arguments and the name of a call are those that were checked, whatever
// reads them. A progress token of another hop would be that of another call.
func TestOtherSpellings(t *testing.T) {
	params := json.RawMessage(`{"Name":"denied","name":"allowed","ARGUMENTS":{"a":2},"argument\u017f":{"a":3},"_meta":{"ProgressToken":1,"x":2}}`)
	x := &exchange{request: &request{method: "tools/call", params: params, meta: wire.Get(params, "_meta")}}
	x.set = []wire.Member{{Name: "name", Value: json.RawMessage(`"allowed"`)}, {Name: "arguments", Value: json.RawMessage(`{"a":1}`)}}
	got := string(x.encode(json.RawMessage("1"), nil))
	if want := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"allowed","_meta":{"x":2},"arguments":{"a":1}}}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	var read struct {
		Params struct {
			Name      string
			Arguments json.RawMessage
		}
	}
	if err := json.Unmarshal([]byte(got), &read); err != nil || read.Params.Name != "allowed" || string(read.Params.Arguments) != `{"a":1}` {
		t.Errorf("a server that ignores case reads %+v, %v", read, err)
	}
}

// An echo is a connection whose server answers each request with the same bytes,
// and whose messages to the server must be valid.
type echo struct {
	t   *testing.T
	p   *peer
	raw []byte
}

func (e *echo) call(_ context.Context, x *exchange, message []byte) error {
	_ = e.send(context.Background(), "", message)
	b := &body{limits: &limits{max: 1 << 10}}
	b.add(e.raw)
	if _, err := e.p.take(b, x); err != nil || x.answered.Load() {
		return err
	}
	return &cutError{}
}

func (e *echo) send(_ context.Context, _ string, message []byte) error {
	if !jsontext.Value(message).IsValid(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) {
		e.t.Errorf("sent %q, which is not JSON", message)
	}
	return nil
}

func (e *echo) useVersion(string) {}
func (e *echo) close()            {}

// Bytes that are not UTF-8, and halves of surrogate pairs, are replaced, in long
// answers too: with them, a strict client would end its session to all servers.
func TestNotUnicode(t *testing.T) {
	for _, n := range []int{1, 200 << 10, 3 << 20} {
		before := strings.Repeat("é", n)
		b := &body{limits: &limits{max: 1 << 20, dir: t.TempDir()}}
		b.add([]byte(`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","\udc00text":"` + before + `\\ud83d\ud83d\uDE00\ud83d\ud83d\ude00\ud83` + "d\xff\xc3\"}]}}"))
		found, unread, err := b.messages()
		if err != nil {
			t.Fatal(err)
		}
		var result []byte
		if unread == nil {
			result = found[0].Result
		} else {
			result, err = unread.err.(*longResult).Load()
		}
		if want := `{"content":[{"type":"text","\ufffdtext":"` + before + `\\ud83d\ud83d\uDE00\ufffd\ud83d\ude00\ufffd` + "\uFFFD\uFFFD\"}]}"; err != nil || string(result) != want {
			t.Errorf("%d: got %.100q of %d bytes, want %d; %v", n, result, len(result), len(want), err)
		}
	}
}

// The scan of a long result notes what clients may refuse in it.
func TestOddLongResults(t *testing.T) {
	long := `{"type":"text","text":"` + strings.Repeat("é", 200<<10) + `"}`
	for result, want := range map[string]wire.Answer{
		`{"content":[` + long + `]}`:                                                                                      {},
		`{"content":[` + long + `],"isError":null}`:                                                                       {Odd: true},
		`{"content":[` + long + `],"_meta":[]}`:                                                                           {Odd: true},
		`{"content":[` + long + `,{"type":"text","text":"a","_meta":null}]}`:                                              {Odd: true},
		`{"content":[` + long + `,{"type":"resource","resource":{"uri":"x","text":"a","blob":null}}]}`:                    {Odd: true},
		`{"content":[` + long + `,null]}`:                                                                                 {Odd: true},
		`{"content":[` + long + `,{"type":"audio","data":"","mimeType":""}]}`:                                             {Newer: true},
		`{"content":[` + long[:1] + `"annotations":{"priority":1, "audience" : ["user"]},` + long[1:] + `]}`:              {},
		`{"content":[` + long + `,{"type":"resource_link","uri":"x:1","name":"n","size":12,"icons":[{"src":"s"}]}]}`:      {Newer: true},
		`{"content":[` + long + `,{"type":"text","text":"a","annotations":{"priority":null}}]}`:                           {Odd: true},
		`{"content":[` + long + `,{"type":"resource","resource":{"uri":"x:1","text":"a","icons":[{"src":5}]}}]}`:          {Odd: true},
		`{"content":[` + long + `,{"type":"text","text":"a","annotations":{"x":"` + strings.Repeat("x", 10<<10) + `"}}]}`: {Odd: true},
		`{"content":[` + long + `,{"type":"text","text":"a","size":1.5}]}`:                                                {Odd: true},
		`{"contents":[{"uri":"x","mimeType":null,` + long[1:] + `]}`:                                                      {Odd: true},
		`{"content":[` + long + `],"structuredContent":{"content":[{"text":null}]}}`:                                      {},
	} {
		b := &body{limits: &limits{max: 1 << 20, dir: t.TempDir()}}
		b.add([]byte(`{"jsonrpc":"2.0","id":1,"result":` + result + "}"))
		_, unread, err := b.messages()
		if err != nil || unread == nil {
			t.Fatal(err, unread)
		}
		l := unread.err.(*longResult)
		if l.found.Odd != want.Odd || l.found.Newer != want.Newer {
			t.Errorf("%.30s…%s: odd %v, newer %v", result, result[max(30, len(result)-60):], l.found.Odd, l.found.Newer)
		}
		l.Close()
	}
}

// Whatever a server sends, a call ends, with a result that is an object or with
// an error, and what is sent back is JSON.
func FuzzAnswers(f *testing.F) {
	for _, s := range []string{
		`{"jsonrpc":"2.0","id":1,"result":{}}`, `[{"jsonrpc":"2.0","method":"notifications/x"},{"jsonrpc":"2.0","id":"1","error":{"code":1}}]`,
		`{"jsonrpc":"2.0","id":1,"result":{}} x`, `[[]]`, `hello`, `{"jsonrpc":"2.0","id":"q","method":"ping"}`, `{"jsonrpc":"2.0","id":1}`,
		`{"jsonrpc":"2.0","id":{},"method":"roots/list"}`, `[{"jsonrpc":"2.0","id":1,"method":"elicitation/create","params":{"message":"\u200b"}},{"jsonrpc":"2.0","id":1.0,"result":[]}]`,
		`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"1","progress":1}}`, "{\"jsonrpc\":\"2.0\",\"id\":\"\xff\",\"method\":\"\xff\"}",
		`{"jsonrpc":"2.0","id":1,"result":{"x":"` + strings.Repeat("x", 2<<10) + `"}}`, `{"result":{"x":"` + strings.Repeat("x", 5<<10) + `"},"id":1,"jsonrpc":"2.0"}`,
		`{"jsonrpc":"2.0","id":1,"error":{"code":-32042,"message":"m","data":{"elicitations":[{"url":"x:y"}]}}}`,
	} {
		f.Add([]byte(s), []byte(`{"name":"x","_meta":{"progressToken":1}}`))
	}
	f.Fuzz(func(t *testing.T, raw, params []byte) {
		p := newPeer(slog.New(slog.DiscardHandler), func(*wire.Message) {}, nil)
		defer p.fail(errClosed)
		p.conn = &echo{t, p, raw}
		s := &session{peer: p}
		r := &request{method: "tools/call", params: params, meta: wire.Get(params, "_meta")}
		result, _, err := s.call(t.Context(), r)
		if err == nil && hidden.EncodedOf(result).Long == nil && !wire.IsObject(hidden.EncodedOf(result).Raw) {
			t.Fatalf("%q: the result is %q", raw, hidden.EncodedOf(result).Raw)
		}
		p.answers.wait(t.Context())
	})
}

// A told is an event as a test compares it.
type told struct {
	Name, ID, Data string
	Lines          bool // it has data
	Retry          time.Duration
}

func readEvents(raw []byte, most int, oneByte bool) (all []told, size int) {
	r := iotest.OneByteReader(bytes.NewReader(raw))
	if !oneByte {
		r = bytes.NewReader(raw)
	}
	for ev, err := range events(r, &limits{max: most}, nil) {
		if err != nil {
			return all, size
		}
		e := told{Name: ev.name, ID: ev.id, Retry: ev.retry, Lines: ev.data != nil}
		if e.Lines {
			ev.data.settle()
			size, e.Data = max(size, len(ev.data.data)), string(ev.data.data)
		}
		all = append(all, e)
	}
	return all, size
}

func FuzzEvents(f *testing.F) {
	for _, s := range []string{
		"data: 1\n\n", "\uFEFFevent: x\r\ndata:a\r\ndata: b\r\nid: 7\r\nretry: 10\r\n\r\n", "data: 1\r\rdata\r\r", ": comment\n\n", "data: cut", "odd line\n\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		const most = 100
		all, size := readEvents(raw, most, false)
		if size > most {
			t.Fatalf("an event has %d bytes", size)
		}
		slowly, _ := readEvents(raw, most, true)
		if diff := cmp.Diff(all, slowly); diff != "" {
			t.Fatalf("%q is read differently in small pieces: %s", raw, diff)
		}
		unix := strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(string(raw))
		if lf, _ := readEvents([]byte(unix), most, false); !cmp.Equal(all, lf) {
			t.Fatalf("%q: the kind of line end makes a difference", raw)
		}
	})
}

func TestEvents(t *testing.T) {
	got, _ := readEvents([]byte("\uFEFF: hello\nevent: endpoint\ndata: /m\n\ndata: a\ndata:  b\nid: 7\nretry: 10\nodd\n\ndata\n\nretry: x\n\ndata: cut\n"), 100, false)
	want := []told{
		{Name: "endpoint", Data: "/m", Lines: true},
		{Data: "a\n b", Lines: true, ID: "7", Retry: 10e6},
		{Lines: true},
		{},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestSecrets(t *testing.T) {
	hide := secretsOf(&Config{
		URL: "https://user:pa55word@host/mcp?key=k3y+secret&flag=on", Headers: map[string]string{"Authorization": "Bearer t0ken12", "X-On": "1"},
		Env: map[string]string{"KEY": "envsecret", "DEBUG": "1"},
	}, nil)
	got := hide.Replace("t0ken12 pa55word 'k3y secret' k3y+secret envsecret DEBUG=1 on Bearer t0ken12")
	if want := "[hidden] [hidden] '[hidden]' [hidden] [hidden] DEBUG=1 on [hidden]"; got != want {
		t.Errorf("got %s", got)
	}
}

// TestSecretsInOtherForms has secrets in a log of JSON, and a private key of
// which the log has a line at a time.
func TestSecretsInOtherForms(t *testing.T) {
	const key = "-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\nshort=\n-----END KEY-----\n"
	hide := secretsOf(&Config{Env: map[string]string{"PASSWORD": `pa"ss\word`, "KEY": key}}, nil)
	for text, want := range map[string]string{
		`{"password":"pa\"ss\\word"}`:      `{"password":"[hidden]"}`,
		`pa"ss\word`:                       `[hidden]`,
		"MIIEvQIBADANBgkqhkiG9w0BAQEFAASC": "[hidden]",
		"-----BEGIN KEY-----":              "-----BEGIN KEY-----",
		key:                                "[hidden]",
		`{"key":"` + strings.Trim(string(wire.Quote(key)), `"`) + `","short":"a"}`: `{"key":"[hidden]","short":"a"}`,
	} {
		if got := hide.Replace(text); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}

func TestSecretsOfBasicCredentials(t *testing.T) {
	hide := secretsOf(&Config{URL: "http://alice:pa55%2Fword99@host/mcp", Headers: map[string]string{"Proxy-Authorization": "Basic Ym9iOmgxZGRlbnB3"}}, nil)
	for _, secret := range []string{
		"pa55/word99", "alice:pa55/word99", "YWxpY2U6cGE1NS93b3JkOTk=", "YWxpY2U6cGE1NS93b3JkOTk", // base64 of alice:pa55/word99
		"Ym9iOmgxZGRlbnB3", "bob:h1ddenpw", "h1ddenpw",
	} {
		if got := hide.Replace("Basic " + secret + "."); got != "Basic [hidden]." && got != "[hidden]." {
			t.Errorf("%s: %s", secret, got)
		}
	}
}

func TestSecretsOfArgsAndPath(t *testing.T) {
	const form = "0123456789abcdefghABCDEFGH"
	hide := secretsOf(&Config{URL: "https://only-t0ken@host/api/" + form + "x/mcp", Args: []string{
		"--api-key", "0neSecret", "--token=tw0secret", "Authorization: Bearer thr33secret", "-H", "X-Api-Key: f0ursecret",
		form, "https://ada:f1vesecret@host/" + form + "y?k=s1x%20secret", "-c", "A=run the server", "--port", "8080808",
	}}, nil)
	got := hide.Replace("only-t0ken 0neSecret tw0secret thr33secret f0ursecret f1vesecret " + form + "x " + form + " " + form + "y s1x%20secret s1x+secret s1x secret")
	if rest := strings.ReplaceAll(got, "[hidden]", ""); strings.TrimSpace(rest) != "" {
		t.Errorf("got %s", got)
	}
	if plain := `server "api" run the host/mcp --api-key 8080808`; hide.Replace(plain) != plain {
		t.Errorf("got %s", hide.Replace(plain))
	}
}

func TestLogsHideSecrets(t *testing.T) {
	var b bytes.Buffer
	hide := secret.NewValues("[hidden]", "s3cret")
	log := slog.New(secret.NewHandler(slog.NewTextHandler(&b, nil), hide)).With("a", "s3cret").WithGroup("g")
	log.Info("s3cret", "b", "s3cret", "c", errors.New("s3cret"), "n", 1)
	if strings.Contains(b.String(), "s3cret") || strings.Count(b.String(), "[hidden]") != 4 || !strings.Contains(b.String(), "g.n=1") {
		t.Errorf("logged %s", b.String())
	}
}

// A call costs few allocations beside those of its connection.
func TestAllocations(t *testing.T) {
	p := newPeer(slog.New(slog.DiscardHandler), func(*wire.Message) {}, nil)
	e := &answerer{p: p}
	p.conn = e
	s := &session{peer: p, hello: hello{version: classicVersion}}
	params := json.RawMessage(`{"name":"srv__t","arguments":{"a":1,"b":"text"},"_meta":{"progressToken":7,"x":1}}`)
	got := testing.AllocsPerRun(100, func() {
		r := &request{what: "tool t", method: "tools/call", params: params, meta: wire.Get(params, "_meta")}
		if _, _, err := s.call(t.Context(), r.setName("t", wire.Get(params, "arguments"))); err != nil {
			t.Fatal(err)
		}
	})
	if most := 30.0; got > most { // some are the answerer's
		t.Errorf("%v allocations, want at most %v", got, most)
	}
}

// An answerer is a connection that answers each call at once.
type answerer struct{ p *peer }

func (a *answerer) call(_ context.Context, x *exchange, _ []byte) error {
	b := &body{limits: &limits{max: 1 << 20}}
	b.add(wire.AppendResult(nil, x.id(), []byte(`{"content":[{"type":"text","text":"some text"}],"isError":false}`)))
	_, err := a.p.take(b, x)
	return err
}

func (a *answerer) send(context.Context, string, []byte) error { return nil }
func (a *answerer) useVersion(string)                          {}
func (a *answerer) close()                                     {}

// A long result belongs to who takes it: the message that brought it does not
// look at it any more.
func TestLongResultHasOneOwner(t *testing.T) {
	b := &body{limits: &limits{max: 4 << 20, dir: t.TempDir()}}
	b.add([]byte(`{"jsonrpc":"2.0","id":1,"result":{"content":[],"x":"`))
	for range 24 {
		b.add(bytes.Repeat([]byte("x"), 64<<10))
	}
	b.add([]byte(`"}}`))
	_, unread, err := b.messages()
	long := (*longResult)(nil)
	if err != nil || unread == nil || !errors.As(unread.err, &long) {
		t.Fatalf("got %v, %v", unread, err)
	}
	long.Close()
	if begin := b.begin(); len(begin) > 0 {
		t.Errorf("it reads %d bytes of what was given up", len(begin))
	}
	b.drop()
}

// A long result that comes when its caller leaves is handed on, so that somebody
// closes it.
func TestLongResultOfACallerThatLeaves(t *testing.T) {
	p := newPeer(slog.New(slog.DiscardHandler), nil, nil)
	p.conn = &answerer{p}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	got := 0
	for range 64 { // both are ready, and either may be chosen
		pending, err := p.calls.Begin()
		if err != nil {
			t.Fatal(err)
		}
		p.calls.Fail(pending.ID, &longResult{body: body{limits: &limits{}}, Object: new(longjson.Object)})
		if _, err := p.await(ctx, &exchange{request: &request{}, number: pending.Number()}, pending, nil); errors.As(err, new(*longResult)) {
			got++
		}
		pending.End()
	}
	if got == 0 {
		t.Error("all are lost")
	}
}

// TestRefusalsHideSecrets checks the errors that a server answers: they have no secret
// of this process, and their other bytes stay as they are.
func TestRefusalsHideSecrets(t *testing.T) {
	known := secret.NewValues(secret.Hidden, "of-another-server")
	hide := secretsOf(&Config{Name: "srv", Env: map[string]string{"PLAIN": "h4rmless", "FOLDER": "/srv/projects", "HOME": "/home/someone", "TOKEN": "pr0bable", "OWNER": "my-org"}}, known)
	s := &session{secrets: hide}
	for data, want := range map[string]string{
		`{"a": 1.0, "path": "/srv/projects/x", "home": "/home/someone"}`: `{"a": 1.0, "path": "/srv/projects/x", "home": "/home/someone"}`,
		`["h4rmless", {"pr0bable": "of-another-server"}, 1.0]`:           `["[hidden]",{"[hidden]":"[hidden]"},1.0]`,
		`"\u0070r0bable"`: `"[hidden]"`,
		``:                ``,
	} {
		err := s.fromServer(&wire.Error{Code: -32000, Message: "my-org: bad key pr0bable", Data: []byte(data)})
		protocol, ok := errors.AsType[*toolpost.ProtocolError](err)
		if !ok || protocol.Message != "my-org: bad key [hidden]" || string(protocol.Data) != want {
			t.Errorf("%s became %v", data, err)
		}
	}
	if got, want := known.Replace("h4rmless pr0bable"), "h4rmless [hidden]"; got != want {
		t.Errorf("all know %q, want %q", got, want)
	}
}

// A header that is the same word as the name of its server hides the name neither in
// errors nor in logs, but what the server says.
func TestNameOfServerIsShown(t *testing.T) {
	var logged bytes.Buffer
	known := secret.NewValues(secret.Hidden)
	known.Show("github")
	u, err := Start(&Config{Name: "github", Command: "no-such-command", Env: map[string]string{"API_KEY": "github"}},
		&Options{ofGateway: hidden.UpstreamOptions{Secrets: known, StartDelay: time.Hour}, Logger: slog.New(slog.NewTextHandler(&logged, nil))})
	if err != nil {
		t.Fatal(err)
	}
	defer u.Close()
	if got := u.dial.problem(errors.New("bad key github")).Error(); got != `server "github": bad key [hidden]` {
		t.Errorf("the error is %s", got)
	}
	if u.log.Info("bad key github"); !strings.Contains(logged.String(), `msg="bad key [hidden]" server=github`) {
		t.Errorf("the log has %s", &logged)
	}
}
