package login

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/toolpost/toolpost/internal/httpconn"
)

// A document is a JSON object of a server. Its members are read one at a time, by their
// exact names: a member of the wrong type counts as missing, and does not make the others
// unreadable. Whoever needs a member checks it.
type document map[string]json.RawMessage

var errNoDocument = errors.New("it is not a JSON object")

// readDocument decodes a JSON object, whatever type of content its server declares.
func readDocument(data []byte) (d document, err error) {
	data = bytes.TrimPrefix(data, []byte("\xEF\xBB\xBF"))
	if err := json.NewDecoder(bytes.NewReader(data)).Decode(&d); err != nil || d == nil {
		return nil, errNoDocument
	}
	return d, nil
}

// text returns a member that is a text, "" if it is none. A number, such as the id of a
// client, counts as its digits.
func (d document) text(name string) string {
	var text string
	if json.Unmarshal(d[name], &text) == nil {
		return text
	}
	var number json.Number
	if json.Unmarshal(d[name], &number) == nil {
		return number.String()
	}
	return ""
}

// texts returns the texts of a member that is a list, or one text with spaces between.
func (d document) texts(name string) (texts []string) {
	var list []json.RawMessage
	if json.Unmarshal(d[name], &list) != nil {
		return strings.Fields(d.text(name))
	}
	for _, one := range list {
		var text string
		if json.Unmarshal(one, &text) == nil {
			texts = append(texts, text)
		}
	}
	return texts
}

// flag reports whether a member is true.
func (d document) flag(name string) bool {
	text := strings.Trim(string(d[name]), `"`)
	return strings.EqualFold(text, "true")
}

// seconds returns a member that is a number of seconds, also as a text or with a
// fraction. It is 0 for anything else, and below 0.
func (d document) seconds(name string) float64 {
	n, err := strconv.ParseFloat(strings.TrimSpace(d.text(name)), 64)
	if err != nil || math.IsNaN(n) || n < 0 {
		return 0
	}
	return min(n, lastSecond)
}

// moment returns a member that is a time in seconds of 1970, or as RFC 3339 writes it.
// Zero means never.
func (d document) moment(name string) time.Time {
	if at, err := time.Parse(time.RFC3339, d.text(name)); err == nil && at.Year() <= 9999 {
		return at
	}
	if n := d.seconds(name); n > 0 {
		return time.Unix(int64(n), 0)
	}
	return time.Time{}
}

// errAbsent means that an address answers with a client error: nothing is there.
var errAbsent = errors.New("there is no document")

// getDocument reads a JSON document. Whatever is not declared as JSON and is not a JSON
// object, such as the page of a web application, is absent.
func getDocument(ctx context.Context, c *http.Client, address string) (document, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, errors.New("the server names an address that is malformed")
	}
	req.Header.Set("Accept", "application/json")
	resp, err := c.Do(req)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", req.URL.Host, httpconn.WithoutURL(err))
	}
	defer resp.Body.Close()
	switch {
	case resp.StatusCode >= 400 && resp.StatusCode < 500:
		return nil, errAbsent
	case resp.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("%s answers %d", req.URL.Host, resp.StatusCode)
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, longestAnswer))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", req.URL.Host, err)
	}
	d, err := readDocument(data)
	switch {
	case err != nil && mediaType(resp.Header) == "application/json":
		return nil, fmt.Errorf("%s answers with JSON that is malformed", req.URL.Host)
	case err != nil:
		return nil, errAbsent
	}
	return d, nil
}

func mediaType(h http.Header) string {
	kind, _, _ := mime.ParseMediaType(h.Get("Content-Type")) // "" if it is malformed
	return kind
}
