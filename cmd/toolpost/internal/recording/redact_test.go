package recording_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/cmd/toolpost/internal/recording"
	"github.com/toolpost/toolpost/observe"
)

// TestNamesAndErrorsAreRedacted checks that the addresses of resources, the messages
// of errors and the lists have no secrets, in any JSON form, and that a replay finds
// a call by its address.
func TestNamesAndErrorsAreRedacted(t *testing.T) {
	file := filepath.Join(t.TempDir(), "session.jsonl")
	r, err := recording.Create(file, &recording.Options{Secrets: []string{"sesame-2"}, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	const address = "https://ada:sesame-1@example.org/x"
	read := func(_ context.Context, call *toolpost.Call) (*toolpost.Result, error) {
		if call.Name != address {
			return nil, &toolpost.ProtocolError{Code: 1, Message: "no sesame-2 at https://ada:sesame-1@example.org"}
		}
		return nil, errors.New("Bearer sesame-1234")
	}
	definition := []byte(`{"name":"a","description":"s\u0065same-2","inputSchema":{"type":"object","properties":{"password":{"type":"string"}}}}`)
	var d toolpost.Definition
	err = d.UnmarshalJSON(definition)
	if err != nil {
		t.Fatal(err)
	}
	set, err := toolpost.NewSet(t.Context(), &listing{
		tools:    []*toolpost.Tool{{Definition: d, Handler: read}},
		features: &toolpost.Features{Resources: []*toolpost.Resource{{URI: address, Definition: []byte(`{"name":"x"}`), Read: read}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	r.SetCatalogue(set, func(string) bool { return false })
	ctx, request := observe.Begin(t.Context())
	request.Method = "resources/read"
	for _, name := range []string{address, address + "/sesame-2"} {
		if _, err := r.Middleware(read)(ctx, &toolpost.Call{Name: name}); err == nil {
			t.Error("no error")
		}
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(file)
	if err != nil || strings.Contains(string(data), "same-") || !strings.Contains(string(data), `"password":{"type":"string"}`) {
		t.Errorf("%v\n%s", err, data)
	}
	rec, err := recording.Read(strings.NewReader(string(data)))
	if err != nil || len(rec.Calls) != 2 || len(rec.Catalogue.Tools) != 1 {
		t.Fatal(rec, err)
	}
	p, err := recording.NewPlayer(rec)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Features().Resources[0].Read(t.Context(), &toolpost.Call{Name: address}); err == nil || !strings.Contains(err.Error(), "[secret]") {
		t.Error(err)
	}
}

type listing struct {
	toolpost.Base
	tools    []*toolpost.Tool
	features *toolpost.Features
}

func (l *listing) Tools(context.Context) ([]*toolpost.Tool, error) { return l.tools, nil }
func (l *listing) Features() *toolpost.Features                    { return l.features }

// TestLargeEnum compares enums that would take minutes if each value were compared
// with all others.
func TestLargeEnum(t *testing.T) {
	enum := func(from int) *recording.Recording {
		var values []string
		for i := range 200_000 {
			values = append(values, fmt.Sprint(from+i))
		}
		schema := `{"name":"a","inputSchema":{"properties":{"n":{"enum":[` + strings.Join(values, ",") + `]}}}}`
		return &recording.Recording{Catalogue: &recording.Catalogue{Tools: []json.RawMessage{[]byte(schema)}}}
	}
	if d := recording.Compare(enum(1), enum(0)); len(d.Tools) != 1 || len(d.Tools[0].Breaking) != 1 {
		t.Errorf("%d differences", len(d.Tools))
	}
}
