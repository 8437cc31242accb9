package stdtool_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/stdtool"
)

// names is a resolver that knows these names, and asks nobody.
func names(t *testing.T, known map[string][]string) *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		go func() {
			defer ours.Close()
			if err := answer(ours, known); err != nil && !errors.Is(err, io.ErrClosedPipe) {
				t.Error(err)
			}
		}()
		return theirs, nil
	}}
}

// answer answered one question as DNS servers do over TCP.
func answer(c net.Conn, known map[string][]string) error {
	size := make([]byte, 2)
	if _, err := io.ReadFull(c, size); err != nil {
		return nil // it was not needed
	}
	data := make([]byte, binary.BigEndian.Uint16(size))
	if _, err := io.ReadFull(c, data); err != nil {
		return err
	}
	var m dnsmessage.Message
	if err := m.Unpack(data); err != nil {
		return err
	}
	q := m.Questions[0]
	addresses, ok := known[strings.TrimSuffix(q.Name.String(), ".")]
	m.Response, m.RecursionAvailable, m.Additionals = true, true, nil
	if !ok {
		m.RCode = dnsmessage.RCodeNameError
	}
	for _, a := range addresses {
		ip := netip.MustParseAddr(a)
		var body dnsmessage.ResourceBody
		switch {
		case ip.Is4() && q.Type == dnsmessage.TypeA:
			body = &dnsmessage.AResource{A: ip.As4()}
		case ip.Is6() && q.Type == dnsmessage.TypeAAAA:
			body = &dnsmessage.AAAAResource{AAAA: ip.As16()}
		default:
			continue
		}
		m.Answers = append(m.Answers, dnsmessage.Resource{Header: dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class}, Body: body})
	}
	packed, err := m.Pack()
	if err == nil {
		_, err = c.Write(binary.BigEndian.AppendUint16(nil, uint16(len(packed))))
	}
	if err == nil {
		_, err = c.Write(packed)
	}
	return err
}

// Nothing but public addresses is reached, however they are written and found.
func TestFetchRefused(t *testing.T) {
	reached := func(w http.ResponseWriter, r *http.Request) { t.Errorf("%s was reached", r.Host) }
	server := httptest.NewServer(http.HandlerFunc(reached))
	defer server.Close()
	_, port, _ := net.SplitHostPort(server.Listener.Addr().String())
	set := tools(t, toolpost.Tools{stdtool.Fetch(&stdtool.FetchOptions{Resolver: names(t, map[string][]string{
		"private.example": {"10.1.2.3"}, "loop.example": {"127.0.0.1"}, "loop6.example": {"::1"},
		"mapped.example": {"::ffff:127.0.0.1"}, "both.example": {"127.0.0.1", "::1", "192.168.0.1"},
		"metadata.google.internal": {"169.254.169.254"}, "zero.example": {"0.0.0.0"},
	})})})
	for host, want := range map[string]string{
		"127.0.0.1": "denied", "127.1.2.3": "denied", "0.0.0.0": "denied", "10.0.0.1": "denied", "172.16.0.1": "denied",
		"192.168.0.1": "denied", "169.254.169.254": "denied", "100.100.100.200": "denied", "168.63.129.16": "denied",
		"255.255.255.255": "denied", "224.0.0.1": "denied", "198.18.0.1": "denied",
		"[::1]": "denied", "[::]": "denied", "[::ffff:127.0.0.1]": "denied", "[::ffff:7f00:1]": "denied", "[::127.0.0.1]": "denied",
		"[64:ff9b::127.0.0.1]": "denied", "[2002:7f00:1::]": "denied", "[fe80::1]": "denied", "[fe80::1%25lo]": "denied",
		"[fd00:ec2::254]": "denied", "[fc00::1]": "denied", "[ff02::1]": "denied",
		"localhost": "denied", "LOCALHOST": "denied", "localhost.": "retry", "private.example": "denied", "loop.example": "denied",
		"loop6.example": "denied", "mapped.example": "denied", "both.example": "denied", "metadata.google.internal": "denied",
		"zero.example": "denied", "unknown.example": "retry",
		"127.1": "retry", "127.0.1": "retry", "2130706433": "retry", "0x7f000001": "retry", "0x7f.0.0.1": "retry",
		"0177.0.0.1": "retry", "017700000001": "retry", "127.0.0.1.": "retry", "127.0.0.0x1": "retry", "1": "retry", "0": "retry", "0x": "retry",
		"user@127.0.0.1": "denied", "user:hunter2@example.org": "denied", "example.org@127.0.0.1": "denied",
		"%31%32%37.0.0.1": "retry", "": "retry",
	} {
		for _, scheme := range []string{"http", "https"} {
			url := fmt.Sprintf("%s://%s:%s/", scheme, host, port)
			got := call(t, set, "fetch", arguments(t, map[string]any{"url": url}))
			if !strings.HasPrefix(got, "error ("+want+")") || strings.Contains(got, "hunter2") {
				t.Errorf("%s: %s", url, got)
			}
		}
	}
	for _, url := range []string{"file:///etc/passwd", "ftp://example.org/", "gopher://127.0.0.1/", "/etc/passwd", "example.org", "http:", "http://", "https:example.org",
		"javascript:alert(1)", "data:text/plain,x", "http://[::1", "http://a b/", "http://127.0.0.1:99999/", "unix:///run/x.sock", "//127.0.0.1/"} {
		if got := call(t, set, "fetch", arguments(t, map[string]any{"url": url})); !strings.HasPrefix(got, "error (") {
			t.Errorf("%s: %s", url, got)
		}
	}
}

