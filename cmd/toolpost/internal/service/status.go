package service

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/access/owner"
	"github.com/toolpost/toolpost/internal/cleartext"
)

// describe returns the state of the service.
func describe(ctx context.Context, s system) *report {
	r := &report{Installed: isInstalled(s)}
	if !r.Installed {
		return r
	}
	r.File, r.Log, r.Config = s.file(), s.log(), readRecord().Config
	state := s.state(ctx)
	if run := servingRun(ctx); run != nil && state != stopped {
		r.Running, r.URL, r.PID, r.Since = true, run.URL, run.PID, &run.Started
	}
	r.Running = r.Running || state == running
	return r
}

func readRecord() (r record) {
	if path, err := recordFile(); err == nil {
		if data, err := os.ReadFile(path); err == nil {
			_ = json.Unmarshal(data, &r) // without a record, less is shown
		}
	}
	return r
}

// servingRun returns the run of the service's configuration, nil if none answers.
func servingRun(ctx context.Context) *owner.Run {
	file := readRecord().Config
	if file == "" {
		return nil
	}
	if run := owner.FindRun(&config.Config{File: file}); run != nil && answers(ctx, run) {
		return run
	}
	return nil
}

// patience is how long a serve has to answer.
const patience = 2 * time.Second

// answers reports whether the process of a run answers.
func answers(ctx context.Context, run *owner.Run) bool {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	server := run.Server(patience)
	address := strings.TrimSuffix(server.URL, "/mcp") + "/healthz"
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return false
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	defer transport.CloseIdleConnections()
	resp, err := server.Wrap(transport).RoundTrip(req)
	if err != nil {
		return false
	}
	_ = resp.Body.Close() // the status is what counts
	return resp.StatusCode == http.StatusOK
}

// show writes the state for a person.
func (r *report) show(w io.Writer) error {
	if !r.Installed {
		_, err := fmt.Fprintln(w, "The service is not installed; run: toolpost service install")
		return err
	}
	doing := "It does not run."
	switch {
	case r.Since != nil:
		doing = fmt.Sprintf("It runs since %s at %s, process %d.", r.Since.Local().Format(time.DateTime), r.URL, r.PID)
	case r.Running:
		doing = "It runs."
	}
	_, err := fmt.Fprintf(w, "The service is installed (%s).\n%s\nLog: %s\n", cleartext.Printable(r.File), cleartext.Printable(doing), cleartext.Printable(r.Log))
	return err
}
