package secret_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"testing"

	"github.com/toolpost/toolpost/internal/secret"
)

// TestForms checks the forms in which a server may repeat a secret.
func TestForms(t *testing.T) {
	const value = `p&ss w/rd+"é!😀'`
	hide := secret.NewValues(secret.Hidden, value)
	inJSON, _ := json.Marshal(value)
	for name, text := range map[string]string{
		"as it is":           value,
		"query":              url.QueryEscape(value),
		"path":               url.PathEscape(value),
		"encodeURIComponent": "p%26ss%20w%2Frd%2B%22%C3%A9!%F0%9F%98%80'",
		"small digits":       "p%26ss+w%2frd%2b%22%c3%a9%21%f0%9f%98%80%27",
		"JSON of Go":         strings.Trim(string(inJSON), `"`) + `"`,
		"JSON of Python":     `p&ss w/rd+\"\u00e9!\ud83d\ude00'`,
		"JSON of PHP":        `p&ss w\/rd+\"é!😀'`,
		"base64":             base64.StdEncoding.EncodeToString([]byte(value)),
		"base64 for URLs":    base64.RawURLEncoding.EncodeToString([]byte(value)),
	} {
		if got := hide.Replace("<" + text + ">"); !strings.HasPrefix(got, "<"+secret.Hidden) || strings.Contains(got, "rd") {
			t.Errorf("%s: %s became %s", name, text, got)
		}
	}
}

// TestValuesLearn checks that every set that was made of another learns what the other
// learns, and not the reverse.
func TestValuesLearn(t *testing.T) {
	known := secret.NewValues(secret.Hidden)
	records, server := known.WithMark(secret.Mark), known.Extend(secret.Hidden, "of-one-server")
	known.Add("login", "of-a-login")
	const text = "of-a-login, of-one-server"
	for got, want := range map[string]string{
		known.Replace(text):   "[hidden], of-one-server",
		records.Replace(text): "[secret], of-one-server",
		server.Replace(text):  "[hidden], [hidden]",
	} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	var none *secret.Values
	none.Add("x", "of-a-login")
	if none.Replace(text) != text {
		t.Error("no values hide something")
	}
}

// TestValuesAreBounded checks that an owner with ever new values forgets its own oldest
// ones only, and none that it has added again since.
func TestValuesAreBounded(t *testing.T) {
	v := secret.NewValues(secret.Hidden)
	v.Add("configuration", "configured")
	for i := range 3000 {
		v.Add("login", fmt.Sprintf("token-%04d", i), "refresh")
	}
	if got, want := v.Replace("configured refresh token-2999 token-0000"), "[hidden] [hidden] [hidden] token-0000"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestCutSecret checks that the beginning of a secret is hidden where an excerpt ends.
func TestCutSecret(t *testing.T) {
	v := secret.NewValues(secret.Hidden, "abcdefghijklmnop")
	for text, want := range map[string]string{
		"key abcdefghij…":     "key [hidden]…",
		"abcdef… of abcdefg…": "[hidden]… of [hidden]…",
		"abcde…":              "abcde…", // too short to be sure
		"abcdefghij":          "abcdefghij",
		"nothing here…":       "nothing here…",
	} {
		if got := v.Replace(text); got != want {
			t.Errorf("%s became %s, want %s", text, got, want)
		}
	}
}

// TestHandler checks every kind of value of a log line.
func TestHandler(t *testing.T) {
	var b bytes.Buffer
	v := secret.NewValues(secret.Hidden)
	log := slog.New(secret.NewHandler(slog.NewTextHandler(&b, nil), v)).With("before", "unknown")
	v.Add("", "s3cret")
	log.Info("s3cret", "text", "s3cret", "list", []string{"a", "s3cret"}, "kept", []string{"a"}, slog.Group("g", "in", "s3cret"), "err", fmt.Errorf("of s3cret"), "n", 1)
	if text := b.String(); strings.Contains(text, "s3cret") || strings.Count(text, secret.Hidden) != 5 || !strings.Contains(text, "kept=[a]") || !strings.Contains(text, "n=1") {
		t.Errorf("logged %s", text)
	}
}

// A name stays, also if a secret that is known before or after it is the same word. A
// longer secret that has the name in it, and that of a set for one server, are hidden.
func TestNamesAreShown(t *testing.T) {
	known := secret.NewValues(secret.Hidden, "github")
	known.Show("github", "gitlab")
	known.Add("b", "gitlab", "github-key-1")
	server := known.Extend(secret.Hidden, "github")
	for _, tt := range []struct{ text, all, own string }{
		{"github and gitlab are ready", "github and gitlab are ready", "[hidden] and gitlab are ready"},
		{"sent github-key-1", "sent [hidden]", "sent [hidden]"},
	} {
		if got := known.Replace(tt.text); got != tt.all {
			t.Errorf("got %q, want %q", got, tt.all)
		}
		if got := server.Replace(tt.text); got != tt.own {
			t.Errorf("the set for one server: got %q, want %q", got, tt.own)
		}
	}
	var none *secret.Values
	none.Show("github")
}