// TestFetchWithoutScheme names what an address lacks.
func TestFetchWithoutScheme(t *testing.T) {
	set := tools(t, toolpost.Tools{stdtool.Fetch(nil)})
	for _, url := range []string{"127.0.0.1/x", "example.org", "example.org/a?b", "/etc/passwd", "//127.0.0.1/"} {
		if got := call(t, set, "fetch", arguments(t, map[string]any{"url": url})); got != "error (retry): the address has no scheme: begin it with https:// or http://" {
			t.Errorf("%s: %s", url, got)
		}
	}
}

// pages serves what a test asks for, on loopback.
func pages(t *testing.T, handler http.HandlerFunc, opts stdtool.FetchOptions) (*toolpost.Set, string) {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	if opts.Allow == nil {
		opts.Allow = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	}
	return tools(t, toolpost.Tools{stdtool.Fetch(&opts)}), server.URL
}

// Each hop of a redirect is looked at. What a name resolves to is not told.
func TestFetchRedirects(t *testing.T) {
	const private = "error (denied): this address is private, and only public ones can be fetched: " +
		"ask the user to allow it with toolpost serve --allow-address, or FetchOptions.Allow in Go"
	set, base := pages(t, func(w http.ResponseWriter, r *http.Request) {
		switch to := r.URL.Query().Get("to"); {
		case r.URL.Path == "/loop":
			http.Redirect(w, r, "/loop", http.StatusFound)
		case to != "":
			w.Header().Set("Location", to)
			w.WriteHeader(http.StatusFound)
		default:
			fmt.Fprint(w, "text of "+r.URL.Path)
		}
	}, stdtool.FetchOptions{Resolver: names(t, map[string][]string{"inner.example": {"10.0.0.1"}})})
	for to, want := range map[string]string{
		"/page":                    "[" + base + "/page]\n\ntext of /page",
		"?to=/page":                "[" + base + "/page]\n\ntext of /page",
		"http://10.0.0.1/":         private,
		"http://inner.example/":    private,
		"http://[::1]/":            private,
		"http://2130706433/":       `error (retry): the host "2130706433" is not a valid IP address: write it like 192.0.2.1`,
		"file:///etc/passwd":       `error (retry): "file:" cannot be fetched: give an address that begins with https:// or http://`,
		"http://u:p@127.0.0.1/x":   "error (denied): the address contains a user name: remove it, as credentials are never sent",
		"gopher://127.0.0.1:70/_x": `error (retry): "gopher:" cannot be fetched: give an address that begins with https:// or http://`,
	} {
		if got := call(t, set, "fetch", arguments(t, map[string]any{"url": base + "/?to=" + to})); got != want {
			t.Errorf("%s: %s", to, got)
		}
	}
	if got, want := call(t, set, "fetch", arguments(t, map[string]any{"url": base + "/loop"})), "error (failed): "+base+"/loop redirects more than 5 times"; got != want {
		t.Error(got)
	}
}

