package stdtool

import (
	"os"
	"slices"
	"strings"
)

// environment returns what commands get of this process's environment: without
// what looks like a secret, except for the names in pass.
func environment(pass []string) []string {
	env := []string{"GIT_TERMINAL_PROMPT=0", "TERM=dumb"} // nobody can answer, nor see colours
	for _, entry := range os.Environ() {
		i := strings.IndexByte(entry[min(1, len(entry)):], '=') + 1 // on Windows a name may begin with it
		if i == 0 {
			continue
		}
		name, value := entry[:i], entry[i+1:]
		switch name {
		case "GIT_TERMINAL_PROMPT", "TERM", "PWD", "OLDPWD":
			continue
		}
		if !secret(name, value) || slices.Contains(pass, name) {
			env = append(env, entry)
		}
	}
	return env
}

// secret says that a variable's name tells of a secret, or that its value is an
// address with a password.
func secret(name, value string) bool {
	name = strings.ToUpper(name)
	for _, word := range []string{"KEY", "TOKEN", "SECRET", "PASS", "CREDENTIAL", "AUTH", "COOKIE", "HEADERS"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	_, after, found := strings.Cut(value, "://")
	return found && strings.Contains(after, "@")
}
