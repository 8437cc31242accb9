package toolpost

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/toolpost/toolpost/internal/codec"
)

// NewResource returns a resource whose contents a typed function returns: a string
// for a text, bytes for a binary document, or parts for several documents. A part
// has the text or the data of a document; its URI is the one that is read, unless
// the part has its own. If nothing is at the URI, read returns [ErrNotFound].
//
// If uri has expressions in braces, it is a template (RFC 6570), and read gets the
// URI of one document. The name is for people; if it is empty, it is the URI.
// [CallFrom] returns the call.
//
// NewResource panics if uri does not begin with a scheme such as "file:", or is a
// template that is too large.
func NewResource[Out string | []byte | []Part](uri, name string, read func(ctx context.Context, uri string) (Out, error), opts *FeatureOptions) *Resource {
	if opts == nil {
		opts = new(FeatureOptions)
	}
	r := &Resource{URI: uri, Template: strings.Contains(uri, "{"), Complete: opts.complete()}
	err := r.Validate()
	if err == nil && !hasScheme(uri) {
		err = errors.New(`the URI does not begin with a scheme, such as "file:" or "note:"`)
	}
	if err == nil {
		r.Definition, err = resourceDefinition(r, name, opts)
	}
	if err != nil {
		panic(fmt.Sprintf("toolpost.NewResource(%.200q): %v", uri, err))
	}
	mimeType := opts.MIMEType
	r.Read = func(ctx context.Context, call *Call) (*Result, error) {
		out, err := read(withCall(ctx, call), call.Name)
		if err != nil {
			return nil, err
		}
		return resourceResult(call.Name, mimeType, resourceParts(out))
	}
	return r
}

// hasScheme reports whether uri begins with a scheme (RFC 3986, §3.1).
func hasScheme(uri string) bool {
	scheme, _, found := strings.Cut(uri, ":")
	for i, c := range []byte(scheme) {
		letter := 'a' <= c|0x20 && c|0x20 <= 'z'
		if !letter && (i == 0 || !strings.ContainsRune("0123456789+-.", rune(c))) {
			return false
		}
	}
	return found && scheme != ""
}

// resourceDefinition returns the MCP Resource or ResourceTemplate object.
func resourceDefinition(r *Resource, name string, opts *FeatureOptions) (json.RawMessage, error) {
	d := struct {
		URI         string `json:"uri,omitempty"`
		URITemplate string `json:"uriTemplate,omitempty"`
		Name        string `json:"name"`
		Title       string `json:"title,omitempty"`
		Description string `json:"description,omitempty"`
		MIMEType    string `json:"mimeType,omitempty"`
	}{r.URI, "", name, opts.Title, opts.Description, opts.MIMEType}
	if r.Template {
		d.URI, d.URITemplate = "", r.URI
	}
	if name == "" {
		d.Name = r.URI
	}
	return codec.Encode(d)
}

// resourceParts returns the documents that the function of a resource returned.
func resourceParts(out any) []Part {
	switch out := out.(type) {
	case string:
		return []Part{{Type: "text", Text: out}}
	case []byte:
		return []Part{{Type: "resource", Data: append([]byte{}, out...)}} // not nil
	case []Part:
		return out
	}
	return nil
}

// resourceResult returns the result of resources/read with these documents. A part
// is binary if it has data, or a type of media.
func resourceResult(uri, mimeType string, parts []Part) (*Result, error) {
	type document struct {
		URI      string  `json:"uri"`
		MIMEType string  `json:"mimeType,omitempty"`
		Text     *string `json:"text,omitempty"`
		Blob     *[]byte `json:"blob,omitempty"`
	}
	contents := []document{}
	for i, p := range parts {
		c := document{URI: cmp.Or(p.URI, uri), MIMEType: cmp.Or(p.MIMEType, mimeType)}
		switch {
		case p.Type == "resource_link":
			return nil, fmt.Errorf("content %d of the resource is a link; return what is at %q", i+1, p.URI)
		case p.Text != "" && len(p.Data) > 0:
			return nil, fmt.Errorf("content %d of the resource has a text and data; return two parts", i+1)
		case p.Type == "text" && len(p.Data) > 0:
			return nil, fmt.Errorf("content %d of the resource is a text with data; leave out its type, or set Text", i+1)
		case p.Raw != nil && p.Text == "" && p.Data == nil:
			return nil, fmt.Errorf("content %d of the resource has only Raw; set Text or Data", i+1)
		case p.Data != nil && p.Type != "text" && p.Text == "", p.Type == "image", p.Type == "audio":
			c.Blob = &p.Data
		default:
			c.Text = &p.Text
		}
		contents = append(contents, c)
	}
	raw, err := codec.Encode(struct {
		Contents []document `json:"contents"`
	}{contents})
	if err != nil {
		return nil, fmt.Errorf("encode the contents of the resource: %w", err)
	}
	return RawResult(raw), nil
}
