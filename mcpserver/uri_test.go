package mcpserver_test

import (
	"context"
	"encoding/json"
	"slices"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/toolpost/toolpost"
)

// A resource whose URI some clients cannot parse costs them no other: in sessions it
// is listed under a URI that they can, by which it is read and watched. Its own URI
// works too, and stays for clients of later versions.
func TestUnparsableURIs(t *testing.T) {
	everyWay(t, func(t *testing.T, w way) {
		own := []string{"git://repo:main/x", "http://", "notes/ä b", "x://[::1/%"}
		listed := []string{"toolpost-uri:git://repo:main/x", "toolpost-uri:http://", "toolpost-uri:notes/%C3%A4%20b", "toolpost-uri:x://%5B::1/%25"}
		if w.isModern() {
			listed = own
		}
		read := func(_ context.Context, call *toolpost.Call) (*toolpost.Result, error) {
			content, _ := json.Marshal(map[string]any{"contents": []any{map[string]any{"uri": call.Name, "text": "read " + call.Name}}})
			return toolpost.RawResult(content), nil
		}
		f := &toolpost.Features{Subscribe: func(context.Context, string, bool) error { return nil }}
		for _, uri := range append(own, "x://good") {
			f.Resources = append(f.Resources, &toolpost.Resource{URI: uri, Read: read})
		}
		s := serve(t, nil)
		s.SetFeatures(f)
		got, opts := watchChanges()
		opts.ToolListChangedHandler, opts.PromptListChangedHandler, opts.ResourceListChangedHandler = nil, nil, nil
		client, stands := w.dial(t, s, opts)
		list, err := client.ListResources(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		var uris []string
		for _, r := range list.Resources {
			uris = append(uris, r.URI)
		}
		if want := append(slices.Clone(listed), "x://good"); !slices.Equal(uris, want) {
			t.Errorf("listed %q, want %q", uris, want)
		}
		for i, uri := range listed {
			for _, name := range []string{uri, own[i]} {
				r, err := client.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: name})
				if err != nil || r.Contents[0].URI != uri || r.Contents[0].Text != "read "+own[i] {
					t.Errorf("reading %q: %+v, %v", name, r, err)
				}
			}
		}
		if err := client.Subscribe(t.Context(), &mcp.SubscribeParams{URI: listed[0]}); err != nil {
			t.Fatal(err)
		}
		if w.isModern() {
			soon(t, stands, "the subscription")
		}
		s.tools.Notify(toolpost.Event{Resource: own[0]})
		if uri := soon(t, got.updated, "the update"); uri != listed[0] {
			t.Errorf("updated %q", uri)
		}
	})
}
