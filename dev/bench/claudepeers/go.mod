module github.com/toolpost/toolpost/dev/bench/claudepeers

go 1.26.0

replace github.com/toolpost/toolpost => ../../..

require (
	github.com/roasbeef/claude-agent-sdk-go v1.0.9
	github.com/severity1/claude-agent-sdk-go v0.6.12
	github.com/toolpost/toolpost v0.0.0
)

require (
	code.dny.dev/ssrf v0.3.0 // indirect
	github.com/dlclark/regexp2 v1.12.0 // indirect
	github.com/go-json-experiment/json v0.0.0-20260820222146-c27c302e5fc3 // indirect
	golang.org/x/net v0.61.0 // indirect
	golang.org/x/text v0.43.0 // indirect
	gopkg.in/yaml.v3 v3.0.1 // indirect
)
