package login

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/toolpost/toolpost/config"
)

const callbackPath = "/callback"

// The pages that the browser ends at. They have no text of others.
const (
	donePage   = "<!doctype html><meta charset=utf-8><title>Toolpost</title><p>The authorization server has answered. You can close this page and return to where you started.\n"
	failedPage = "<!doctype html><meta charset=utf-8><title>Toolpost</title><p>This is not the answer that Toolpost waits for. Return to where you started.\n"
)

// A callback waits at an address of this machine for the browser to come back.
type callback struct {
	redirect string // the address
	state    string // that the answer must have
	listener net.Listener
	server   *http.Server
	once     sync.Once
	answers  chan url.Values
	foreign  func(remote, local netip.AddrPort) bool // whether another user made a connection
}

// listen starts to wait. A port of the configuration is that of localhost, since
// clients that were registered for other programs have it like that. Without one, the
// port is that of an earlier redirect address, if it is free.
func listen(a *config.Auth, earlier string) (*callback, error) {
	host, port := "127.0.0.1", 0
	if u, err := url.Parse(earlier); err == nil {
		port, _ = strconv.Atoi(u.Port()) // 0 without an earlier one
	}
	if a != nil && a.CallbackPort > 0 {
		host, port = "localhost", a.CallbackPort
	}
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil && host == "127.0.0.1" {
		l, err = net.Listen("tcp", "127.0.0.1:0")
	}
	if err != nil {
		return nil, fmt.Errorf("wait for the browser: %w; free the port, or change callbackPort", err)
	}
	port = l.Addr().(*net.TCPAddr).Port
	c := &callback{state: rand.Text(), answers: make(chan url.Values, 1), foreign: isForeignVisitor}
	c.redirect = "http://" + net.JoinHostPort(host, strconv.Itoa(port)) + callbackPath
	c.listener = l
	c.server = &http.Server{Handler: c, ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 32 << 10}
	go func() { _ = c.server.Serve(l) }()
	return c, nil
}

// close ends after the page was sent.
func (c *callback) close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if c.server.Shutdown(ctx) != nil {
		c.server.Close()
	}
	_ = c.listener.Close() // Shutdown does not know it if Serve has not begun
}

// ServeHTTP takes one answer. Other requests, such as those of web pages that know
// the port, change nothing.
func (c *callback) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	h.Set("Cache-Control", "no-store")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	host, _, _ := net.SplitHostPort(req.Host)
	taken := false
	// The user comes last: to find out is work, which a request without the state does not cause.
	if req.Method == http.MethodGet && req.URL.Path == callbackPath && (host == "127.0.0.1" || host == "localhost") && c.expects(req.URL.Query()) && !c.isForeign(req) {
		c.once.Do(func() {
			taken = true
			c.answers <- req.URL.Query()
		})
	}
	page := donePage
	if !taken {
		page = failedPage
		w.WriteHeader(http.StatusBadRequest)
	}
	_, _ = w.Write([]byte(page))
}

// isForeign reports whether a request comes from another user of this machine, who must
// not complete the login: it would be one to that user's account.
func (c *callback) isForeign(req *http.Request) bool {
	remote, err := netip.ParseAddrPort(req.RemoteAddr)
	local, ok := req.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	return err != nil || !ok || c.foreign(remote, local.AddrPort())
}

// expects reports whether an answer belongs to our request.
func (c *callback) expects(answer url.Values) bool {
	return subtle.ConstantTimeCompare([]byte(answer.Get("state")), []byte(c.state)) == 1
}

// code shows the page to the person and waits for the code.
func (c *callback) code(ctx context.Context, page *Page, m *serverMetadata, person *Person) (string, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	asked := make(chan error, 1)
	go func() { // the browser may come back before the person has answered
		err := person.Visit(ctx, page)
		if err == nil && person.Paste != nil {
			err = c.paste(ctx, m, person.Paste)
		}
		asked <- err
	}()
	for {
		select {
		case answer := <-c.answers:
			return read(answer, m)
		case err := <-asked:
			if err != nil {
				return "", err
			}
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
	}
}

// paste takes the answer from the person: the whole address, or only the code
// where nothing else of the address has to be checked.
func (c *callback) paste(ctx context.Context, m *serverMetadata, ask func(context.Context) (string, error)) error {
	text, err := ask(ctx)
	if err != nil {
		return err
	}
	text = strings.TrimSpace(text)
	u, err := url.Parse(text)
	var answer url.Values
	switch {
	case text == "":
		return errors.New("nothing was pasted; start again, and paste the address at which the browser ends")
	case err == nil && (u.Scheme == "http" || u.Scheme == "https"):
		answer = u.Query()
	case strings.Contains(text, "code="):
		answer, _ = url.ParseQuery(strings.TrimPrefix(text[strings.Index(text, "?")+1:], "?"))
	case m.AuthorizationResponseIssParameterSupported:
		return errors.New("this is not a whole address; start again, and paste all of the address at which the browser ends")
	default: // PKCE binds the code to this request
		answer = url.Values{"code": {text}, "state": {c.state}}
	}
	if !c.expects(answer) {
		return errors.New("this is not the answer to this login; start again, and paste the address at which the browser ends")
	}
	c.once.Do(func() { c.answers <- answer })
	return nil
}

// read checks an answer and returns its code. The issuer is checked first, also of
// errors (RFC 9207, §2.4).
func read(answer url.Values, m *serverMetadata) (string, error) {
	issuer := answer.Get("iss")
	switch {
	case len(answer["iss"]) > 1 || len(answer["code"]) > 1 || len(answer["state"]) > 1:
		return "", errors.New("the authorization server answers with the same parameter twice, which is refused")
	case issuer == "" && m.AuthorizationResponseIssParameterSupported:
		return "", fmt.Errorf("the answer does not say that it comes from %s, which is refused: it may come from another server", clipLine(m.Issuer))
	case issuer != "" && issuer != m.Issuer:
		return "", fmt.Errorf("the answer comes from %s, not from %s, which is refused", clipLine(issuer), clipLine(m.Issuer))
	case answer.Get("error") != "":
		return "", &grantError{clipLine(answer.Get("error")), clipLine(answer.Get("error_description"))}
	case answer.Get("code") == "":
		return "", errors.New("the authorization server answers without a code")
	}
	return answer.Get("code"), nil
}
