package telemetry

import (
	"context"
	"errors"

	"github.com/toolpost/toolpost/model"
)

// The names of the OpenTelemetry conventions for generative AI
// (semantic-conventions-genai, docs/gen-ai/gen-ai-spans.md, gen-ai-agent-spans.md
// and gen-ai-metrics.md, in development; read 2026-11).
const (
	opChat        = "chat"
	opInvokeAgent = "invoke_agent"

	attrProvider      = "gen_ai.provider.name"
	attrRequestModel  = "gen_ai.request.model"
	attrStream        = "gen_ai.request.stream"
	attrMaxTokens     = "gen_ai.request.max_tokens"
	attrOutputType    = "gen_ai.output.type"
	attrConversation  = "gen_ai.conversation.id"
	attrResponseID    = "gen_ai.response.id"
	attrResponseModel = "gen_ai.response.model"
	attrFinishReasons = "gen_ai.response.finish_reasons"
	attrFirstChunk    = "gen_ai.response.time_to_first_chunk"
	attrInputTokens   = "gen_ai.usage.input_tokens" // with those of the cache
	attrOutputTokens  = "gen_ai.usage.output_tokens"
	attrCacheRead     = "gen_ai.usage.cache_read.input_tokens"
	attrCacheCreation = "gen_ai.usage.cache_creation.input_tokens"
	attrReasoning     = "gen_ai.usage.reasoning.output_tokens"
	attrAgent         = "gen_ai.agent.name"
	attrToolType      = "gen_ai.tool.type"
	attrCallID        = "gen_ai.tool.call.id"
	attrRestarts      = "toolpost.restarts" // requests that were sent again; the conventions have none

	// The contents, which are recorded only if an option says so.
	attrSystem    = "gen_ai.system_instructions"
	attrInput     = "gen_ai.input.messages"
	attrOutput    = "gen_ai.output.messages"
	attrArguments = "gen_ai.tool.call.arguments"
	attrResult    = "gen_ai.tool.call.result"

	metricTokens     = "gen_ai_client_token_usage"
	metricOperation  = "gen_ai_client_operation_duration_seconds"
	metricFirstChunk = "gen_ai_client_operation_time_to_first_chunk_seconds"
	metricTool       = "gen_ai_execute_tool_duration_seconds"
	metricAgent      = "gen_ai_invoke_agent_duration_seconds"
	labelOperation   = "gen_ai_operation_name"
	labelProvider    = "gen_ai_provider_name"
	labelModel       = "gen_ai_request_model"
	labelTokenType   = "gen_ai_token_type"
	labelAgent       = "gen_ai_agent_name"

	typeFunction = "function"
	typeCanceled = "canceled"
	typeTimeout  = "timeout"
)

// operationBuckets and tokenBuckets are those of the conventions.
func operationBuckets() []float64 {
	return []float64{0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92}
}

func tokenBuckets() []float64 {
	return []float64{1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864}
}

// providerName returns gen_ai.provider.name.
func providerName(o model.Origin) string {
	switch o.Provider {
	case "gemini":
		return "gcp.gemini"
	case "claude-cli":
		return "anthropic"
	}
	return clip(o.Provider)
}

// finishReason returns one of gen_ai.response.finish_reasons.
func finishReason(stop model.StopReason) string {
	switch stop {
	case model.StopEnd:
		return "stop"
	case model.StopCalls:
		return "tool_call"
	case model.StopRefusal:
		return "content_filter"
	}
	return clip(string(stop))
}

// failureType returns error.type of a request to a model, or of a run: the kind of
// the model's error. It is empty for nil.
func failureType(err error) string {
	failure, isFailure := errors.AsType[*model.Error](err)
	switch {
	case err == nil:
		return ""
	case errors.Is(err, context.Canceled):
		return typeCanceled
	case errors.Is(err, context.DeadlineExceeded):
		return typeTimeout
	case isFailure && failure.Kind != "":
		return clip(string(failure.Kind))
	}
	return typeOther
}
