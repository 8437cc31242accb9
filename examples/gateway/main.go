// Command gateway serves the servers of a toolpost.json and a tool of its own at one
// address: to clients with the token of "toolpost token", once the user has approved the
// file with "toolpost trust", and with an audit log.
package main

import (
	"context"
	"log"
	"os"
	"os/signal"
	"syscall"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/audit"
	"github.com/toolpost/toolpost/serve"
)

func run(ctx context.Context, address string) error {
	cfg, err := serve.Load(ctx, "")
	if err != nil {
		return err
	}
	cfg.Audit = &audit.Options{}
	e, err := serve.Open(ctx, cfg, &serve.Options{Addr: address, RequireToken: true})
	if err != nil {
		return err
	}
	defer e.Close()
	weather := toolpost.New("weather", "Returns the weather of a city.", func(_ context.Context, in struct{ City string }) (string, error) {
		return "Sunny in " + in.City, nil
	}, nil)
	if err := e.Gateway().Add("own", toolpost.Tools{weather}); err != nil {
		return err
	}
	return e.Serve(ctx)
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1]); err != nil {
		log.Fatal(err)
	}
}
