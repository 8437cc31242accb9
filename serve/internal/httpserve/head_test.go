package httpserve

import (
	"bufio"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A head that is plain means the same to net/http.
func FuzzHead(f *testing.F) {
	for _, seed := range []string{
		"POST /mcp HTTP/1.1\r\nHost: a:1\r\nContent-Length: 2\r\nAccept: a, b\r\naccept: c\r\n\r\n",
		"POST /mcp/a HTTP/1.1\r\nhost: [::1]:1\r\ncontent-length: 02\r\nconnection: Keep-Alive\r\n\r\n",
		"POST /../mcp HTTP/1.1\r\nHost: a\nContent-Length: 2\r\n\r\n",
		"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		h := parseHead(raw)
		if h == nil {
			return
		}
		ours := &h.request
		theirs, err := http.ReadRequest(bufio.NewReader(strings.NewReader(raw + "{}")))
		if err != nil {
			t.Fatalf("net/http refuses %q: %v", raw, err)
		}
		type request struct {
			Method, Path, Query, URI, Host, Proto string
			Length                                int64
			Header                                http.Header
		}
		of := func(r *http.Request) request {
			return request{r.Method, r.URL.Path, r.URL.RawQuery, r.RequestURI, r.Host, r.Proto, r.ContentLength, r.Header}
		}
		if diff := cmp.Diff(of(theirs), of(ours)); diff != "" {
			t.Fatalf("%q (-net/http, +ours):\n%s", raw, diff)
		}
	})
}