func TestFetch(t *testing.T) {
	const html = "<title>T</title><h1>Head</h1><p>Grüße <a href=x>x</a></p><script>no</script>"
	latin := strings.ReplaceAll(html, "ü", "\xfc")
	latin = strings.ReplaceAll(latin, "ß", "\xdf")
	var squeezed bytes.Buffer
	z := gzip.NewWriter(&squeezed)
	fmt.Fprint(z, strings.Repeat("0123456789\n", 1<<20))
	z.Close()
	kinds := map[string]struct {
		kind, body string
		status     int
	}{
		"/html":      {"text/html; charset=utf-8", html, 200},
		"/latin":     {"text/html; charset=iso-8859-1", latin, 200},
		"/meta":      {"text/html", `<meta charset="iso-8859-1">` + latin, 200},
		"/guess":     {"text/html", "<!-- " + strings.Repeat("-", 2000) + " -->" + html, 200},
		"/xhtml":     {"application/xhtml+xml", html, 200},
		"/text":      {"text/plain", "a\n  b\xe2\x82\xac", 200},
		"/utf16":     {"text/plain; charset=utf-16le", "\xff\xfea\x00\xac\x20", 200},
		"/json":      {"application/json", `{"a": 9007199254740993}`, 200},
		"/problem":   {"application/problem+json", `{}`, 200},
		"/markdown":  {"text/markdown", "# <b>x</b>", 200},
		"/none":      {"", "plain", 200},
		"/image":     {"image/png", "\x89PNG\r\n\x1a\n123", 200},
		"/pdf":       {"application/pdf", "%PDF", 200},
		"/zip":       {"application/octet-stream", strings.Repeat("z", 6<<20), 200},
		"/lie":       {"text/plain", "a\x00b", 200},
		"/empty":     {"text/html", "<p></p>", 200},
		"/missing":   {"text/html", "<h1>Not here</h1><p>" + strings.Repeat("long ", 1000), 404},
		"/broken":    {"image/png", "", 500},
		"/malformed": {"text/html; charset", html, 200},
	}
	set, base := pages(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/bomb" {
			w.Header().Set("Content-Encoding", "gzip")
			w.Header().Set("Content-Type", "text/plain")
			w.Write(squeezed.Bytes())
			return
		}
		k, ok := kinds[r.URL.Path]
		if !ok || r.Method != http.MethodGet || r.UserAgent() != "tester" {
			t.Errorf("%s %s by %s", r.Method, r.URL, r.UserAgent())
		}
		w.Header()["Content-Type"] = []string{k.kind}
		w.WriteHeader(k.status)
		fmt.Fprint(w, k.body)
	}, stdtool.FetchOptions{Agent: "tester"})
	page := "[title: T]\n\n# Head\n\nGrüße [x](" + base + "/x)"
	for _, tt := range []struct{ path, more, want string }{
		{"/html", "", page},
		{"/latin", "", page},
		{"/meta", "", page},
		{"/guess", "", page},
		{"/xhtml", "", page},
		{"/malformed", "", page},
		{"/html", `,"raw":true`, html},
		{"/text", "", "a\n  b€"},
		{"/utf16", "", "a€"},
		{"/json", "", `{"a": 9007199254740993}`},
		{"/problem", "", "{}"},
		{"/markdown", "", "# <b>x</b>"},
		{"/none", "", "plain"},
		{"/empty", "", "[the page contains no text]"},
		{"/html", `,"max_chars":12`, "[title: T]\n\n# Head\n\nGrüß\n\n[the page has " + fmt.Sprint(len([]rune(page))-12) + " characters, at most the first 12 are above; more with a larger max_chars]\n"},
		{"/image", "", "error (failed): " + base + "/image is image/png of 11 bytes: only text can be fetched"},
		{"/pdf", "", "error (failed): " + base + "/pdf is application/pdf of 4 bytes: only text can be fetched"},
		{"/zip", "", "error (failed): " + base + "/zip is application/octet-stream of more than 5242880 bytes: only text can be fetched"},
		{"/lie", "", "error (failed): " + base + "/lie is declared as text/plain but is binary: only text can be fetched"},
		{"/missing", "", "error (failed): " + base + "/missing answered 404 Not Found:\n# Not here\n\n" + strings.Repeat("long ", 97) + "lon…"},
		{"/broken", "", "error (failed): " + base + "/broken answered 500 Internal Server Error"},
		{"/bomb", `,"max_chars":5`, "01234\n\n[the page has 5242880 characters, at most the first 5 are above; more with a larger max_chars]\n\n\n[only the first 5242880 bytes were taken]\n"},
	} {
		if got := call(t, set, "fetch", `{"url":"`+base+tt.path+`"`+tt.more+`}`); got != tt.want {
			t.Errorf("%s%s: got %.600q\nwant %q", tt.path, tt.more, got, tt.want)
		}
	}
	if got := call(t, set, "fetch", `{"url":"`+base+`/bomb"}`); len(got) > 48_000 {
		t.Errorf("%d bytes", len(got))
	}
}

func TestFetchCancelled(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("the user pressed stop")
	set, base := pages(t, func(w http.ResponseWriter, r *http.Request) {
		cancel(stop)
		<-r.Context().Done()
	}, stdtool.FetchOptions{})
	if _, err := set.Call(ctx, &toolpost.Call{Name: "fetch", Arguments: []byte(`{"url":"` + base + `"}`)}); !errors.Is(err, stop) {
		t.Error(err)
	}
}
