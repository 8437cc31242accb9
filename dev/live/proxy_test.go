//go:build unix

package live

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// proxyHost is the name in the configurations of docs/operations.md.
const proxyHost = "tools.example.com"

// TestProxies puts the configurations of docs/operations.md for nginx and Caddy in front of
// serve, with a certificate of the test.
func TestProxies(t *testing.T) {
	for _, test := range []struct{ name, program, language, prefix string }{
		{"Caddy", "usr/bin/caddy", "caddy", ""},
		{"nginx", "usr/sbin/nginx", "nginx", "/team"},
	} {
		t.Run(test.name, func(t *testing.T) {
			program := filepath.Join(os.Getenv("TOOLPOST_LIVE"), "proxies", test.program)
			if _, err := os.Stat(program); err != nil {
				t.Skipf("%v: dev/live/install.sh takes it from apt", err)
			}
			const token = "token-of-this-test-which-is-long-enough-000"
			toolpost := start(t, []string{"TOOLPOST_TOKEN=" + token}, build(t, "cmd/toolpost"), "serve", "--tools", "todos", "--addr", "127.0.0.1:0", "--require-token", "--allow-host", proxyHost)
			behind := ""
			until(t, "tell the address of serve", func() error {
				m := address.FindStringSubmatch(toolpost.output.String())
				if m == nil {
					return fmt.Errorf("it wrote:\n%s", toolpost.output.tail(20))
				}
				behind = m[1]
				return nil
			})
			p := &proxy{T: t, port: freePort(t), prefix: test.prefix, token: token, dir: t.TempDir()}
			p.certify()
			p.start(program, test.language, strings.ReplaceAll(documented(t, test.language), "127.0.0.1:7717", behind))
			p.try()
		})
	}
}

// documented returns the configuration in a language of docs/operations.md.
func documented(t *testing.T, language string) string {
	text, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile("(?s)```" + language + "\n(.*?)```").FindSubmatch(text)
	if m == nil {
		t.Fatalf("docs/operations.md has no configuration for %s", language)
	}
	return string(m[1])
}

// A proxy is one in front of serve.
type proxy struct {
	*testing.T
	port, prefix, token, dir string
	roots                    *x509.CertPool
}

// certify writes a certificate for the host.
func (p *proxy) certify() {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		p.Fatal(err)
	}
	about := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{proxyHost}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour)}
	raw, err := x509.CreateCertificate(rand.Reader, about, about, key.Public(), key)
	if err != nil {
		p.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		p.Fatal(err)
	}
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw})
	p.write("tools.pem", certificate)
	p.write("tools.key", pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}))
	p.roots = x509.NewCertPool()
	p.roots.AppendCertsFromPEM(certificate)
}

func (p *proxy) write(name string, data []byte) string {
	p.Helper()
	file := filepath.Join(p.dir, name)
	if err := os.WriteFile(file, data, 0o600); err != nil {
		p.Fatal(err)
	}
	return file
}

// start starts the program with a configuration, on a port of loopback and with the
// certificate of the test.
func (p *proxy) start(program, language, configuration string) {
	var run *process
	if language == "caddy" {
		text := strings.Replace(configuration, proxyHost+" {", "{\n\tadmin off\n\tauto_https disable_redirects\n}\nhttps://"+proxyHost+":"+p.port+
			" {\n\tbind 127.0.0.1\n\ttls "+filepath.Join(p.dir, "tools.pem")+" "+filepath.Join(p.dir, "tools.key"), 1)
		run = start(p.T, nil, program, "run", "--adapter", "caddyfile", "--config", p.write("Caddyfile", []byte(text)))
	} else {
		text := strings.NewReplacer("listen 443 ssl", "listen 127.0.0.1:"+p.port+" ssl", "/etc/ssl/", p.dir+"/").Replace(configuration)
		temps := ""
		for _, kind := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
			temps += kind + "_temp_path " + p.dir + "/" + kind + ";\n"
		}
		text = "daemon off; master_process off; pid " + p.dir + "/pid; error_log stderr;\nevents {}\nhttp {\naccess_log off;\n" + temps + text + "}\n"
		run = start(p.T, nil, program, "-p", p.dir, "-e", "stderr", "-c", p.write("nginx.conf", []byte(text)))
	}
	run.listening(p.T, p.port)
}

// try does through the proxy what clients do.
func (p *proxy) try() {
	client := &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: p.roots},
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, "127.0.0.1:"+p.port)
		},
	}}
	defer client.CloseIdleConnections()
	ctx, cancel := context.WithTimeout(p.Context(), patience)
	defer cancel()
	ask := func(method, path, token, body string) *http.Response {
		p.Helper()
		req, err := http.NewRequestWithContext(ctx, method, "https://"+proxyHost+":"+p.port+p.prefix+path, strings.NewReader(body))
		if err != nil {
			p.Fatal(err)
		}
		req.Header.Set("Accept", "application/json, text/event-stream")
		req.Header.Set("Content-Type", "application/json")
		if token != "" {
			req.Header.Set("Authorization", "Bearer "+token)
		}
		resp, err := client.Do(req)
		if err != nil {
			p.Fatal(err)
		}
		return resp
	}
	const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"live","version":"1"}}}`
	for _, test := range []struct {
		token, body, want string
		status            int
	}{
		{"", hello, "", http.StatusUnauthorized},
		{p.token, hello, `"serverInfo"`, http.StatusOK},
		// More than 1 MB, which nginx refuses by itself; here, serve does.
		{p.token, strings.Replace(hello, `"live"`, `"`+strings.Repeat("x", 2<<20)+`"`, 1), "the params have", http.StatusBadRequest},
	} {
		resp := ask(http.MethodPost, "/mcp", test.token, test.body)
		text, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != test.status || !bytes.Contains(text, []byte(test.want)) {
			p.Errorf("the answer is %s, %v:\n%.500s", resp.Status, err, text)
		}
	}
	// The first event of a stream arrives while the stream is open, and names the address that clients see.
	resp := ask(http.MethodGet, "/sse", p.token, "")
	defer resp.Body.Close()
	events := bufio.NewReader(resp.Body)
	for line := ""; !strings.HasPrefix(line, "data: "); {
		var err error
		if line, err = events.ReadString('\n'); err != nil {
			p.Fatalf("the stream: %v", err)
		}
		if path, ok := strings.CutPrefix(strings.TrimSpace(line), "data: "); ok {
			address, err := resp.Request.URL.Parse(path)
			if err != nil || address.Path != p.prefix+"/sse" && address.Path != p.prefix+"/message" {
				p.Errorf("the stream names %q: %v, %v", path, address, err)
			}
		}
	}
}
