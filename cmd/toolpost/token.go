package main

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/cli"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/atomicfile"
)

const tokenVariable = "TOOLPOST_TOKEN"

// tokenFile is where the token that serve generates is stored.
func tokenFile() (string, error) {
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", fmt.Errorf("find the user's configuration folder: %w; set %s instead", err, tokenVariable)
	}
	return filepath.Join(dir, "toolpost", "token"), nil
}

// newToken returns 256 random bits as 43 letters, digits, - and _.
func newToken() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// givenToken returns the token that the user chose: that of the environment,
// or of file unless its name is empty. It returns "" if there is neither.
func givenToken(file string) (string, error) {
	if file != "" {
		return readToken(file)
	}
	token := os.Getenv(tokenVariable)
	if token == "" {
		return "", nil
	}
	if err := config.CheckToken(token); err != nil {
		return "", cli.Usagef("the token in %s %w", tokenVariable, err)
	}
	return token, nil
}

// storedToken returns the user's token. It generates and stores one if there
// is none.
func storedToken() (string, error) {
	file, err := tokenFile()
	if err != nil {
		return "", err
	}
	token, err := readToken(file)
	if errors.Is(err, fs.ErrNotExist) {
		return storeToken(file, false)
	}
	return token, err
}

// knownToken returns the token that a client of the user's own serve sends, ""
// if there is none.
func knownToken() string {
	token, err := givenToken("")
	if err == nil && token == "" {
		var file string
		if file, err = tokenFile(); err == nil {
			token, err = readToken(file)
		}
	}
	if err != nil {
		return "" // the server's refusal reports that a token is missing
	}
	return token
}

// readToken reads a token from a file that no other user can read or replace.
func readToken(file string) (string, error) {
	f, err := os.OpenFile(file, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe must not wait for its writer
	if err != nil {
		return "", fmt.Errorf("read the token: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", fmt.Errorf("read the token: %w", err)
	}
	if !info.Mode().IsRegular() {
		return "", cli.Usagef("the token file %s is refused: it is not a file; remove it", file)
	}
	if !ownerOnly(info) {
		return "", cli.Usagef("the token file %s is refused: only you may own and read it; run: chmod 600 %s", file, file)
	}
	if dir, err := os.Stat(filepath.Dir(file)); err != nil || !ownerWrites(dir) {
		return "", cli.Usagef("the token file %s is refused: others can replace it; run: chmod go-w %s", file, filepath.Dir(file))
	}
	data := make([]byte, config.LongestToken+1)
	n, _ := f.Read(data) // an empty file has no valid token
	token := strings.TrimSpace(string(data[:n]))
	if err := config.CheckToken(token); err != nil {
		return "", cli.Usagef("the token in %s %w", file, err)
	}
	return token, nil
}

// storeToken stores a new token. Unless it is to replace one, a token that
// another process stored meanwhile is kept and returned.
func storeToken(file string, replace bool) (string, error) {
	token := newToken()
	err := os.MkdirAll(filepath.Dir(file), 0o700)
	if err == nil {
		err = atomicfile.Write(file, []byte(token+"\n"), &atomicfile.Options{New: !replace})
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("store the token: %w; set %s instead", err, tokenVariable)
	}
	return readToken(file)
}

func tokenCommand() *cobra.Command {
	var rotate bool
	cmd := &cobra.Command{
		Use:   "token",
		Short: "Print the token of serve, or make tokens of callers",
		Long: `Print the token that clients must send in the header "Authorization: Bearer
TOKEN" if serve requires one. The first call generates the token and stores it
in the user's configuration folder, in a file that only its owner may read. It
stays the same until --rotate replaces it.

The variable ` + tokenVariable + `, or serve --token-file FILE, takes its place.

This token is the owner's: it is good for everything that is served. "toolpost
token add NAME" makes a token for one caller, which can be limited to a profile,
expire, and be revoked without a restart.`,
		Example: `  toolpost token
  curl -H "Authorization: Bearer $(toolpost token)" http://127.0.0.1:7717/healthz
  toolpost token --rotate
  toolpost token add ci --profile reading --expires 30d
  toolpost token list
  toolpost token revoke ci`,
		Args: cli.RejectUnknown,
		RunE: func(cmd *cobra.Command, _ []string) error {
			token, err := givenToken("")
			if err == nil && token == "" && !rotate {
				token, err = storedToken()
			}
			if err == nil && rotate {
				token, err = rotatedToken(token != "")
				if err == nil {
					fmt.Fprintln(cmd.ErrOrStderr(), "This is a new token. Restart toolpost serve, and give the token to its clients.")
				}
			}
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), token)
			return err
		},
	}
	cmd.AddCommand(tokenAdd(), tokenList(), tokenRevoke())
	for _, c := range cmd.Commands() {
		c.Args = cli.CheckArgs(c.Args)
	}
	cmd.Flags().BoolVar(&rotate, "rotate", false, "replace the stored token; serve rejects the old one after a restart")
	return cmd
}

// rotatedToken replaces the stored token, whatever is wrong with it.
func rotatedToken(given bool) (string, error) {
	if given {
		return "", cli.Usagef("the token comes from %s; change that, or unset it to rotate the stored token", tokenVariable)
	}
	file, err := tokenFile()
	if err != nil {
		return "", err
	}
	return storeToken(file, true)
}
