//go:build unix

package live

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var claude = &agent{
	name: "@anthropic-ai/claude-code", binary: "node_modules/@anthropic-ai/claude-code-*/claude",
	format: anthropic{},
	prefix: func(server string) string { return "mcp__" + server + "__" },
	command: func(t *testing.T, bin, home, model string, servers map[string]mcpServer) (env, args []string) {
		config := filepath.Join(home, "mcp.json")
		write(t, config, marshal(object{"mcpServers": entries(servers, mcpServer.entry)}))
		var allowed []string
		for name := range servers {
			allowed = append(allowed, "mcp__"+name)
		}
		return []string{
				"CLAUDE_CONFIG_DIR=" + home, "ANTHROPIC_BASE_URL=" + model, "ANTHROPIC_API_KEY=sk-ant-dummy",
				"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_TELEMETRY=1", "DISABLE_ERROR_REPORTING=1",
				"DISABLE_AUTOUPDATER=1", "ENABLE_TOOL_SEARCH=false",
			}, []string{bin, "-p", "hello", "--model=claude-sonnet-4-5", "--system-prompt=You are a test.", "--tools=",
				"--setting-sources=", "--strict-mcp-config", "--mcp-config=" + config,
				"--allowedTools=" + strings.Join(allowed, ","), "--no-session-persistence"}
	},
	reach: map[string]int{
		"missing": 0, "empty": 0, "untyped": 0, "union": 0, "nullable": 0, "array": 0, "required": 0, "properties": 0,
		"dollar": 1, "brackets": 1, "space": 1, "longkey": 1, "unicode": 1, "at": 1, "colon": 1,
		"tuple": 1, "exclusive": 1, "flag": 1, "any": 1, "name": 1,
		"twins": 2,
	},
}

var geminiCLI = &agent{
	name: "@google/gemini-cli", binary: "node_modules/@google/gemini-cli/bundle/gemini.js",
	format: gemini{},
	prefix: func(server string) string { return "mcp_" + server + "_" },
	command: func(t *testing.T, bin, home, model string, servers map[string]mcpServer) (env, args []string) {
		folder(t, home, ".gemini")
		write(t, filepath.Join(home, ".gemini", "settings.json"), marshal(object{
			"mcpServers": entries(servers, func(s mcpServer) object {
				e := s.entry()
				e["trust"] = true
				return e
			}),
			"security":  object{"auth": object{"selectedType": "gemini-api-key"}, "folderTrust": object{"enabled": false}},
			"general":   object{"enableAutoUpdate": false, "enableAutoUpdateNotification": false, "disableAutoUpdate": true},
			"privacy":   object{"usageStatisticsEnabled": false},
			"telemetry": object{"enabled": false},
		}))
		return []string{
			"GEMINI_API_KEY=dummy", "GOOGLE_GEMINI_BASE_URL=" + model, "GEMINI_CLI_NO_RELAUNCH=true",
		}, []string{node(t), bin, "--prompt=hello", "--model=gemini-2.5-pro", "--yolo", "--skip-trust"}
	},
	reach: map[string]int{
		"missing": 0, "empty": 0, "untyped": 0, "union": 0, "nullable": 0, "array": 0, "required": 0, "properties": 0,
		"true": 0, "outarray": 0, "outunion": 0, "outuntyped": 0,
	},
}

var codex = &agent{
	name: "@openai/codex", binary: "node_modules/@openai/codex-*/vendor/*/bin/codex",
	format: responses{},
	prefix: func(server string) string { return "mcp__" + server + separator },
	command: func(t *testing.T, bin, home, model string, servers map[string]mcpServer) (env, args []string) {
		var config strings.Builder
		fmt.Fprintf(&config, `model = "gpt-5-codex"
model_provider = "fake"
check_for_update_on_startup = false
[analytics]
enabled = false
[model_providers.fake]
name = "fake"
base_url = "%s/v1"
wire_api = "responses"
env_key = "FAKE_KEY"
request_max_retries = 0
stream_max_retries = 0
`, model)
		for name, s := range servers {
			fmt.Fprintf(&config, "[mcp_servers.%s]\n", name)
			if s.url != "" {
				fmt.Fprintf(&config, "url = %q\n", s.url)
			} else {
				fmt.Fprintf(&config, "command = %q\nargs = %s\n", s.command[0], marshal(s.command[1:]))
			}
		}
		write(t, filepath.Join(home, "config.toml"), config.String())
		return []string{"CODEX_HOME=" + home, "FAKE_KEY=dummy"}, []string{bin, "exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "hello"}
	},
	reach: map[string]int{
		"missing": 0, "tuple": 1, "flag": 1,
	},
}

var opencode = &agent{
	name: "opencode-ai", binary: "node_modules/opencode-*/bin/opencode",
	format: chat{},
	prefix: func(server string) string { return server + "_" },
	command: func(t *testing.T, bin, home, model string, servers map[string]mcpServer) (env, args []string) {
		config := filepath.Join(home, "opencode.json")
		write(t, config, marshal(object{
			"autoupdate": false, "share": "disabled",
			"provider": object{"fake": object{
				"npm": "@ai-sdk/openai-compatible", "name": "fake",
				"options": object{"baseURL": model + "/v1", "apiKey": "dummy"},
				"models":  object{"m": object{"name": "m", "tool_call": true}},
			}},
			"mcp": entries(servers, func(s mcpServer) object {
				if s.url != "" {
					return object{"type": "remote", "url": s.url, "oauth": false}
				}
				return object{"type": "local", "command": s.command}
			}),
		}))
		return []string{
			"OPENCODE_CONFIG=" + config, "OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1",
			"OPENCODE_DISABLE_LSP_DOWNLOAD=1", "OPENCODE_DISABLE_DEFAULT_PLUGINS=1", "OPENCODE_DISABLE_PROJECT_CONFIG=1",
		}, []string{bin, "run", "--model=fake/m", "--auto", "--title=test", "hello"}
	},
	reach: map[string]int{
		"missing": 0, "empty": 0, "untyped": 0, "union": 0, "nullable": 0, "array": 0, "required": 0, "properties": 0,
		"true": 0, "twins": 2,
	},
}

func TestClientDirectClaude(t *testing.T)    { claude.direct(t) }
func TestClientDirectGeminiCLI(t *testing.T) { geminiCLI.direct(t) }
func TestClientDirectCodex(t *testing.T)     { codex.direct(t) }
func TestClientDirectOpencode(t *testing.T)  { opencode.direct(t) }

func TestClientGatewayClaude(t *testing.T)    { claude.through(t) }
func TestClientGatewayGeminiCLI(t *testing.T) { geminiCLI.through(t) }
func TestClientGatewayCodex(t *testing.T)     { codex.through(t) }
func TestClientGatewayOpencode(t *testing.T)  { opencode.through(t) }

func folder(t *testing.T, parts ...string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(parts...), 0o700); err != nil {
		t.Fatal(err)
	}
}
