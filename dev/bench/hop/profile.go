//go:build linux

package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// diagnostics is a file that a profiled build of the command has in addition.
// It serves net/http/pprof at the address in debugVariable.
//
//go:embed diagnostics.txt
var diagnostics []byte

const debugVariable = "HOP_DEBUG_ADDRESS"

// build builds the command, with net/http/pprof if it is to be looked into. The
// rest is the same code.
func build(ctx context.Context, root, binary string, debug bool) error {
	root, err := filepath.Abs(root)
	if err != nil {
		return err
	}
	// Answers name the version, so it must not depend on the checkout.
	args := []string{"build", "-buildvcs=false", "-trimpath", "-o", binary}
	if debug {
		overlay, err := writeOverlay(filepath.Dir(binary), root)
		if err != nil {
			return err
		}
		args = append(args, "-overlay", overlay)
	}
	cmd := exec.CommandContext(ctx, "go", append(args, "./cmd/toolpost")...)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0") // as releases are built
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s: %w\n%s", filepath.Join(root, "cmd/toolpost"), err, out)
	}
	return nil
}

// writeOverlay adds diagnostics to the folder of the command, for the compiler only.
func writeOverlay(folder, root string) (string, error) {
	source := filepath.Join(folder, "diagnostics.go")
	if err := os.WriteFile(source, diagnostics, 0o600); err != nil {
		return "", err
	}
	data, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(root, "cmd/toolpost/hop_diagnostics.go"): source}})
	if err != nil {
		return "", err
	}
	file := filepath.Join(folder, "overlay.json")
	return file, os.WriteFile(file, data, 0o600)
}

// profiled runs a round. In the last round, Toolpost's CPU is profiled if asked for.
func (b *bench) profiled(ctx context.Context, r *running, c cell, round int, f func() error) error {
	if b.profile == "" || round < b.rounds-1 || r.debug == "" {
		return f()
	}
	done := make(chan error, 1)
	go func() {
		name := strings.ReplaceAll(c.String()+" "+r.subject.String(), " ", "-") + ".pprof"
		done <- saveProfile(ctx, r.debug, b.duration, filepath.Join(b.profile, name))
	}()
	err := f()
	if e := <-done; e != nil && err == nil {
		err = e
	}
	return err
}

func saveProfile(ctx context.Context, address string, duration time.Duration, file string) error {
	return savePage(ctx, address, fmt.Sprintf("profile?seconds=%d", max(1, int(duration.Seconds()))), file)
}

// savePage writes a profile of net/http/pprof to a file.
func savePage(ctx context.Context, address, page, file string) error {
	data, err := debug(ctx, address, page)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	fmt.Fprintln(os.Stderr, "hop: profile:", file)
	return os.WriteFile(file, data, 0o644)
}

// debug gets a page of net/http/pprof.
func debug(ctx context.Context, address, page string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/debug/pprof/"+page, nil)
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s: %.200s", page, resp.Status, data)
	}
	return data, err
}
