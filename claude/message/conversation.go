package message

import "encoding/json"

// A CompactBoundary marks the place where the conversation was shortened.
type CompactBoundary struct {
	Header
	LogicalParentUUID string `json:"logical_parent_uuid"`

	// Compact describes how the conversation was shortened.
	Compact struct {
		Trigger                 string          `json:"trigger"` // manual or auto
		PreTokens               int64           `json:"pre_tokens"`
		PostTokens              int64           `json:"post_tokens"`
		CumulativeDroppedTokens int64           `json:"cumulative_dropped_tokens"`
		DurationMS              int64           `json:"duration_ms"`
		PreservedSegment        json.RawMessage `json:"preserved_segment"`
		PreservedMessages       json.RawMessage `json:"preserved_messages"`
	} `json:"compact_metadata"`
}

// A ConversationReset reports that a new conversation began. Costs and model
// usage start at zero again.
type ConversationReset struct {
	Header
	NewConversationID string `json:"new_conversation_id"`
	Trigger           string `json:"trigger"` // clear, plan_mode_exit, fresh_session or onboarding
	UserMessageUUID   string `json:"user_message_uuid"`
	Timestamp         string `json:"timestamp"`
}

// A CommandLifecycle reports the state of a prompt that was sent with a UUID.
type CommandLifecycle struct {
	Header
	CommandUUID string `json:"command_uuid"`
	State       string `json:"state"` // queued, started, completed or cancelled
}

// A RateLimit reports how much of a plan's limits is used.
type RateLimit struct {
	Header
	Info struct {
		RateLimitWindow        `json:",embed"`
		RateLimitType          string                     `json:"rateLimitType"` // five_hour, seven_day, seven_day_opus, seven_day_sonnet, seven_day_overage_included or overage
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
	} `json:"rate_limit_info"`
}

// A RateLimitWindow is one limit and how much of it is used.
type RateLimitWindow struct {
	Status             string  `json:"status"`      // allowed, allowed_warning or rejected
	ResetsAt           int64   `json:"resetsAt"`    // seconds since 1970
	Utilization        float64 `json:"utilization"` // 1 means all
	SurpassedThreshold float64 `json:"surpassedThreshold"`
}
