package provider

import (
	"slices"
	"strings"

	"github.com/toolpost/toolpost/model"
)

// Ending returns what a provider's word for the end of a response means:
// [model.StopEnd], also if calls follow, [model.StopLength], [model.StopRefusal] or
// [model.StopPause]; [EndFailed] if the server failed. A response that ends with a word
// that is not known may not be complete, so it counts as refused: its calls do not run.
func Ending(word string) (stop string, known bool) {
	word = strings.ReplaceAll(strings.ToLower(strings.TrimSpace(word)), "-", "_")
	for _, e := range endings() {
		if slices.Contains(strings.Fields(e.words), word) {
			return e.stop, true
		}
	}
	if word == "" {
		return model.StopEnd, true
	}
	return model.StopRefusal, false
}

// EndFailed is the end of a response whose server failed.
const EndFailed = "failed"

// Incomplete returns the words of a response that ends with a word that is not known.
func Incomplete(word string) string {
	return "the response may not be complete; it ended with " + word
}

// endings returns the words of OpenAI, Anthropic and the servers that speak their APIs.
func endings() []struct{ stop, words string } {
	return []struct{ stop, words string }{
		{model.StopEnd, "stop stop_sequence stop_token end end_turn end_of_turn eos eos_token eos_found tool_calls tool_call tool_use function_call function_calls complete completed finished done"},
		{model.StopPause, "pause_turn compaction"},
		{model.StopLength, "length max_tokens max_new_tokens max_output_tokens max_completion_tokens max_length model_length token_limit time_limit context_length context_length_exceeded model_context_window_exceeded incomplete"},
		{model.StopRefusal, "content_filter content_filtered filter refusal refused safety sensitive recitation language blocked blocklist prohibited_content spii guardrail guardrail_intervened content_policy content_policy_violation moderation"},
		{EndFailed, "error abort aborted cancelled canceled failed timeout network_error server_error internal_error insufficient_system_resource engine_overloaded malformed_function_call malformed_response unexpected_tool_call"},
	}
}
