package telemetry

import (
	"strconv"

	"github.com/toolpost/toolpost/observe"
)

// The names of the OpenTelemetry conventions for MCP and generative AI
// (semantic-conventions-genai, docs/gen-ai/mcp.md and gen-ai-metrics.md, in
// development; read 2026-11). The Go packages of OpenTelemetry no longer have them.
const (
	attrMethod       = "mcp.method.name"
	attrProtocol     = "mcp.protocol.version"
	attrTool         = "gen_ai.tool.name"
	attrPrompt       = "gen_ai.prompt.name"
	attrOperation    = "gen_ai.operation.name"
	attrRequestID    = "jsonrpc.request.id"
	attrStatusCode   = "rpc.response.status_code"
	attrErrorType    = "error.type"
	attrTransport    = "network.transport"
	attrClientName   = "toolpost.client.name" // the conventions have none
	attrUpstream     = "toolpost.upstream"
	executeTool      = "execute_tool"
	metricServer     = "mcp_server_operation_duration_seconds"
	metricClient     = "mcp_client_operation_duration_seconds"
	labelMethod      = "mcp_method_name"
	labelTool        = "gen_ai_tool_name"
	labelErrorType   = "error_type"
	labelUpstream    = "toolpost_upstream"
	metricNamespace  = "toolpost"
	other            = "other" // what is not counted by its own name
	typeOther        = "_OTHER"
	methodCall       = "tools/call"
	methodPrompt     = "prompts/get"
	transportPipe    = "pipe"
	transportNetwork = "tcp"
)

// buckets are those of the conventions for durations of operations, in seconds.
func buckets() []float64 {
	return []float64{0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300}
}

// errorType returns error.type, which is empty for a success: the code of a
// JSON-RPC error, or how else the request ended.
func errorType(outcome observe.Outcome, code int64) string {
	switch outcome {
	case observe.OK, observe.InputRequired:
		return ""
	case observe.ProtocolError:
		return strconv.FormatInt(code, 10)
	}
	return string(outcome)
}

// networkTransport returns network.transport, empty for what runs in this process.
func networkTransport(transport string) string {
	switch transport {
	case "":
		return ""
	case "stdio":
		return transportPipe
	}
	return transportNetwork
}
