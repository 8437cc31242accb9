package upstream_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/toolpost/toolpost/upstream"
)

// A server may have resources and no templates; any other refusal is reported.
func TestServerWithoutTemplates(t *testing.T) {
	for code, reported := range map[int]bool{-32601: false, -32603: true} {
		answers := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var m message
			_ = json.NewDecoder(r.Body).Decode(&m)
			result := map[string]string{
				"initialize":     `{"protocolVersion":"2025-11-25","capabilities":{"resources":{}},"serverInfo":{"name":"x","version":"1"}}`,
				"resources/list": `{"resources":[{"uri":"test://r","name":"r"}]}`,
			}[m.Method]
			w.Header().Set("Content-Type", "application/json")
			switch {
			case len(m.ID) == 0:
				w.WriteHeader(http.StatusAccepted)
			case result != "":
				fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
			default:
				fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":"refused"}}`, m.ID, code)
			}
		})
		s := start(t, &upstream.Config{Transport: upstream.HTTP, ProtocolVersion: "2025-11-25", URL: serve(t, answers).URL}).ready(t)
		s.until(t, "the resource is listed", func() bool { return len(s.Features().Resources) == 1 })
		if got := strings.Contains(fmt.Sprint(s.Status().Skipped), "templates"); got != reported {
			t.Errorf("%d: got %v", code, s.Status().Skipped)
		}
	}
}
