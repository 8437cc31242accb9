package cli_test

import (
	"errors"
	"fmt"

	"github.com/toolpost/toolpost/claude/cli"
)

func ExampleFind() {
	_, err := cli.Find("/nowhere/claude")
	var missing *cli.NotFoundError
	fmt.Println(errors.As(err, &missing))
	// Output: true
}
