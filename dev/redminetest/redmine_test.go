package redminetest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/redmine"
)

// TestRecorded runs the scripts on recorded answers; with TOOLPOST_RECORD set on
// the fresh Redmine of REDMINE_URL, which are recorded then. They are those of
// Redmine 5.0; REDMINE_VERSION says so if it is a newer one.
func TestRecorded(t *testing.T) {
	calls, version := 0, cmp.Or(os.Getenv("REDMINE_VERSION"), "5.0")
	for _, file := range Scripts(t, "testdata") {
		t.Run(filepath.Base(file), func(t *testing.T) {
			calls += Run(t, file, version, inProcess(t, tape(t, strings.TrimSuffix(file, ".script")+".jsonl")))
		})
	}
	t.Logf("%d calls", calls)
}

func recording() bool { return os.Getenv("TOOLPOST_RECORD") != "" }

// tape has the answers in file, which are recorded with TOOLPOST_RECORD set.
func tape(t *testing.T, file string) *Recorder {
	t.Helper()
	if recording() {
		return Record(t, file)
	}
	return Replay(t, file)
}

// inProcess calls the tools in this process.
func inProcess(t *testing.T, r *Recorder) Caller {
	sets := map[string]*toolpost.Set{}
	return func(ctx context.Context, as, tool, arguments string) (string, bool, error) {
		set := sets[as]
		if set == nil {
			var err error
			if set, err = open(ctx, r, as); err != nil {
				return "", false, err
			}
			sets[as] = set
		}
		result, err := set.Call(ctx, &toolpost.Call{Name: tool, Arguments: json.RawMessage(arguments)})
		if err = cmp.Or(r.lost(), err); err != nil {
			return "", false, err
		}
		var b strings.Builder
		for _, p := range result.Parts() {
			if b.WriteString(p.Text); p.Type == "image" {
				b.WriteString(Image(p.MIMEType, p.Data))
			}
		}
		if facts := result.Structured(); !result.IsError() && (!bytes.HasPrefix(facts, []byte("{")) || !json.Valid(facts) || bytes.Contains(facts, []byte("api_key"))) {
			t.Errorf("%s %s: the structured content is no object, or has a key: %.200s", tool, arguments, facts)
		}
		if told := b.String() + string(result.Structured()); strings.Contains(told, otherKey) {
			t.Errorf("%s %s: it tells a key: %.500s", tool, arguments, told)
		}
		return b.String(), result.IsError(), nil
	}
}

// telling is a Redmine that tells a key with everything, as it does with users.
type telling struct{ http.RoundTripper }

const otherKey = "key-of-somebody-else"

func (t telling) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := t.RoundTripper.RoundTrip(req)
	if err != nil || !strings.HasSuffix(req.URL.Path, ".json") {
		return resp, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	data = bytes.ReplaceAll(data, []byte(`{"`), []byte(`{"api_key":"`+otherKey+`","`)) // in a text the quote is \"
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(data)), int64(len(data))
	return resp, nil
}

func open(ctx context.Context, r *Recorder, as string) (*toolpost.Set, error) {
	s, err := redmine.New(options(r, as))
	if err != nil {
		return nil, err
	}
	return toolpost.NewSet(ctx, s)
}

// options are for a user, the administrator without one.
func options(r *Recorder, as string) *redmine.Options {
	url, key := os.Getenv("REDMINE_URL"), "REDMINE_API_KEY"
	if url == "" {
		url = "http://127.0.0.1:3999"
	}
	if as != "" {
		key += "_" + strings.ToUpper(as)
	}
	o := &redmine.Options{URL: url, Key: os.Getenv(key), Transport: telling{r.As(as)}}
	if o.Key == "" {
		o.Key = "recorded"
	}
	return o
}
