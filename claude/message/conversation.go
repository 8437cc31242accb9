package message

import "encoding/json"

// A CompactBoundary marks the place where the conversation was shortened.
type CompactBoundary struct {
	Header
	Compact           Compact `json:"compact_metadata"`
	LogicalParentUUID string  `json:"logical_parent_uuid"`
}

// A Compact describes how a conversation was shortened.
type Compact struct {
	Trigger                 string          `json:"trigger"` // manual or auto
	PreTokens               int64           `json:"pre_tokens"`
	PostTokens              int64           `json:"post_tokens"`
	CumulativeDroppedTokens int64           `json:"cumulative_dropped_tokens"`
	DurationMS              int64           `json:"duration_ms"`
	PreservedSegment        json.RawMessage `json:"preserved_segment"`
	PreservedMessages       json.RawMessage `json:"preserved_messages"`
}

// A ConversationReset reports that a new conversation began. Costs and model
// usage start at zero again.
type ConversationReset struct {
	Header
	NewConversationID string `json:"new_conversation_id"`
	Trigger           string `json:"trigger"` // clear, plan_mode_exit, …
	UserMessageUUID   string `json:"user_message_uuid"`
	Timestamp         string `json:"timestamp"`
}

// A FilesPersisted lists files that were stored.
type FilesPersisted struct {
	Header
	Files []struct {
		Filename string `json:"filename"`
		FileID   string `json:"file_id"`
	} `json:"files"`
	Failed []struct {
		Filename string `json:"filename"`
		Error    string `json:"error"`
	} `json:"failed"`
	ProcessedAt string `json:"processed_at"`
}

// A MemoryRecall lists memories that were recalled.
type MemoryRecall struct {
	Header
	Mode     string   `json:"mode"` // select or synthesize
	Memories []Memory `json:"memories"`
}

// A Memory is a note that was recalled.
type Memory struct {
	Path    string `json:"path"`
	Scope   string `json:"scope"` // personal, team or organization
	Content string `json:"content"`
}

// A ModelRefusalFallback reports that another model answers because one
// refused.
type ModelRefusalFallback struct {
	Header
	Refusal
	Trigger               string   `json:"trigger"`
	Direction             string   `json:"direction"` // retry, revert or sticky
	Scope                 string   `json:"scope"`
	FallbackModel         string   `json:"fallback_model"`
	RetractedMessageUUIDs []string `json:"retracted_message_uuids"`
}

// A ModelRefusalNoFallback reports that a model refused to answer.
type ModelRefusalNoFallback struct {
	Header
	Refusal
}

// A Refusal identifies the model that refused, and the reason.
type Refusal struct {
	OriginalModel          string `json:"original_model"`
	RequestID              string `json:"request_id"`
	Category               string `json:"api_refusal_category"`
	Explanation            string `json:"api_refusal_explanation"`
	RefusedUserMessageUUID string `json:"refused_user_message_uuid"`
	Content                string `json:"content"`
}

// A SessionWritesLost reports that the session could not be saved.
type SessionWritesLost struct {
	Header
	ErrorCode            string   `json:"error_code"` // ENOSPC or EDQUOT
	Lost                 []string `json:"lost"`
	TranscriptSessionIDs []string `json:"transcript_session_ids"`
}

// A MirrorError reports that a transcript could not be mirrored.
type MirrorError struct {
	Header
	Error string          `json:"error"`
	Key   json.RawMessage `json:"key"`
}

// A TranscriptMirror contains what was added to a transcript.
type TranscriptMirror struct {
	Header
	FilePath string            `json:"filePath"`
	Entries  []json.RawMessage `json:"entries"`
}

// A CommandLifecycle reports the state of a prompt that was sent with a UUID.
type CommandLifecycle struct {
	Header
	CommandUUID string `json:"command_uuid"`
	State       string `json:"state"` // queued, started, completed or cancelled
}

// A PromptSuggestion is a suggestion for the next prompt.
type PromptSuggestion struct {
	Header
	Suggestion string `json:"suggestion"`
}

// An ActiveGoal reports the goal that the model is working on.
type ActiveGoal struct {
	Header
	Goal *Goal `json:"value"` // nil if there is no goal any more
}

// A Goal is a condition; the model works until it is met.
type Goal struct {
	Condition     string  `json:"condition"`
	Iterations    int64   `json:"iterations"`
	SetAt         float64 `json:"set_at"`
	TokensAtStart int64   `json:"tokens_at_start"`
	LastReason    string  `json:"last_reason"`
}

// An AuthStatus reports the state of signing in.
type AuthStatus struct {
	Header
	IsAuthenticating bool     `json:"isAuthenticating"`
	Output           []string `json:"output"`
	Error            string   `json:"error"`
}

// A RateLimit reports how much of a plan's limits is used.
type RateLimit struct {
	Header
	Info RateLimitInfo `json:"rate_limit_info"`
}

// A RateLimitInfo describes how much of a plan's limits is used.
type RateLimitInfo struct {
	RateLimitWindow        `json:",embed"`
	RateLimitType          string                     `json:"rateLimitType"` // five_hour, seven_day, …
	LimitScope             string                     `json:"limitScope"`
	ErrorCode              string                     `json:"errorCode"`
	IsUsingOverage         bool                       `json:"isUsingOverage"`
	OverageInUse           bool                       `json:"overageInUse"`
	OverageEnabled         bool                       `json:"overageEnabled"`
	OverageStatus          string                     `json:"overageStatus"`
	OverageResetsAt        int64                      `json:"overageResetsAt"`
	OverageDisabledReason  string                     `json:"overageDisabledReason"`
	CanUserPurchaseCredits bool                       `json:"canUserPurchaseCredits"`
	HasSavedPaymentMethod  bool                       `json:"hasChargeableSavedPaymentMethod"`
	UnifiedWindows         map[string]RateLimitWindow `json:"unifiedWindows"` // by their type
}

// A RateLimitWindow is one limit and how much of it is used.
type RateLimitWindow struct {
	Status             string  `json:"status"`      // allowed, allowed_warning or rejected
	ResetsAt           int64   `json:"resetsAt"`    // seconds since 1970
	Utilization        float64 `json:"utilization"` // 1 means all
	SurpassedThreshold float64 `json:"surpassedThreshold"`
}
