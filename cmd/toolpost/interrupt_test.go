//go:build unix

package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/cli"
	"github.com/toolpost/toolpost/internal/access/owner"
)

// TestSignalEndsReading sends a signal to commands that wait for a pipe.
func TestSignalEndsReading(t *testing.T) {
	t.Parallel()
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"lint", pipe}, {"adapt", "--for", "mcp", pipe}, {"claude", "summarize", pipe}} {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		cmd := exec.CommandContext(ctx, "/proc/self/exe")
		if _, err := os.Stat(cmd.Path); err != nil {
			t.Skip("no /proc here")
		}
		cmd.Args = append([]string{"toolpost"}, args...)
		cmd.Env = []string{"HOME=" + t.TempDir()}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		w, err := os.OpenFile(pipe, os.O_WRONLY, 0) // waits until the command reads
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		if code := cmd.ProcessState.ExitCode(); code != cli.ExitInterrupted {
			t.Errorf("%q ended with %d", args, code)
		}
		_ = w.Close()
		cancel()
	}
}

// TestTokenInPipe has a pipe in the place of the token's file.
func TestTokenInPipe(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "token")
	if err := errors.Join(os.Chmod(dir, 0o700), syscall.Mkfifo(pipe, 0o600)); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { _, err := owner.ReadToken(pipe); done <- err }()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	select {
	case err := <-done:
		if err == nil {
			t.Error("a pipe is read")
		}
	case <-ctx.Done():
		t.Error("the pipe is waited for")
	}
}
