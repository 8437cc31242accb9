package main

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"net"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/grep"
	"github.com/toolpost/toolpost/internal/terminal"
	"github.com/toolpost/toolpost/schema"
	"github.com/toolpost/toolpost/store"
)

func TestMemoryLimit(t *testing.T) {
	const meminfo = "MemFree: 1 kB\nMemTotal:        8388608 kB\n"
	tests := []struct {
		name  string
		files map[string]string
		want  int64
	}{
		{"machine", map[string]string{"/proc/meminfo": meminfo, "/sys/fs/cgroup/memory.max": "max\n"}, 4 << 30},
		{"container", map[string]string{"/proc/meminfo": meminfo, "/sys/fs/cgroup/memory.max": "536870912\n"}, 256 << 20},
		{"cgroup 1", map[string]string{"/proc/meminfo": meminfo, "/sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n"}, 4 << 30},
		{"unknown", nil, 1 << 30},
		{"odd", map[string]string{"/proc/meminfo": "MemTotal:"}, 1 << 30},
	}
	for _, tt := range tests {
		got := memoryLimit(func(name string) ([]byte, error) {
			if data, ok := tt.files[name]; ok {
				return []byte(data), nil
			}
			return nil, fs.ErrNotExist
		})
		if got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
}

// A call that failed says which of its arguments the tool does not have.
func TestUnknownArguments(t *testing.T) {
	const echo = `{"type":"object","properties":{"message":{"type":"string"},"times":{"type":"integer"}}}`
	tests := []struct{ schema, arguments, want string }{
		{echo, `{"mesage":"x"}`, "\nunknown argument \"mesage\"; did you mean message?"},
		{echo, `{"times":1,"zzzzz":1,"mesage":2}`, "\nunknown argument \"mesage\"; did you mean message?\nunknown argument \"zzzzz\"; the arguments are message, times"},
		{echo, `{"message":"x"}`, ""},
		{`{"type":"object"}`, `{"any":1}`, ""},
		{`true`, `{"any":1}`, ""},
		{echo, `[]`, ""},
	}
	for _, tt := range tests {
		if d := cmp.Diff(tt.want, unknownArguments(json.RawMessage(tt.schema), json.RawMessage(tt.arguments))); d != "" {
			t.Errorf("%s: %s", tt.arguments, d)
		}
	}
}

func TestWrap(t *testing.T) {
	got := terminal.Wrap("connect to the server: it is  not there\nat all, abcdefghijklmnopqrstuvwxyz", 16)
	want := []string{"connect to the", "server: it is", "not there at", "all, abcdefghijk", "lmnopqrstuvwxyz"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestOutputParts(t *testing.T) {
	raw := `{"content":[{"type":"resource_link","uri":"file:///a","name":"A"},
		{"type":"resource","resource":{"uri":"x:1","text":"inside"}},
		{"type":"resource","resource":{"uri":"x:2","mimeType":"a/b","blob":"AAEC"}},
		{"type":"new_kind","x":1}]}`
	var out bytes.Buffer
	if err := (&output{to: &out}).write(toolpost.RawResult(json.RawMessage(raw))); err != nil {
		t.Fatal(err)
	}
	want := "[link file:///a] A\ninside\n[resource x:2, a/b, 3 bytes; save it with --out DIR]\n{\"type\":\"new_kind\",\"x\":1}\n"
	if d := cmp.Diff(want, out.String()); d != "" {
		t.Error(d)
	}
	out.Reset()
	if err := (&output{to: &out}).write(toolpost.RawResult(json.RawMessage(`{"content":[],"structuredContent":{"a":1}}`))); err != nil || out.String() != "{\"a\":1}\n" {
		t.Errorf("%q, %v", out.String(), err)
	}
}

func TestOutputIsHarmless(t *testing.T) {
	for safe, want := range map[bool]string{true: "a·[31m\tb\n·c\n", false: "a\x1b[31m\tb\n\u009bc\n"} {
		var out bytes.Buffer
		if err := (&output{to: &out, safe: safe}).write(toolpost.TextResult("a\x1b[31m\tb\n\u009bc")); err != nil || out.String() != want {
			t.Errorf("safe %v: %q, %v", safe, out.String(), err)
		}
	}
}

func TestWriteDefinitions(t *testing.T) {
	for n, want := range map[int]string{0: "[]\n", 1: "[\n{\"name\":\"a\",\"inputSchema\":{ }}\n]\n", 2: "[\n{\"name\":\"a\",\"inputSchema\":{ }},\n{\"name\":\"a\",\"inputSchema\":{ }}\n]\n"} {
		var out bytes.Buffer
		tool := &toolpost.Tool{Definition: toolpost.Definition{Name: "a", Input: schema.MustParse(`{ }`)}}
		if err := writeDefinitions(&out, []*toolpost.Tool{tool, tool}[:n]); err != nil || out.String() != want {
			t.Errorf("%d: %q, %v", n, out.String(), err)
		}
	}
}

func TestListener(t *testing.T) {
	tests := []struct {
		host, address  string
		loopback, wild bool
		hosts          []string
	}{
		{"127.0.0.1", "127.0.0.1", true, false, nil},
		{"::1", "::1", true, false, nil},
		{"localhost", "127.0.0.1", true, false, nil},
		{"localhost", "10.1.2.3", false, false, nil}, // as /etc/hosts may have it
		{"10.1.2.3", "10.1.2.3", false, false, []string{"10.1.2.3"}},
		{"box", "10.1.2.3", false, false, []string{"box"}},
		{"box", "127.0.1.1", true, false, []string{"box"}},
		{"0.0.0.0", "0.0.0.0", false, true, nil},
		{"::", "::", false, true, nil},
	}
	for _, tt := range tests {
		l := &listener{Listener: boundTo{net.ParseIP(tt.address)}, host: tt.host}
		if l.loopback() != tt.loopback || l.wildcard() != tt.wild {
			t.Errorf("%s at %s: %v, %v", tt.host, tt.address, l.loopback(), l.wildcard())
		}
		if hosts := l.hosts(); !tt.wild && !cmp.Equal(hosts, tt.hosts) {
			t.Errorf("%s at %s: %q", tt.host, tt.address, hosts)
		}
	}
	l, err := listen(":0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if !strings.HasPrefix(l.url(), "http://127.0.0.1:") {
		t.Errorf("an address without a host listens on %s", l.url())
	}
}

// boundTo is a listener at an address.
type boundTo struct{ ip net.IP }

func (b boundTo) Addr() net.Addr          { return &net.TCPAddr{IP: b.ip, Port: 1} }
func (boundTo) Accept() (net.Conn, error) { return nil, net.ErrClosed }
func (boundTo) Close() error              { return nil }

// FuzzPairs checks that arguments are always a JSON object or refused.
func FuzzPairs(f *testing.F) {
	f.Add(`{"properties":{"a":{"type":"integer"}}}`, "a=1", "b=x")
	f.Add(`{"properties":{"a":{"type":["array","null"],"items":{"type":"number"}}}}`, "a=1", "a= 2")
	f.Add(`{"properties":{"a":true}}`, "a=\xff", "=1")
	f.Fuzz(func(t *testing.T, schema, a, b string) {
		raw, err := pairs(json.RawMessage(schema), []string{a, b})
		if err == nil && !json.Valid(raw) {
			t.Errorf("%q", raw)
		}
	})
}

// An output that goes while a command looks at others is told, and does not end it.
func TestOutputsThatGoMeanwhile(t *testing.T) {
	s := store.Memory(nil)
	var all keptOutputs
	for _, ref := range []string{"first", "second", "third"} {
		w, err := s.Create(t.Context(), ref)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte("text of " + ref + "\n")); err != nil {
			t.Fatal(err)
		}
		info, err := w.Commit()
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, kept{info, "", ref})
	}
	if err := s.Remove(t.Context(), "second"); err != nil {
		t.Fatal(err)
	}
	pattern, err := grep.Compile("text", nil)
	if err != nil {
		t.Fatal(err)
	}
	const gone = "second is gone: it has expired, or was removed meanwhile"
	var out, told bytes.Buffer
	err = searchOutputs(t.Context(), &out, &told, s, all, pattern)
	if want := "first:1: text of first\nthird:1: text of third\n"; err != nil || out.String() != want || told.String() != gone+"\n" {
		t.Errorf("grep: %v, %q, %q", err, &out, &told)
	}
	if err := showOutput(t.Context(), &out, s, all[1], 0, 0); err == nil || err.Error() != gone {
		t.Errorf("show: %v", err)
	}
	told.Reset()
	if err := removeOutputs(t.Context(), &told, s, all); err != nil || told.String() != gone+"\n" {
		t.Errorf("rm: %v, %q", err, &told)
	}
	for info := range s.List(t.Context()) {
		t.Errorf("%s is left", info.Name)
	}
}
