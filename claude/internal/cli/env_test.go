package cli

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestEnvironment(t *testing.T) {
	dir := t.TempDir()
	base := []string{
		"PATH=/bin", "HOME=/h", "EMPTY=", "A=b=c", "PWD=/elsewhere",
		"CLAUDECODE=1", "CLAUDE_CODE_ENTRYPOINT=cli", "CLAUDE_CODE_SESSION_ID=x", "NODE_OPTIONS=--inspect",
		"CLAUDE_CODE_MAX_RETRIES=2", "ANTHROPIC_API_KEY=k", "UNSET=1",
	}
	got := environment(base, []string{"UNSET", "HOME=/other", "CLAUDE_CODE_ENTRYPOINT=sdk-go", "NEW=1", "NEW=2", "NEVER"}, dir)
	want := []string{
		"A=b=c", "ANTHROPIC_API_KEY=k", "CLAUDE_CODE_ENTRYPOINT=sdk-go", "CLAUDE_CODE_MAX_RETRIES=2",
		"EMPTY=", "HOME=/other", "NEW=2", "PATH=/bin", "PWD=" + dir,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	here, _ := filepath.Abs(".")
	if got := environment(nil, nil, ""); !slices.Equal(got, []string{"PWD=" + here}) {
		t.Errorf("got %q", got)
	}
	if got := environment(base, []string{"PWD"}, dir); slices.ContainsFunc(got, func(s string) bool { return strings.HasPrefix(s, "PWD=") }) {
		t.Errorf("PWD is not removed: %q", got)
	}
}

func TestSecrets(t *testing.T) {
	hide := secrets([]string{
		"ANTHROPIC_API_KEY=sk-ant-1", "MY_TOKEN=sk-ant-12345", "password=hunter22", "HTTPS_PROXY=http://me:pw@proxy:1",
		"KEY=short", "TERM=xterm-256color", "BASE_URL=http://127.0.0.1:1", "EMPTY_TOKEN=", "PRIVATE_KEY=first line\nsecond line\n",
	})
	const text = "sk-ant-1 sk-ant-12345 hunter22 via http://me:pw@proxy:1 short xterm-256color http://127.0.0.1:1 second line"
	const want = "[secret] [secret] [secret] via [secret] short xterm-256color http://127.0.0.1:1 [secret]"
	if got := hide.Replace(text); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestSecretName(t *testing.T) {
	for _, name := range strings.Fields(`ANTHROPIC_API_KEY KEY GITHUB_TOKEN token AUTHTOKEN CLIENT_SECRET PGPASSWORD DB_PASS DB_PWD
		apiKey NPM_CONFIG__AUTH npm_config_//registry/:_authToken GOOGLE_CREDENTIALS HTTP_COOKIE ANTHROPIC_CUSTOM_HEADERS AWS_SECRET_ACCESS_KEY`) {
		if !secretName(name) {
			t.Errorf("%s may be told", name)
		}
	}
	for _, name := range strings.Fields(`GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL KEYBOARD MONKEY PWD OLDPWD COMPASS_HOME PASSENGERS XAUTHORITY PATH HOME
		CLAUDE_CODE_MAX_OUTPUT_TOKENIZER TOKENIZERS_PARALLELISM SECRETARY`) {
		if secretName(name) {
			t.Errorf("%s is a secret", name)
		}
	}
}
