package cli

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/toolpost/toolpost/internal/environ"
	"github.com/toolpost/toolpost/internal/secret"
)

// inherited names what a claude command, or a debugger, sets for the processes
// that it starts. A command that finds it takes itself for a part of another
// session, or writes other text than lines.
const inherited = ` CLAUDECODE CLAUDE_CODE_CHILD_SESSION CLAUDE_CODE_ENTRYPOINT CLAUDE_CODE_EXECPATH
	CLAUDE_CODE_SESSION_ATTENDED CLAUDE_CODE_SESSION_ID CLAUDE_CODE_SESSION_KIND CLAUDE_CODE_SESSION_NAME
	CLAUDE_CODE_SESSION_ORIGIN CLAUDE_CODE_SSE_PORT NODE_OPTIONS VSCODE_INSPECTOR_OPTIONS `

// environment returns base without what is inherited, changed, for a command
// that runs in dir.
func environment(base, changes []string, dir string) []string {
	env := map[string]string{} // whole entries by name
	for _, name := range strings.Fields(inherited) {
		env[envKey(name)] = ""
	}
	for _, entry := range base {
		name := envKey(environ.Name(entry))
		if _, taken := env[name]; !taken {
			env[name] = entry
		}
	}
	if pwd, err := filepath.Abs(dir); err == nil {
		env["PWD"] = "PWD=" + pwd
	}
	for _, entry := range changes {
		name := environ.Name(entry)
		if name == entry {
			entry = ""
		}
		env[envKey(name)] = entry
	}
	var all []string
	for _, entry := range env {
		if entry != "" {
			all = append(all, entry)
		}
	}
	slices.Sort(all)
	return all
}

func envKey(name string) string {
	if runtime.GOOS == "windows" {
		return strings.ToUpper(name)
	}
	return name
}

// secrets returns a replacer that hides the secrets of an environment: the
// values of variables whose names say so, and addresses with a password.
func secrets(env []string) *strings.Replacer {
	var values []string
	for _, entry := range env {
		name := environ.Name(entry)
		value := strings.TrimPrefix(entry[len(name):], "=")
		if secretName(name) || strings.Contains(value, "://") && strings.Contains(value, "@") {
			values = append(values, value)
		}
	}
	return secret.Replacer("[secret]", values...)
}

const (
	// secretWords are those of names like API_KEY and ANTHROPIC_CUSTOM_HEADERS.
	secretWords = " KEY KEYS PASS PASSPHRASE CREDENTIAL CREDENTIALS AUTH AUTHORIZATION COOKIE COOKIES HEADERS PAT "
	// secretEnds are how words of names like PGPASSWORD end.
	secretEnds = "APIKEY TOKEN TOKENS SECRET SECRETS PASSWORD PASSWD"
)

// secretName says so of GIT_TOKEN, and not of GIT_AUTHOR_NAME.
func secretName(name string) bool {
	name = strings.ToUpper(name)
	for word := range strings.FieldsFuncSeq(name, func(r rune) bool { return r == '_' || r == '-' || r == '.' }) {
		if strings.Contains(secretWords, " "+word+" ") {
			return true
		}
		for end := range strings.FieldsSeq(secretEnds) {
			if strings.HasSuffix(word, end) {
				return true
			}
		}
	}
	return strings.HasSuffix(name, "_PWD") // PWD alone is a folder
}

// envPath joins elements to a folder that the environment names, if it does.
func envPath(name string, elements ...string) string {
	if dir := os.Getenv(name); dir != "" {
		return filepath.Join(append([]string{dir}, elements...)...)
	}
	return ""
}
