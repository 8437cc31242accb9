package redmine

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/internal/netaddr"
)

// A client speaks to one Redmine.
type client struct {
	base      string // without a slash at the end
	http      *http.Client
	hide      secrets
	anonymous bool
	cache     cache

	credentials credentials
}

const (
	longestAnswer = 64 << 20 // bytes
	tries         = 3        // of a request that changes nothing
	longestPause  = 5 * time.Second
)

func newClient(o *Options) (*client, error) {
	given := o.credentials()
	u, err := url.Parse(given.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.New(`give the whole address of Redmine with http:// or https://, such as "https://redmine.example.com" or "https://example.com/redmine"`)
	}
	c := &client{base: strings.TrimRight(u.Scheme+"://"+u.Host+u.EscapedPath(), "/"), anonymous: o.Anonymous, hide: newSecrets()}
	c.credentials = credentials{address: u, given: given, hide: c.hide, reading: make(chan struct{}, 1)}
	if o.Resolve != nil && !o.Anonymous {
		c.credentials.resolve = o.Resolve
	} else if err := c.credentials.use(given); err != nil {
		return nil, err
	}
	c.http = &http.Client{Transport: o.Transport, Timeout: cmp.Or(o.Timeout, 30*time.Second), CheckRedirect: stay}
	return c, nil
}

// stay follows redirects only where the credentials may go.
func stay(r *http.Request, via []*http.Request) error {
	if len(via) > 3 || !netaddr.SameOrigin(r.URL, via[0].URL) || r.Method != via[0].Method {
		return fmt.Errorf("it redirects to %s://%s; use that address", r.URL.Scheme, r.URL.Host)
	}
	return nil
}

func (c *client) get(ctx context.Context, path string, query url.Values, out any) error {
	data, err := c.read(ctx, path, query)
	if err != nil {
		return err
	}
	return c.decode(path, data, out)
}

// read returns what is at path, once in a call of a tool unless it is changed.
func (c *client) read(ctx context.Context, path string, query url.Values) ([]byte, error) {
	return readsOf(ctx).get(ctx, path+"?"+query.Encode(), func() ([]byte, error) { return c.retry(ctx, path, query) })
}

// retry reads what is at path. It tries again where that may help.
func (c *client) retry(ctx context.Context, path string, query url.Values) ([]byte, error) {
	for try := 1; ; try++ {
		data, err := c.exchange(ctx, http.MethodGet, path, query, "", nil)
		pause, again := retryPause(err)
		if !again || try == tries || ctx.Err() != nil {
			return data, err
		}
		select {
		case <-time.After(min(longestPause, max(pause, time.Duration(try)*200*time.Millisecond))):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// send carries out a change, once: in is sent as JSON, and the answer decoded
// into out unless one of them is nil.
func (c *client) send(ctx context.Context, method, path string, in, out any) error {
	var body []byte
	if in != nil {
		var err error
		if body, err = json.Marshal(in); err != nil {
			return fmt.Errorf("encode a request: %w", err)
		}
	}
	data, err := c.exchange(ctx, method, path, nil, "application/json", body)
	readsOf(ctx).forget()
	if err != nil || out == nil {
		return err
	}
	if err := c.decode(path, data, out); err != nil {
		return fmt.Errorf("%w %s", err, perhaps)
	}
	return nil
}

func (c *client) decode(path string, data []byte, out any) error {
	if err := json.Unmarshal(data, out); err != nil {
		return fmt.Errorf("read the answer to %s: %w; check that this is the address of Redmine itself: %s", path, err, c.base)
	}
	oneLines(reflect.ValueOf(out))
	return nil
}

// exchange makes one request, and a second one if Redmine refuses the credentials and they
// have changed since they were read. If Redmine reports a failure, the error is a
// *responseError.
func (c *client) exchange(ctx context.Context, method, path string, query url.Values, kind string, body []byte) ([]byte, error) {
	id, err := c.credentials.identity(ctx)
	if err != nil {
		return nil, err
	}
	data, err := c.exchangeAs(ctx, id, method, path, query, kind, body)
	if status(err) == http.StatusUnauthorized {
		if next := c.credentials.replace(ctx, id); next != id {
			return c.exchangeAs(ctx, next, method, path, query, kind, body)
		}
	}
	return data, err
}

func (c *client) exchangeAs(ctx context.Context, id *identity, method, path string, query url.Values, kind string, body []byte) ([]byte, error) {
	r, err := c.request(ctx, id, method, path, query, kind, body)
	if err != nil {
		return nil, err
	}
	address := r.URL.String()
	known := c.cache.get(method, address)
	if known != nil {
		r.Header.Set("If-None-Match", known.tag)
	}
	resp, err := c.http.Do(r)
	if err != nil {
		return nil, &transportError{err, c.base, method}
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, longestAnswer+1))
	switch {
	case err != nil:
		return nil, &transportError{err, c.base, method}
	case len(data) > longestAnswer:
		return nil, fmt.Errorf("the answer to %s has more than %d bytes", path, longestAnswer)
	case resp.StatusCode == http.StatusNotModified && known != nil:
		return known.body, nil
	case resp.StatusCode >= 300:
		return nil, newResponseError(c, method, path, resp, data)
	case asksData(path) && strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html"):
		return nil, &htmlResponseError{c.base, method}
	}
	c.cache.put(method, address, resp.Header.Get("ETag"), data)
	return data, nil
}

// asksData reports whether the answer is JSON; else it is a file or a page.
func asksData(path string) bool { return strings.HasSuffix(path, ".json") }

func (c *client) request(ctx context.Context, id *identity, method, path string, query url.Values, kind string, body []byte) (*http.Request, error) {
	if err := checkPath(path); err != nil {
		return nil, err
	}
	address := c.base + path
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	r, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header = id.header.Clone()
	if !asksData(path) {
		r.Header.Set("Accept", "*/*")
	}
	if kind != "" {
		r.Header.Set("Content-Type", kind)
	}
	return r, nil
}

// segment checks a text that becomes one segment of a path: letters, digits and
// "._-" only, as in Redmine's own routes. A proxy may decode and fold anything else.
func segment(what, text string) (string, error) {
	text = strings.TrimSpace(text)
	other := strings.ContainsFunc(text, func(r rune) bool {
		return r > '~' || !strings.ContainsRune("._-", r) && (r < '0' || r > '9') && (r|0x20 < 'a' || r|0x20 > 'z')
	})
	if text == "" || other || strings.Trim(text, ".") == "" {
		return "", toolpost.Retry.Errorf("%q is not %s: give only letters, digits, points, hyphens and underscores, as in the address of its page.", text, what)
	}
	return text, nil
}

// checkPath refuses a path that a proxy in front of Redmine may fold into another
// one: with a segment "." or "..", however encoded. It is the last line of defence
// behind the checks of each tool.
func checkPath(path string) error {
	path, _, _ = strings.Cut(path, "?")
	for _, raw := range strings.Split(path, "/") {
		text := raw
		for {
			decoded, err := url.PathUnescape(text)
			if err != nil || decoded == text {
				break
			}
			text = decoded
		}
		for _, part := range strings.FieldsFunc(text, func(r rune) bool { return r == '/' || r == '\\' }) {
			name, _, _ := strings.Cut(part, ";")
			if name == "." || name == ".." {
				return fmt.Errorf("the request to %s was not sent: %q in a path can lead to another address", path, name)
			}
		}
		if !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			return fmt.Errorf("the request to %q was not sent: a path cannot contain control characters", path)
		}
	}
	return nil
}
