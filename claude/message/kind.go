package message

import "strings"

// A kind is a type of message with the members that it cannot be without.
type kind struct {
	new      func() Message
	required []string
}

func of[T any, P interface {
	*T
	Message
}](required ...string) kind {
	return kind{func() Message { return P(new(T)) }, required}
}

// untyped are the messages that are decoded as a [System].
const untyped = "tool_progress tool_use_summary auth_status prompt_suggestion active_goal " +
	"system/status system/informational system/notification system/thinking_tokens system/local_command_output system/commands_changed system/plugin_install system/worker_shutting_down system/control_request_progress " +
	"system/files_persisted system/memory_recall system/model_refusal_fallback system/model_refusal_no_fallback system/session_writes_lost system/session_title_changed system/mirror_error system/elicitation_complete " +
	"system/hook_started system/hook_progress system/hook_response"

// kinds are the types that are known; those of type system by their subtype.
func kinds() map[string]kind {
	all := map[string]kind{
		"assistant":              of[Assistant]("message"),
		"user":                   of[User]("message"),
		"result":                 of[Result]("subtype", "is_error"),
		"stream_event":           of[StreamEvent]("event"),
		"control_request":        of[System]("request_id", "request"),
		"control_response":       of[System]("response"),
		"control_cancel_request": of[System]("request_id"),
		"keep_alive":             of[System](),
		"rate_limit_event":       of[RateLimit]("rate_limit_info"),
		"command_lifecycle":      of[CommandLifecycle]("command_uuid", "state"),
		"conversation_reset":     of[ConversationReset]("new_conversation_id"),
		"transcript_mirror":      of[System]("entries"),

		"system/init":                     of[Init]("tools"),
		"system/session_state_changed":    of[SessionState]("state"),
		"system/api_retry":                of[APIRetry](),
		"system/permission_denied":        of[PermissionDenied]("tool_name"),
		"system/compact_boundary":         of[CompactBoundary](),
		"system/task_started":             of[TaskStarted]("task_id"),
		"system/task_progress":            of[TaskProgress]("task_id"),
		"system/task_updated":             of[TaskUpdated]("task_id", "patch"),
		"system/task_notification":        of[TaskNotification]("task_id"),
		"system/background_tasks_changed": of[BackgroundTasksChanged]("tasks"),
	}
	for _, name := range strings.Fields(untyped) {
		all[name] = of[System]()
	}
	return all
}
