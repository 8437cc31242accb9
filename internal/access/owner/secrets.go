package owner

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/access/vault"
	"github.com/toolpost/toolpost/internal/atomicfile"
	"github.com/toolpost/toolpost/internal/cleartext"
	"github.com/toolpost/toolpost/internal/procgroup"
	"github.com/toolpost/toolpost/internal/secret"
)

// Limits of the command of ${cmd:…}, which may ask a person for a password.
const (
	secretTime = time.Minute
	maxSecret  = 64 << 10
	maxReason  = 300 // bytes of its standard error in an error
)

// Secrets reads the secrets that a configuration refers to. Known are those of
// this process: it adds what it has read.
type Secrets struct {
	Known *secret.Values

	mu      sync.Mutex
	read    map[config.Reference]string // what references had last
	changed map[config.Reference]bool   // those that did not always have the same
}

// NewSecrets returns a Secrets that knows none.
func NewSecrets() *Secrets {
	return &Secrets{Known: secret.NewValues(secret.Hidden), read: map[config.Reference]string{}, changed: map[config.Reference]bool{}}
}

// Learn adds the secrets that a configuration itself holds. The names in it are none.
func (r *Secrets) Learn(cfg *config.Config) {
	for i := range cfg.Servers {
		r.Known.Show(cfg.Servers[i].Name)
	}
	for i := range cfg.Profiles {
		r.Known.Show(cfg.Profiles[i].Name)
	}
	r.Known.Add("configuration", cfg.Secrets()...)
}

// Resolve is the Resolve of Options of package gateway.
func (r *Secrets) Resolve(ctx context.Context, ref config.Reference) (secret string, err error) {
	if secret, err = r.readReference(ctx, ref); err == nil {
		r.Known.Add("references", secret)
	}
	return secret, err
}

// Unchanged reports whether references have the secrets now that they had each time they
// were read. What a command would write is not known.
func (r *Secrets) Unchanged(ctx context.Context, refs []config.Reference) bool {
	for _, ref := range refs {
		if ref.Kind == "cmd" {
			return false
		}
		if _, err := r.readReference(ctx, ref); err != nil || r.hasChanged(ref) {
			return false
		}
	}
	return true
}

func (r *Secrets) hasChanged(ref config.Reference) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.changed[ref]
}

// readReference reads a secret, and notes whether it was another one before.
func (r *Secrets) readReference(ctx context.Context, ref config.Reference) (text string, err error) {
	switch ref.Kind {
	case "file":
		text, err = readFile(ref.Of)
	case "keyring":
		text, err = readKept(ref.Of)
	default:
		return readOutput(ctx, ref.Folder, ref.Of)
	}
	if err != nil {
		return "", err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if before, known := r.read[ref]; known && before != text {
		r.changed[ref] = true
	}
	r.read[ref] = text
	return text, nil
}

// readKept reads a secret that "toolpost secret set" has kept.
func readKept(name string) (string, error) {
	if err := vault.CheckName(SecretPrefix + name); err != nil {
		return "", err
	}
	v, err := OpenVault()
	if err != nil {
		return "", err
	}
	kept, err := v.Get(SecretPrefix + name)
	if errors.Is(err, vault.ErrNotFound) {
		return "", fmt.Errorf("there is no such secret in %s; run: toolpost secret set %s", v.Place(), cleartext.ShellWord(name))
	}
	return string(kept), err
}

// readOutput runs a command line in the shell, in the folder of its configuration and
// with the user's whole environment, and returns what it writes.
func readOutput(ctx context.Context, folder, line string) (string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, secretTime, fmt.Errorf("it did not end within %v", secretTime))
	defer cancel()
	out, reason := &secretBuffer{}, &procgroup.Tail{Most: maxReason}
	cmd := shellCommand(ctx, line)
	cmd.Dir = folder
	cmd.Stdout, cmd.Stderr = out, reason
	cmd.WaitDelay = time.Second // an agent that the command has started may hold its output open
	procgroup.Lead(cmd)
	cmd.Cancel = func() error { procgroup.Kill(cmd.Process.Pid); return os.ErrProcessDone }
	runtime.LockOSThread() // the command gets a signal when the thread that started it ends
	defer runtime.UnlockOSThread()
	err := cmd.Run()
	if errors.Is(err, exec.ErrWaitDelay) {
		err = nil
	}
	switch {
	case out.long:
		return "", fmt.Errorf("it writes more than %d KiB; write one secret", maxSecret>>10)
	case ctx.Err() != nil:
		return "", fmt.Errorf("%w; run it in a terminal to see why", context.Cause(ctx))
	case err != nil:
		// The error has no output: a part of a secret may be in it.
		return "", fmt.Errorf("%w: %s", err, cleartext.Escape(reason.String()))
	case len(bytes.TrimSpace(out.text)) == 0:
		return "", errors.New("it writes nothing; write the secret to standard output")
	}
	return strings.TrimSuffix(strings.TrimSuffix(string(out.text), "\n"), "\r"), nil
}

// A secretBuffer holds what a command writes. It has no method ReadFrom, which
// [io.Copy] would call instead of Write, without the limit.
type secretBuffer struct {
	text []byte
	long bool // more was written
}

func (b *secretBuffer) Write(p []byte) (int, error) {
	if len(b.text)+len(p) > maxSecret {
		b.long = true
		return 0, io.ErrShortWrite
	}
	b.text = append(b.text, p...)
	return len(p), nil
}

// readFile reads the file of a reference: a text of at most 64 KiB, without the
// line end at its end.
func readFile(path string) (string, error) {
	const most = 64 << 10
	data, err := atomicfile.Read(path, most)
	if err != nil {
		var missing *os.PathError
		if errors.As(err, &missing) {
			err = fmt.Errorf("%w; create the file, or correct the path", missing.Err)
		}
		return "", err
	}
	return strings.TrimSuffix(strings.TrimSuffix(string(data), "\n"), "\r"), nil
}
