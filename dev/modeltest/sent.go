package modeltest

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// sentFile has a line for each request that the tests of a package send, so that no
// change sends other bytes unnoticed. Packages without the file are not compared. To
// write it again, empty it, run the tests with TOOLPOST_UPDATE=1, and sort it.
const sentFile = "testdata/sent.txt"

// compareSent fails the test if it sends a request that the file does not have.
func compareSent(t testing.TB, r *http.Request, body []byte) {
	known, err := os.ReadFile(sentFile)
	line := t.Name() + " " + describe(r, body)
	if err != nil || slices.Contains(strings.Split(string(known), "\n"), line) {
		return
	}
	if os.Getenv("TOOLPOST_UPDATE") == "" {
		t.Errorf("%s does not have this request:\n%s\nwith the body\n%s", sentFile, line, body)
		return
	}
	f, err := os.OpenFile(sentFile, os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		t.Error(err)
		return
	}
	defer f.Close()
	if _, err := f.WriteString(line + "\n"); err != nil {
		t.Error(err)
	}
}

// sessionName is the random name of a session, by which OpenAI finds what it has cached.
var sessionName = regexp.MustCompile(`"prompt_cache_key":"[A-Z2-7]{26}"`)

// describe returns a request in one line, without what is different in each run.
func describe(r *http.Request, body []byte) string {
	b := strings.Builder{}
	fmt.Fprintf(&b, "%s %s", r.Method, r.URL.RequestURI())
	var names []string
	for name := range r.Header {
		if !namesSender(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		fmt.Fprintf(&b, " %s=%q", strings.ToLower(name), strings.Join(r.Header[name], ", "))
	}
	fmt.Fprintf(&b, " %d bytes, SHA-256 %.12x", len(body), sha256.Sum256(sessionName.ReplaceAll(body, nil)))
	return b.String()
}

// namesSender reports whether a header describes the program that sends the request, or
// of the connection.
func namesSender(header string) bool {
	switch header {
	case "User-Agent", "Accept-Encoding", "Content-Length", "X-Goog-Api-Client":
		return true
	}
	return strings.HasPrefix(header, "X-Stainless-")
}
