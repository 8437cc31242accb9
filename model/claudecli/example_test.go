package claudecli_test

import (
	"context"
	"fmt"

	"github.com/toolpost/toolpost/claude"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/claudecli"
)

// A response as it arrives. The CLI is a fake here; leave out Start to run the
// command.
func ExampleNew() {
	cli := &world{scripts: []func(*fake){func(f *fake) {
		f.prompt()
		f.say("end_turn", text("One, two, three."))
		f.result("One, two, three.", nil)
	}}}
	m := claudecli.New("sonnet", &claudecli.Options{CLI: &claude.Options{Start: cli.start}})
	defer m.Close()
	r := &model.Request{Messages: []*model.Message{model.UserText("Count to three.")}}
	for d, err := range m.Stream(context.Background(), r) {
		switch {
		case err != nil:
			fmt.Println(err)
		case d.Response != nil:
			fmt.Println(d.Response.Stop, d.Response.Usage.Output)
		case d.Text != "":
			fmt.Printf("%q\n", d.Text)
		}
	}
	// Output:
	// "One, two, three."
	// end 7
}
