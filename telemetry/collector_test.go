package telemetry

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"log/slog"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/toolpost/toolpost/observe"
)

// roundTrip answers requests without a network.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func answer(code int, header http.Header, body string) *http.Response {
	return &http.Response{StatusCode: code, Status: http.StatusText(code), Header: header, Body: io.NopCloser(strings.NewReader(body))}
}

func newTestCollector(t *testing.T, log io.Writer) *collector {
	t.Helper()
	c, err := newCollector(slog.New(slog.NewTextHandler(log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Stop(t.Context()) })
	return c
}

var oneSpan = []*tracepb.ResourceSpans{{ScopeSpans: []*tracepb.ScopeSpans{{Spans: []*tracepb.Span{{Name: "one"}}}}}}

// TestCollectorRetries checks when spans are sent again: if the collector is busy, for
// up to a minute, and not if it refuses them.
func TestCollectorRetries(t *testing.T) {
	header := func(wait string) http.Header { return http.Header{"Retry-After": {wait}} }
	timeout := context.DeadlineExceeded // is a timeout of the network too
	for name, test := range map[string]struct {
		answers     []any // a response or an error each; the last one stays
		tries       int
		least, most time.Duration
		want        string
	}{
		"accepted":           {[]any{answer(200, nil, "")}, 1, 0, 0, ""},
		"busy":               {[]any{answer(503, nil, ""), answer(429, nil, ""), answer(200, nil, "")}, 3, 5 * time.Second, 20 * time.Second, ""},
		"asks to wait":       {[]any{answer(502, header("20"), ""), answer(200, nil, "")}, 2, 20 * time.Second, 20 * time.Second, ""},
		"asks for a time":    {[]any{answer(504, header("Sat, 01 Jan 2000 00:00:20 GMT"), ""), answer(200, nil, "")}, 2, 20 * time.Second, 20 * time.Second, ""},
		"asks for too much":  {[]any{answer(503, header("3600"), "")}, 1, 0, 0, "Service Unavailable"},
		"a timeout":          {[]any{timeout, answer(200, nil, "")}, 2, 2 * time.Second, 8 * time.Second, ""},
		"no connection":      {[]any{errors.New("connection refused")}, 1, 0, 0, "127.0.0.1:1: connection refused"},
		"refused":            {[]any{answer(400, nil, "no\x1b[2J thanks"+strings.Repeat("x", 1<<20))}, 1, 0, 0, `Bad Request: "no\x1b[2J thanks`},
		"another address":    {[]any{answer(307, http.Header{"Location": {"http://127.0.0.1:2/"}}, "")}, 1, 0, 0, "Temporary Redirect"},
		"busy for a minute":  {[]any{answer(503, nil, "")}, 0, 15 * time.Second, time.Minute, "Service Unavailable"},
		"busy, then refused": {[]any{answer(503, nil, ""), answer(401, nil, "")}, 2, 2 * time.Second, 8 * time.Second, "Unauthorized"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1/secret-path")
			synctest.Test(t, func(t *testing.T) {
				c, tries := newTestCollector(t, io.Discard), 0
				want, _ := proto.Marshal(&tracepb.TracesData{ResourceSpans: oneSpan})
				c.web.Transport = roundTrip(func(r *http.Request) (*http.Response, error) {
					if got, _ := io.ReadAll(r.Body); !bytes.Equal(got, want) || r.URL.Path != "/secret-path/v1/traces" {
						t.Errorf("%s %s got %q", r.Method, r.URL, got)
					}
					next := test.answers[min(tries, len(test.answers)-1)]
					tries++
					if err, ok := next.(error); ok {
						return nil, err
					}
					return next.(*http.Response), nil
				})
				start := time.Now()
				err := c.UploadTraces(t.Context(), oneSpan)
				took := time.Since(start)
				if test.tries != 0 && tries != test.tries || took < test.least || took > test.most {
					t.Errorf("tried %d times in %v, want %d in %v to %v", tries, took, test.tries, test.least, test.most)
				}
				if test.want == "" != (err == nil) || err != nil && (!strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "secret-path") || len(err.Error()) > 2*maxValue) {
					t.Errorf("got %v, want %q", err, test.want)
				}
			})
		})
	}
}

// TestCollectorStopsWaiting checks that a collector that is busy does not keep an
// export that is over.
func TestCollectorStopsWaiting(t *testing.T) {
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
	synctest.Test(t, func(t *testing.T) {
		c := newTestCollector(t, io.Discard)
		c.web.Transport = roundTrip(func(*http.Request) (*http.Response, error) { return answer(503, nil, ""), nil })
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		if err := c.UploadTraces(ctx, oneSpan); err == nil || time.Since(start) != time.Second {
			t.Errorf("got %v after %v", err, time.Since(start))
		}
	})
}

