package message

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

// kinds are the types that are known; those of type system by their subtype.
func kinds() map[string]kind {
	return map[string]kind{
		"assistant":              of[Assistant]("message"),
		"user":                   of[User]("message"),
		"result":                 of[Result]("subtype", "is_error"),
		"stream_event":           of[StreamEvent]("event"),
		"control_request":        of[ControlRequest]("request_id", "request"),
		"control_response":       of[ControlResponse]("response"),
		"control_cancel_request": of[ControlCancel]("request_id"),
		"keep_alive":             of[KeepAlive](),
		"rate_limit_event":       of[RateLimit]("rate_limit_info"),
		"command_lifecycle":      of[CommandLifecycle]("command_uuid", "state"),
		"conversation_reset":     of[ConversationReset]("new_conversation_id"),
		"tool_progress":          of[ToolProgress]("tool_use_id"),
		"tool_use_summary":       of[ToolUseSummary]("summary"),
		"auth_status":            of[AuthStatus](),
		"prompt_suggestion":      of[PromptSuggestion]("suggestion"),
		"active_goal":            of[ActiveGoal](),
		"transcript_mirror":      of[TranscriptMirror]("entries"),

		"system/init":                      of[Init]("tools"),
		"system/status":                    of[Status](),
		"system/session_state_changed":     of[SessionState]("state"),
		"system/api_retry":                 of[APIRetry](),
		"system/permission_denied":         of[PermissionDenied]("tool_name"),
		"system/informational":             of[Informational]("content"),
		"system/notification":              of[Notification]("text"),
		"system/thinking_tokens":           of[ThinkingTokens](),
		"system/local_command_output":      of[LocalCommandOutput]("content"),
		"system/commands_changed":          of[CommandsChanged]("commands"),
		"system/plugin_install":            of[PluginInstall]("status"),
		"system/worker_shutting_down":      of[WorkerShuttingDown](),
		"system/control_request_progress":  of[ControlRequestProgress]("request_id"),
		"system/compact_boundary":          of[CompactBoundary](),
		"system/files_persisted":           of[FilesPersisted](),
		"system/memory_recall":             of[MemoryRecall]("memories"),
		"system/model_refusal_fallback":    of[ModelRefusalFallback]("fallback_model"),
		"system/model_refusal_no_fallback": of[ModelRefusalNoFallback](),
		"system/session_writes_lost":       of[SessionWritesLost](),
		"system/mirror_error":              of[MirrorError]("error"),
		"system/task_started":              of[TaskStarted]("task_id"),
		"system/task_progress":             of[TaskProgress]("task_id"),
		"system/task_updated":              of[TaskUpdated]("task_id", "patch"),
		"system/task_notification":         of[TaskNotification]("task_id"),
		"system/background_tasks_changed":  of[BackgroundTasksChanged]("tasks"),
		"system/elicitation_complete":      of[ElicitationComplete]("elicitation_id"),
		"system/hook_started":              of[HookStarted]("hook_id"),
		"system/hook_progress":             of[HookProgress]("hook_id"),
		"system/hook_response":             of[HookResponse]("hook_id"),
	}
}
