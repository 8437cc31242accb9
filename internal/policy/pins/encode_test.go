package pins

import (
	"strings"
	"testing"
)

// A server with endless definitions does not keep those of others from being stored.
func TestEncodeShortens(t *testing.T) {
	define := func(text string) Tools {
		return Tools{"a": {Approved: NewDefinition([]byte(`{"name":"a","description":"` + text + `"}`))}}
	}
	l := &Lock{Version: version, Servers: map[string]Tools{"long": define(strings.Repeat("x", 5000)), "longer": define(strings.Repeat("y", 6000)), "good": define("fine")}}
	data, err := l.encode(6000)
	if err != nil {
		t.Fatal(err)
	}
	back, err := decode(data)
	if err != nil {
		t.Fatal(err)
	}
	for server, text := range map[string]bool{"good": true, "long": true, "longer": false} {
		d := back.Servers[server]["a"].Approved
		if (d.JSON != nil) != text || d.Hash != l.Servers[server]["a"].Approved.Hash {
			t.Errorf("%s: %+v", server, d)
		}
	}
	if _, err := l.encode(50); err == nil {
		t.Error("no error")
	}
}
