package upstream_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/toolpost/toolpost"
)

// A call ends at once if its answer is not JSON, or is an error without its id, and its
// error says so. The connection stays.
func TestAnswersThatAreNotJSON(t *testing.T) {
	for answer, want := range map[string]string{
		`{"jsonrpc":"2.0","id":$ID,"result":{"structuredContent":{"a":NaN}}}`:                                     "not JSON",
		`{"jsonrpc":"2.0","id":$ID,"result":{"content":[{"type":"text","text":"a "quote""}]}}`:                    "not JSON",
		`{"result":{"structuredContent":{"a":Infinity}},"jsonrpc":"2.0","id":"$ID"}`:                              "not JSON",
		`{"jsonrpc":"2.0","id":$ID,"result":{"structuredContent":{"a":"` + strings.Repeat("x", 100<<10) + `",}}}`: "not JSON",
		`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"cannot parse that"}}`:                       "cannot parse that",
		`{"jsonrpc":"2.0","error":{"code":-32000,"message":"cannot do that"}}`:                                    "cannot do that",
	} {
		for way, cfg := range ways(t, answer) {
			s := start(t, cfg).ready(t)
			for range 2 {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				r, err := s.call(ctx, &toolpost.Call{Name: "t"})
				text := fmt.Sprint(err)
				if r != nil {
					text, _ = r.FirstText()
				}
				if !strings.Contains(text, want) || ctx.Err() != nil {
					t.Errorf("%s: %.80s…: %s", way, answer, text)
				}
				cancel()
			}
			if v := s.Status(); v.Connects != 1 {
				t.Errorf("%s: %.80s…: connected %d times", way, answer, v.Connects)
			}
		}
	}
}
