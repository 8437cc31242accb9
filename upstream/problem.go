package upstream

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"os/exec"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/toolpost/toolpost/internal/hidden"
	"github.com/toolpost/toolpost/internal/httpconn"
	"github.com/toolpost/toolpost/internal/lazyregexp"
)

// A problem is an error that names the server and the remedy, and no secret.
type problem struct {
	text  string
	cause error
}

func (p *problem) Error() string { return p.text }
func (p *problem) Unwrap() error { return p.cause }

// problem words err for people; nil stays nil.
func (d *dialer) problem(err error) error {
	if err == nil || isA[*problem](err) {
		return err
	}
	return &problem{fmt.Sprintf("server %q: %s", d.cfg.written.Name, d.secrets.Replace(advice(err))), err}
}

// advice says what happened and what to do.
func advice(err error) string {
	if credentials, ok := errors.AsType[*hidden.CredentialsError](err); ok {
		return credentials.Error() // about the authorization server, not about the address of this one
	}
	if text := cmp.Or(adviceOnCommand(err), adviceOnPackage(err), httpconn.Advice(err)); text != "" {
		return text
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return `it did not answer in time; start it by hand to see why, or give it more time, such as "connectTimeout": "5m"`
	}
	return httpconn.WithoutURL(err).Error() + remedyOf(err)
}

// adviceOnCommand is about servers that cannot be started.
func adviceOnCommand(err error) string {
	var command *exec.Error
	switch {
	case errors.As(err, &command) && strings.Contains(strings.TrimSpace(command.Name), " "):
		words := strings.Fields(command.Name)
		return fmt.Sprintf("command %q is not found; a command has no arguments: make it %q, and put %q into its args", command.Name, words[0], words[1:])
	case errors.As(err, &command) && errors.Is(err, exec.ErrNotFound):
		return fmt.Sprintf("command %q is not found; install it, or give its full path as the command", command.Name)
	case errors.Is(err, syscall.EISDIR):
		return fmt.Sprintf("%v; give a program as its command", err)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Sprintf("%v; check its command", err)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Sprintf("%v; make its command executable", err)
	}
	return ""
}

// What npm and uv write about a package or version that their registry does not have.
var (
	npmMissing = lazyregexp.New(`npm (?:error|ERR!) 404\s+(?:The requested resource )?'([^'\s]+?)(?:@(?:\*|latest))?' (?:could not be found|is not in)`)
	npmVersion = lazyregexp.New(`No matching version found for (\S+?)\.?\s`)
	uvMissing  = lazyregexp.New(`Because (\S+) was not found in the package registry`)
	uvVersion  = lazyregexp.New(`Because there is no version of (\S+)`)
)

// adviceOnPackage is about packages that a package runner does not find. Its own output is
// long, and names a log file that is another one each time.
func adviceOnPackage(err error) string {
	exit, ok := errors.AsType[*exitError](err)
	if !ok {
		return ""
	}
	for _, known := range []struct {
		pattern *lazyregexp.Regexp
		text    string
	}{
		{npmMissing, "its registry has no package %q, or does not give it to you; check the name"},
		{uvMissing, "its index has no package %q; check the name"},
		{npmVersion, "its registry has no version %q; check the version"},
		{uvVersion, "its index has no version %q; check the version"},
	} {
		if found := known.pattern.FindStringSubmatch(exit.stderr); found != nil {
			return fmt.Sprintf("%s ended: "+known.text, exit.command, found[1])
		}
	}
	return ""
}

// brokenCopy finds the folder of a package that npx installed only in part.
var brokenCopy = lazyregexp.New(`[^\s'"]*_npx/[0-9a-f]+`)

// wantsTLS matches what Go, nginx and Apache answer to HTTP where they speak TLS.
var wantsTLS = lazyregexp.New(`(?i)HTTP request .*to (an )?HTTPS|plain HTTP to an SSL-enabled`)

// hasHungUp reports whether a server ended the connection instead of answering its
// first request.
func hasHungUp(err error) bool {
	return err != nil && !isA[*cutError](err) && (strings.HasSuffix(err.Error(), ": EOF") || errors.Is(err, connReset))
}

// remedyOf returns what to do about a well-known way of servers to fail, or "".
func remedyOf(err error) string {
	var exit *exitError
	var status *statusError
	switch {
	case errors.As(err, &exit) && strings.Contains(exit.stderr, "ERR_MODULE_NOT_FOUND") && brokenCopy.MatchString(exit.stderr):
		place := strings.TrimPrefix(brokenCopy.FindString(exit.stderr), "file://")
		return fmt.Sprintf("\nnpx's copy of the package is broken, because an installation was interrupted; delete %s", place)
	case errors.As(err, &status) && status.sse:
		return `; it does not offer the SSE transport there: remove its type, or set it to "http"`
	case errors.As(err, &status) && status.status == http.StatusBadRequest && wantsTLS.MatchString(status.body):
		return "; use https:// in its url"
	case hasHungUp(err):
		return "; it closed the connection without an answer: if it speaks TLS, use https:// in its url"
	}
	return ""
}

// isA reports whether err is, or wraps, an error of the type E.
func isA[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// excerpt returns the beginning of b as one line.
func excerpt(b []byte, most int) string {
	text := strings.Join(strings.Fields(strings.ToValidUTF8(string(bytes.TrimSpace(b[:min(len(b), 4*most)])), "\uFFFD")), " ")
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}

// recoverPanic must be deferred by code that handles foreign messages on a
// goroutine of ours. A panic there is a defect, but it must not end the
// process: it is logged, and then gets the error.
func recoverPanic(log *slog.Logger, doing string, then func(error)) {
	p := recover()
	if p == nil {
		return
	}
	if log != nil {
		log.Error("internal error", "doing", doing, "panic", p, "stack", string(debug.Stack()))
	}
	then(fmt.Errorf("internal error (%s): %v; the log has the details", doing, p))
}
