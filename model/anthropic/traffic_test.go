package anthropic_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolpost/toolpost/dev/modeltest"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/anthropic"
	"github.com/toolpost/toolpost/tooltest"
)

// TestTraffic records a conversation of the real SDK, and replays it without the
// server and the key.
func TestTraffic(t *testing.T) {
	server := modeltest.Serve(t, modeltest.Anthropic(), modeltest.Turn{Parts: []model.Part{
		{Type: model.TypeThinking, Text: "hm"}, {Type: model.TypeText, Text: "Hello, Ada!"},
	}}, modeltest.Turn{Parts: []model.Part{{Type: model.TypeText, Text: "Bye."}}})
	file := filepath.Join(t.TempDir(), "traffic.jsonl")
	talk := func(t *testing.T, key string) (responses []*model.Response) {
		m := anthropic.New("claude-test", &anthropic.Options{
			APIKey: key, BaseURL: server.URL, HTTPClient: &http.Client{Transport: tooltest.Traffic(t, file, nil)},
		})
		r := &model.Request{Messages: []*model.Message{model.UserText("Greet Ada.")}}
		for range 2 {
			for d, err := range m.Stream(t.Context(), r) {
				switch {
				case err != nil:
					t.Fatal(err)
				case d.Response != nil:
					responses = append(responses, d.Response)
					r.Messages = append(r.Messages, d.Response.Message, model.UserText("Go on."))
				}
			}
		}
		return responses
	}
	var live, replayed []*model.Response
	t.Setenv("TOOLPOST_RECORD", "1")
	t.Run("record", func(t *testing.T) { live = talk(t, modeltest.Key) })
	t.Setenv("TOOLPOST_RECORD", "")
	t.Run("replay", func(t *testing.T) { replayed = talk(t, "another key") })
	if diff := cmp.Diff(live, replayed); diff != "" || len(live) != 2 || live[0].Message.Text() != "Hello, Ada!" {
		t.Errorf("%d responses; live and replayed: %s", len(live), diff)
	}
	if data, err := os.ReadFile(file); err != nil || strings.Contains(string(data), modeltest.Key) || len(server.Requests()) != 2 {
		t.Errorf("%v; %d requests were sent; the recording: %s", err, len(server.Requests()), data)
	}
}
