// Command gateway is what a user of package gateway may write, to be weighed.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/gateway"
	"github.com/toolpost/toolpost/mcpserver"
)

func run(ctx context.Context) error {
	cfg, err := config.Load("toolpost.json")
	if err != nil {
		return err
	}
	g, err := gateway.Start(ctx, cfg, nil)
	if err != nil {
		return err
	}
	server, err := mcpserver.New(ctx, g.Live(), nil)
	if err != nil {
		return errors.Join(err, g.Close())
	}
	return errors.Join(server.ServeStdio(ctx, os.Stdin, os.Stdout), g.Close())
}

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}