// TestCollectorStop checks that an export under way ends with the collector.
func TestCollectorStop(t *testing.T) {
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
	for name, send := range map[string]roundTrip{
		"a request": func(r *http.Request) (*http.Response, error) { <-r.Context().Done(); return nil, r.Context().Err() },
		"a pause":   func(*http.Request) (*http.Response, error) { return answer(503, nil, ""), nil },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newTestCollector(t, io.Discard)
				c.web.Transport, c.web.Timeout = send, 0
				ended := make(chan error, 1)
				go func() { ended <- c.UploadTraces(t.Context(), oneSpan) }()
				synctest.Wait()
				start := time.Now()
				_ = c.Stop(t.Context())
				if err := <-ended; err == nil || time.Since(start) != 0 {
					t.Errorf("got %v after %v", err, time.Since(start))
				}
			})
		})
	}
}

// TestTracesCloseInTime checks that no request goes on after the time for the last traces.
func TestTracesCloseInTime(t *testing.T) {
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
	synctest.Test(t, func(t *testing.T) {
		traces, err := NewTraces(t.Context(), "", slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		start, ended := time.Now(), make(chan time.Duration, 1)
		traces.to.web.Timeout = 0
		traces.to.web.Transport = roundTrip(func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			ended <- time.Since(start)
			return nil, r.Context().Err()
		})
		_, end := traces.Observe(t.Context(), &observe.Request{Method: "tools/call"})
		end(&observe.Response{})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := traces.Close(ctx); err == nil {
			t.Error("it closed without an error")
		}
		if took := <-ended; took != time.Second {
			t.Errorf("the request ended after %v", took)
		}
	})
}

// TestCollectorEchoes checks that a collector that answers with the key that it was sent
// does not bring it into a log.
func TestCollectorEchoes(t *testing.T) {
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1/v1?key=in-the-address")
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "api-key=of-this-collector,authorization=Bearer%20of-a-bearer")
	reason := protowire.AppendString(protowire.AppendTag(nil, fieldErrorMessage, protowire.BytesType), "no of-this-collector")
	partial := protowire.AppendBytes(protowire.AppendTag(nil, fieldPartialSuccess, protowire.BytesType), reason)
	var log bytes.Buffer
	c := newTestCollector(t, &log)
	next := answer(401, nil, "toolpost: of-this-collector, of-a-bearer and in-the-address are unknown")
	c.web.Transport = roundTrip(func(*http.Request) (*http.Response, error) { return next, nil })
	err := c.UploadTraces(t.Context(), oneSpan)
	if want := `"toolpost: [hidden], [hidden] and [hidden] are unknown"`; err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
	next = answer(200, http.Header{"Content-Type": {protobufType}}, string(partial))
	if err := c.UploadTraces(t.Context(), oneSpan); err != nil || !strings.Contains(log.String(), `reason="no [hidden]"`) {
		t.Errorf("got %v, logged %q", err, log.String())
	}
}

// TestCollectorSettings checks what the variables mean.
func TestCollectorSettings(t *testing.T) {
	type settings struct {
		Address, Headers, Timeout string
		Gzip                      bool
	}
	const prefix = "OTEL_EXPORTER_OTLP_"
	for _, test := range []struct {
		env  map[string]string
		want settings
		log  string
	}{
		{map[string]string{"ENDPOINT": "http://a:4318"}, settings{"http://a:4318/v1/traces", "", "10s", false}, ""},
		{map[string]string{"ENDPOINT": "https://a/otlp/", "TIMEOUT": "250", "COMPRESSION": "gzip"}, settings{"https://a/otlp/v1/traces", "", "250ms", true}, ""},
		{map[string]string{"ENDPOINT": "http://a", "TRACES_ENDPOINT": "http://b"}, settings{"http://b/", "", "10s", false}, ""},
		{map[string]string{"TRACES_ENDPOINT": "http://b/x?y=1", "COMPRESSION": "gzip", "TRACES_COMPRESSION": "none", "TIMEOUT": "1", "TRACES_TIMEOUT": "2"}, settings{"http://b/x?y=1", "", "2ms", false}, ""},
		{map[string]string{"ENDPOINT": "http://a", "HEADERS": " Key = a%20b%2C ,two=2", "TRACES_HEADERS": "two=3,"}, settings{"http://a/v1/traces", "Two: 3\r\n", "10s", false}, ""},
		{map[string]string{"ENDPOINT": "http://a", "HEADERS": " Key = a%20b%2C ,two=2"}, settings{"http://a/v1/traces", "Key: a b,\r\nTwo: 2\r\n", "10s", false}, ""},
		{map[string]string{"ENDPOINT": "http://a", "HEADERS": "good=1,bad name=hidden,worse=a%0ahidden,none,half=%zz", "TIMEOUT": "10s", "COMPRESSION": "zip"},
			settings{"http://a/v1/traces", "Good: 1\r\n", "10s", false}, "OTEL_EXPORTER_OTLP_HEADERS,OTEL_EXPORTER_OTLP_TIMEOUT,OTEL_EXPORTER_OTLP_COMPRESSION"},
	} {
		t.Run("", func(t *testing.T) {
			for name, value := range test.env {
				t.Setenv(prefix+name, value)
			}
			var log bytes.Buffer
			s, err := readCollectorSettings(slog.New(slog.NewTextHandler(&log, nil)))
			if err != nil {
				t.Fatal(err)
			}
			var headers strings.Builder
			s.headers.Del("User-Agent")
			if err := s.headers.Write(&headers); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, settings{s.address.String(), headers.String(), s.timeout.String(), s.gzip}); diff != "" {
				t.Error(diff)
			}
			for _, variable := range strings.Split(test.log, ",") {
				if !strings.Contains(log.String(), variable) || test.log == "" != (log.Len() == 0) || strings.Contains(log.String(), "hidden") {
					t.Errorf("logged %q, want %q", log.String(), test.log)
				}
			}
		})
	}
	for _, env := range []map[string]string{
		{"ENDPOINT": "127.0.0.1:4318"}, {"ENDPOINT": "unix:///x"}, {"TRACES_ENDPOINT": "http://"}, {"ENDPOINT": "http://a b"},
		{"ENDPOINT": "http://a", "CERTIFICATE": "testdata/none.pem"}, {"ENDPOINT": "http://a", "CERTIFICATE": "collector_test.go"},
		{"ENDPOINT": "http://a", "CLIENT_CERTIFICATE": "collector_test.go", "CLIENT_KEY": "collector_test.go"},
	} {
		t.Run("refused", func(t *testing.T) {
			for name, value := range env {
				t.Setenv(prefix+name, value)
			}
			if _, err := readCollectorSettings(slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), prefix) {
				t.Errorf("%v: got %v", env, err)
			}
		})
	}
}

