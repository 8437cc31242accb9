//go:build unix

package live

import (
	"context"
	"errors"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
)

// A browser is a user with a browser who logs in where a page asks for it and
// consents to everything. It follows redirects, and posts forms.
type browser struct {
	client *http.Client
	// stop names the redirect that is not followed, such as that to a page that
	// the user copies a code from.
	stop func(*url.URL) bool
}

var errStopped = errors.New("the redirect is not followed")

func newBrowser() *browser {
	b := &browser{}
	jar, _ := cookiejar.New(nil) // has no error without options
	b.client = &http.Client{Jar: jar, Timeout: patience, CheckRedirect: func(r *http.Request, via []*http.Request) error {
		switch {
		case len(via) > 20:
			return fmt.Errorf("20 redirects, the last to %s", r.URL)
		case b.stop != nil && b.stop(r.URL):
			return errStopped
		}
		return nil
	}}
	return b
}

// visit opens an address and logs in. It returns the address where the way ends
// and the text of the page.
func (b *browser) visit(ctx context.Context, address string) (*url.URL, string, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, "", err
	}
	for range 10 { // forms
		resp, err := b.client.Do(r)
		if failed := (*url.Error)(nil); errors.As(err, &failed) && errors.Is(err, errStopped) {
			last, err := url.Parse(failed.URL)
			if err == nil && resp != nil { // of the request before
				if to, err := resp.Location(); err == nil {
					return to, "", nil
				}
			}
			return last, "", err
		}
		if err != nil {
			return nil, "", err
		}
		page, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
		resp.Body.Close()
		if err != nil {
			return nil, "", err
		}
		action, fields, found := firstForm(string(page))
		if !found {
			return resp.Request.URL, string(page), nil
		}
		to, err := resp.Request.URL.Parse(action)
		if err != nil {
			return nil, "", err
		}
		if r, err = http.NewRequestWithContext(ctx, http.MethodPost, to.String(), strings.NewReader(fields.Encode())); err != nil {
			return nil, "", err
		}
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	return nil, "", errors.New("the pages of the login do not end")
}

var (
	formTag   = regexp.MustCompile(`(?s)<form[^>]* action="([^"]*)" method="post">(.*?)</form>`)
	inputTag  = regexp.MustCompile(`<input[^>]*>`)
	nameAttr  = regexp.MustCompile(` name="([^"]*)"`)
	valueAttr = regexp.MustCompile(` value="([^"]*)"`)
)

// firstForm returns the form of a page, filled in by the user ada.
func firstForm(page string) (action string, fields url.Values, found bool) {
	form := formTag.FindStringSubmatch(page)
	if form == nil {
		return "", nil, false
	}
	fields = url.Values{}
	for _, input := range inputTag.FindAllString(form[2], -1) {
		name, value := nameAttr.FindStringSubmatch(input), valueAttr.FindStringSubmatch(input)
		switch {
		case name == nil:
		case value != nil:
			fields.Set(html.UnescapeString(name[1]), html.UnescapeString(value[1]))
		default:
			fields.Set(html.UnescapeString(name[1]), "ada")
		}
	}
	return html.UnescapeString(form[1]), fields, true
}
