package redmine_test

import (
	"context"
	"fmt"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/redmine"
)

// New does not connect: the tools are known before Redmine answers.
func ExampleNew() {
	server, err := redmine.New(&redmine.Options{URL: "https://redmine.example.com", Key: "secret", Groups: []string{"issues"}, ReadOnly: true})
	if err != nil {
		panic(err)
	}
	set, err := toolpost.NewSet(context.Background(), toolpost.Prefix(server, "redmine_"))
	if err != nil {
		panic(err)
	}
	tools, err := set.Tools(context.Background())
	fmt.Println(tools[0].Name, err)
	// Output: redmine_list_issues <nil>
}
