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
// Without a word, text is complete; of calls that is not known, so models treat a response
// that has some as one that was cut off.
func Ending(word string) (stop model.StopReason, known bool) {
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

// Worse returns the worse of two words for the end of one response, the first if both
// are as bad: a server may write several, and one that follows a refusal, a failure or a
// cut does not undo it. From the worst to the mildest: a failure, a refusal, a word that
// is not known, a length, a pause, an end, and no word at all.
func Worse(first, second string) string {
	if severity(second) > severity(first) {
		return second
	}
	return first
}

// severity returns how bad a word is, 0 for none.
func severity(word string) int {
	if strings.TrimSpace(word) == "" {
		return 0
	}
	stop, known := Ending(word)
	if !known {
		stop = ""
	}
	return 1 + slices.Index([]model.StopReason{model.StopEnd, model.StopPause, model.StopLength, "", model.StopRefusal, EndFailed}, stop)
}

// EndFailed is the end of a response whose server failed.
const EndFailed model.StopReason = "failed"

// Incomplete returns the words of a response that ends with a word that is not known.
func Incomplete(word string) string {
	return "the response may not be complete; it ended with " + word
}

// An ending is what some words for the end of a response mean.
type ending struct {
	stop  model.StopReason
	words string
}

// endings returns the words of OpenAI, Anthropic and the servers that speak their APIs.
func endings() []ending {
	return []ending{
		{model.StopEnd, "stop stop_sequence stop_token end end_turn end_of_turn eos eos_token eos_found tool_calls tool_call tool_use function_call function_calls complete completed finished done"},
		{model.StopPause, "pause_turn compaction"},
		{model.StopLength, "length max_tokens max_new_tokens max_output_tokens max_completion_tokens max_length model_length token_limit time_limit context_length context_length_exceeded model_context_window_exceeded incomplete"},
		{model.StopRefusal, "content_filter content_filtered filter refusal refused safety sensitive recitation image_safety image_prohibited_content image_recitation language blocked blocklist prohibited_content spii guardrail guardrail_intervened content_policy content_policy_violation moderation"},
		{EndFailed, "error abort aborted cancelled canceled failed timeout network_error server_error internal_error insufficient_system_resource engine_overloaded malformed_function_call malformed_response unexpected_tool_call"},
	}
}
