// Command claude asks Claude a question that it answers with a tool of this program.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/claude"
)

type place struct {
	City string `json:"city" desc:"Its name in English."`
}

func main() {
	ctx := context.Background()
	weather := toolpost.New("weather", "Returns the weather of a city.", func(ctx context.Context, in place) (string, error) {
		return "Sunny in " + in.City, nil
	}, nil)

	response, err := claude.Do(ctx, "What is the weather in Oslo?", &claude.Options{
		Toolset: toolpost.Tools{weather},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(response.Result)
	fmt.Printf("%d turns, $%.4f\n", response.NumTurns, response.TotalCostUSD)
}
