package cli

import (
	"errors"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// OpenBrowser opens an address in the user's browser, without a shell.
func OpenBrowser(address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
		return errors.New("the address is not one of a web page")
	}
	var commands [][]string
	for _, program := range filepath.SplitList(os.Getenv("BROWSER")) {
		commands = append(commands, strings.Fields(program))
	}
	switch runtime.GOOS {
	case "darwin":
		commands = append(commands, []string{"open"})
	case "windows":
		commands = append(commands, []string{"rundll32", "url.dll,FileProtocolHandler"})
	default:
		commands = append(commands, []string{"xdg-open"})
	}
	for _, command := range commands {
		if len(command) == 0 {
			continue
		}
		program := exec.Command(command[0], append(command[1:], u.String())...)
		if program.Start() == nil {
			go func() { _ = program.Wait() }()
			return nil
		}
	}
	return errNoBrowser
}

// errNoBrowser means that no program opens addresses.
var errNoBrowser = errors.New("there is no program that opens addresses; set BROWSER to one")