// TestCollectorCertificates sends to a collector with a certificate of a private
// authority, which wants one of the client.
func TestCollectorCertificates(t *testing.T) {
	own, key := certificate(t)
	got := make(chan string, 1)
	web := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		z, err := gzip.NewReader(r.Body)
		if err != nil {
			got <- err.Error()
			return
		}
		raw, _ := io.ReadAll(z)
		data := &tracepb.TracesData{}
		_ = proto.Unmarshal(raw, data)
		got <- data.ResourceSpans[0].ScopeSpans[0].Spans[0].Name + " " + r.TLS.PeerCertificates[0].Subject.CommonName
	}))
	web.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert}
	web.StartTLS()
	defer web.Close()
	authority := filepath.Join(t.TempDir(), "authority.pem")
	if err := os.WriteFile(authority, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: web.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", web.URL)
	t.Setenv("OTEL_EXPORTER_OTLP_CERTIFICATE", authority)
	t.Setenv("OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE", own)
	t.Setenv("OTEL_EXPORTER_OTLP_CLIENT_KEY", key)
	t.Setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip")
	c := newTestCollector(t, io.Discard)
	if err := c.UploadTraces(t.Context(), oneSpan); err != nil {
		t.Fatal(err)
	}
	if text := <-got; text != "one tester" {
		t.Errorf("the collector got %q", text)
	}
}

// certificate writes a certificate of tester and its key, and returns their files.
func certificate(t *testing.T) (file, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	about := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	about.Subject.CommonName = "tester"
	raw, err := x509.CreateCertificate(rand.Reader, about, about, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	rawKey, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	file, keyFile = filepath.Join(t.TempDir(), "own.pem"), filepath.Join(t.TempDir(), "own.key")
	for path, block := range map[string]*pem.Block{file: {Type: "CERTIFICATE", Bytes: raw}, keyFile: {Type: "PRIVATE KEY", Bytes: rawKey}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return file, keyFile
}

// TestCollectorRejects checks that spans that a collector has not accepted are logged.
func TestCollectorRejects(t *testing.T) {
	partial := protowire.AppendVarint(protowire.AppendTag(nil, fieldRejectedSpans, protowire.VarintType), 3)
	partial = protowire.AppendString(protowire.AppendTag(partial, fieldErrorMessage, protowire.BytesType), "too old")
	body := protowire.AppendFixed32(protowire.AppendTag(nil, 9, protowire.Fixed32Type), 1) // a field of a later version
	body = protowire.AppendBytes(protowire.AppendTag(body, fieldPartialSuccess, protowire.BytesType), partial)
	for text, want := range map[string]string{string(body): `rejected=3 reason="too old"`, "": "", "\xff\xff": ""} {
		t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
		var log bytes.Buffer
		c := newTestCollector(t, &log)
		c.web.Transport = roundTrip(func(*http.Request) (*http.Response, error) {
			return answer(200, http.Header{"Content-Type": {protobufType}}, text), nil
		})
		if err := c.UploadTraces(t.Context(), oneSpan); err != nil || !strings.Contains(log.String(), want) || want == "" != (log.Len() == 0) {
			t.Errorf("%q: got %v, logged %q, want %q", text, err, log.String(), want)
		}
	}
}

// FuzzProtobufFields: whatever a collector answers does not end the process.
func FuzzProtobufFields(f *testing.F) {
	f.Add([]byte{0x0a, 0x02, 0x08, 0x03})
	f.Add([]byte{0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f})
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, v := range protobufFields(data) {
			if len(v.bytes) > len(data) {
				t.Errorf("a field of %d bytes in %d", len(v.bytes), len(data))
			}
		}
	})
}
