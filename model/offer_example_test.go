package model_test

import (
	"context"
	"fmt"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/schema/dialect"
)

// A provider without a package of its own needs a type for its tools and a
// function that makes them.
func ExampleNewOffer() {
	ctx := context.Background()
	greet := toolpost.New("greet", "Greets a person.", func(_ context.Context, in struct {
		Name string `json:"name"`
	}) (string, error) {
		return "Hello, " + in.Name + "!", nil
	}, nil)

	type function struct{ Name, Parameters string }
	o, err := model.NewOffer(ctx, toolpost.Tools{greet}, "openai", nil,
		func(o *model.Offer[function], t *dialect.Tool) error {
			o.Tools = append(o.Tools, function{t.Name, string(t.InputSchema())})
			return nil
		})
	if err != nil {
		panic(err)
	}
	fmt.Println(o.Tools[0].Parameters)

	r, err := o.Call(ctx, &toolpost.Call{ID: "c1", Name: "greet", Arguments: []byte(`{"name":"Ada"}`)})
	if err != nil {
		panic(err)
	}
	_, text := model.ResultParts(r.Message("c1"))
	fmt.Println(text)
	// Output:
	// {"type":"object","properties":{"name":{"type":"string"}},"required":["name"],"additionalProperties":false}
	// Hello, Ada!
}
