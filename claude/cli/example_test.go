package cli_test

import (
	"fmt"

	"github.com/toolpost/toolpost/claude/cli"
)

func ExampleAtLeast() {
	fmt.Println(cli.AtLeast("2.1.329", "2.1.40"), cli.AtLeast("2.1.9", "2.1.40"))
	// Output: true false
}
