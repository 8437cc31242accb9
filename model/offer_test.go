package model_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/schema/dialect"
)

func TestDecode(t *testing.T) {
	ctx := context.Background()
	var booked json.RawMessage
	offer, err := model.NewOffer(ctx, railway(&booked), "openai-strict", nil, addName)
	if err != nil {
		t.Fatal(err)
	}
	seen := &toolpost.Call{ID: "c1", Name: "book", Arguments: json.RawMessage(`{"train":"IC 1","date":"today","class":null}`)}
	call, err := offer.Decode(seen)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "arguments", call.Arguments, `{"train": "IC 1", "date": "today"}`)
	if call.ID != "c1" || call.Name != "book" || booked != nil {
		t.Errorf("got %+v, booked %s", call, booked)
	}

	_, err = offer.Decode(&toolpost.Call{Name: "fly"})
	if !errors.Is(err, toolpost.ErrNotFound) {
		t.Errorf("got %v, want ErrNotFound", err)
	}
	_, err = offer.Decode(&toolpost.Call{Name: "book", Arguments: json.RawMessage(`{"train":"IC 1","class":null}`)})
	if err == nil || !strings.Contains(err.Error(), "date") {
		t.Errorf("got %v, want an error about date", err)
	}
}

// addName offers a tool by its name.
func addName(o *model.Offer[string], t *dialect.Tool) error {
	o.Tools = append(o.Tools, t.Name)
	return nil
}

// TestName calls a tool by the name that a provider makes of one it would not take.
func TestName(t *testing.T) {
	ctx := context.Background()
	odd := parsed(t, "files/read file", json.RawMessage(`{"type":"object"}`))
	offer, err := model.NewOffer(ctx, toolpost.Tools{odd}, "anthropic", nil, addName)
	if err != nil {
		t.Fatal(err)
	}
	name := offer.Tools[0]
	if strings.ContainsAny(name, "/ ") {
		t.Fatalf("the name %q has characters that the provider refuses", name)
	}
	r, err := offer.Call(ctx, &toolpost.Call{Name: name})
	if err != nil || r.IsError() {
		t.Fatalf("%+v, %v", r, err)
	}
	call, err := offer.Decode(&toolpost.Call{Name: name})
	if err != nil || call.Name != odd.Name {
		t.Errorf("%+v, %v", call, err)
	}
}

func TestCall(t *testing.T) {
	wire := toolpost.New("wire", "Breaks.", func(context.Context, struct{}) (string, error) {
		return "", &toolpost.ProtocolError{Code: -32000, Message: "the line is cut"}
	}, nil)
	ctx, cancel := context.WithCancel(context.Background())
	stop := toolpost.New("stop", "Stops.", func(ctx context.Context, _ struct{}) (string, error) {
		cancel()
		return "", ctx.Err()
	}, nil)
	offer, err := model.NewOffer(ctx, toolpost.Tools{wire, stop}, "anthropic", nil, addName)
	if err != nil {
		t.Fatal(err)
	}
	r, err := offer.Call(ctx, &toolpost.Call{Name: "wire"})
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := r.FirstText(); !r.IsError() || got != "the line is cut" {
		t.Errorf("got %q", got)
	}
	if _, err := offer.Call(ctx, &toolpost.Call{Name: "stop"}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want that the context ended", err)
	}
}

func TestListFails(t *testing.T) {
	down := errors.New("the server is down")
	broken := toolpost.ToolsetFunc(func(context.Context) ([]*toolpost.Tool, error) { return nil, down })
	if _, err := model.NewOffer(t.Context(), broken, "gemini", nil, addName); !errors.Is(err, down) {
		t.Errorf("got %v", err)
	}
}
