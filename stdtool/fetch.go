package stdtool

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/net/html/charset"

	"github.com/toolpost/toolpost"
)

const (
	maxFetch = 30 * time.Second
	maxBody  = 5 << 20 // bytes that are taken of a page
)

var errSlow = errors.New("time is up") // the cause of a context that ends a request

// FetchOptions are the optional parts of [Fetch].
type FetchOptions struct {
	Allow    []netip.Prefix // addresses that may be reached although they are not public
	Resolver *net.Resolver  // net.DefaultResolver if nil
	Agent    string         // the User-Agent; "toolpost" if empty
}

type fetchInput struct {
	URL      string `json:"url" jsonschema:"minLength=1,maxLength=8000,description=Address of the page; http or https"`
	MaxChars int    `json:"max_chars,omitempty" jsonschema:"minimum=1,maximum=1000000,default=40000,description=Number of characters to return"`
	Raw      bool   `json:"raw,omitempty" jsonschema:"description=Return HTML as it is and not as Markdown"`
}

// Fetch returns the tool fetch: a page of the Internet as text.
func Fetch(opts *FetchOptions) *toolpost.Tool {
	if opts == nil {
		opts = &FetchOptions{}
	}
	client, agent := guard{opts.Allow}.client(opts.Resolver), opts.Agent
	if agent == "" {
		agent = "toolpost"
	}
	o := options("Fetch page", true, false, true, true)
	o.Policy.Timeout = 2 * maxRun
	return newTool("fetch", func(ctx context.Context, in fetchInput) (string, error) {
		ctx, cancel := context.WithTimeoutCause(ctx, maxFetch, errSlow)
		defer cancel()
		p, err := get(ctx, client, agent, in.URL)
		if err != nil {
			return "", err
		}
		text, err := p.text(in.Raw)
		if err != nil {
			return "", err
		}
		return p.show(text, in), nil
	}, o)
}

// A page is what a request returned.
type page struct {
	url   *url.URL // after redirects
	kind  string   // such as text/html
	full  string   // the kind with its parameters
	title string
	body  []byte
	cut   bool // there was more than maxBody
}

func get(ctx context.Context, client *http.Client, agent, address string) (*page, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSpace(address), nil)
	if err != nil {
		return nil, toolpost.Retry.Errorf("the address is malformed: give one such as https://example.org/page")
	}
	u := r.URL
	if err := checkURL(u); err != nil {
		return nil, err
	}
	r.Header.Set("User-Agent", agent)
	r.Header.Set("Accept", "text/markdown, text/html;q=0.9, text/*;q=0.8, application/json;q=0.8, */*;q=0.1")
	answer, err := client.Do(r)
	if err != nil {
		return nil, fetchError(ctx, u, err)
	}
	defer answer.Body.Close()
	p := &page{url: answer.Request.URL, full: answer.Header.Get("Content-Type")}
	if p.body, err = io.ReadAll(io.LimitReader(answer.Body, maxBody+1)); err != nil {
		return nil, fetchError(ctx, u, err)
	}
	if p.cut = len(p.body) > maxBody; p.cut {
		p.body = wholeRunes(p.body[:maxBody])
	}
	if p.full == "" {
		p.full = http.DetectContentType(p.body)
	}
	if p.kind, _, err = mime.ParseMediaType(p.full); err != nil && p.kind == "" {
		p.kind, _, _ = strings.Cut(strings.ToLower(p.full), ";")
	}
	if answer.StatusCode != http.StatusOK {
		return nil, p.statusError(answer.Status)
	}
	return p, nil
}

// wholeRunes leaves out a character at the end that is cut.
func wholeRunes(b []byte) []byte {
	for range utf8.UTFMax - 1 {
		if r, size := utf8.DecodeLastRune(b); r == utf8.RuneError && size == 1 {
			b = b[:len(b)-1]
		}
	}
	return b
}

// statusError returns an error with the status and the beginning of the answer.
func (p *page) statusError(status string) error {
	const enough = 500
	text, err := p.text(false)
	if err != nil || text == "" {
		return toolpost.Failed.Errorf("%s answered %s", p.url.Redacted(), status)
	}
	return toolpost.Failed.Errorf("%s answered %s:\n%s", p.url.Redacted(), status, clip([]byte(text), enough))
}

// text returns what models can read.
func (p *page) text(raw bool) (string, error) {
	html := p.kind == "text/html" || p.kind == "application/xhtml+xml"
	if !html && !textual(p.kind) {
		return "", toolpost.Failed.Errorf("%s is %s of %s: only text can be fetched", p.url.Redacted(), p.kind, p.size())
	}
	text := p.decode()
	if binary([]byte(text[:min(len(text), 8000)])) {
		return "", toolpost.Failed.Errorf("%s is declared as %s but is binary: only text can be fetched", p.url.Redacted(), p.kind)
	}
	if !html || raw {
		return text, nil
	}
	var err error
	if p.title, text, err = markdown(text, p.url); err != nil {
		return "", toolpost.Retry.Errorf("the HTML of %s cannot be parsed (%v): fetch it again with raw true", p.url.Redacted(), err)
	}
	return text, nil
}

func (p *page) size() string {
	if p.cut {
		return fmt.Sprintf("more than %d bytes", maxBody)
	}
	return fmt.Sprintf("%d bytes", len(p.body))
}

func textual(kind string) bool {
	sub, isText := strings.CutPrefix(kind, "text/")
	if isText {
		return sub != "rtf"
	}
	if strings.HasSuffix(kind, "+json") || strings.HasSuffix(kind, "+xml") && kind != "image/svg+xml" || strings.HasSuffix(kind, "+yaml") {
		return true
	}
	switch strings.TrimPrefix(strings.TrimPrefix(kind, "application/"), "x-") {
	case "json", "ndjson", "jsonlines", "json-seq", "xml", "javascript", "ecmascript", "typescript", "yaml", "toml", "sh", "sql", "graphql":
		return true
	}
	return false
}

// decode returns the body as UTF-8. What names no charset is UTF-8 if it can be.
func (p *page) decode() string {
	encoding, _, certain := charset.DetermineEncoding(p.body[:min(len(p.body), 1024)], p.full)
	body := p.body
	if certain || !utf8.Valid(body) {
		if text, err := encoding.NewDecoder().Bytes(p.body); err == nil {
			body = text
		}
	}
	return strings.TrimPrefix(validUTF8(string(body)), "\ufeff")
}

// show returns the beginning of a page, with what there is to say about it.
func (p *page) show(text string, in fetchInput) string {
	var b strings.Builder
	if at := p.url.String(); at != in.URL {
		fmt.Fprintf(&b, "[%s]\n\n", at)
	}
	if p.title != "" {
		fmt.Fprintf(&b, "[title: %s]\n\n", p.title)
	}
	if text == "" {
		return b.String() + "[the page contains no text]"
	}
	end, chars := len(text), 0
	for i := range text {
		if chars == in.MaxChars {
			end = i
		}
		chars++
	}
	b.WriteString(text[:end])
	if end < len(text) {
		fmt.Fprintf(&b, "\n\n[the page has %d characters, at most the first %d are above; more with a larger max_chars]\n", chars, in.MaxChars)
	}
	if p.cut {
		fmt.Fprintf(&b, "\n\n[only the first %d bytes were taken]\n", maxBody)
	}
	return b.String()
}
