package message

import "encoding/json"

// A Task identifies a sub-agent or another background task.
type Task struct {
	TaskID       string `json:"task_id"`
	RunID        string `json:"run_id,omitempty"`
	ToolUseID    string `json:"tool_use_id,omitempty"` // the call that started it
	TaskType     string `json:"task_type,omitempty"`   // local_agent, local_workflow, …
	SubagentType string `json:"subagent_type,omitempty"`
	Description  string `json:"description,omitempty"`
	ParentTaskID string `json:"parent_task_id,omitempty"`
	Ambient      bool   `json:"ambient,omitempty"`
}

// A TaskUsage counts the resources that a task has used.
type TaskUsage struct {
	TotalTokens int64 `json:"total_tokens"`
	ToolUses    int64 `json:"tool_uses"`
	DurationMS  int64 `json:"duration_ms"`
}

// A TaskStarted reports that a sub-agent or another background task has
// started.
type TaskStarted struct {
	Header
	Task
	IsBackgrounded bool   `json:"is_backgrounded"`
	SpawnDepth     int64  `json:"spawn_depth"`
	WorkflowName   string `json:"workflow_name"`
	Prompt         string `json:"prompt"`
	SkipTranscript bool   `json:"skip_transcript"`
}

// A TaskProgress reports the progress of a background task.
type TaskProgress struct {
	Header
	Task
	Usage        TaskUsage `json:"usage"`
	LastToolName string    `json:"last_tool_name"`
	Summary      string    `json:"summary"`
}

// A TaskUpdated reports the changes of a background task.
type TaskUpdated struct {
	Header
	Task

	// Patch contains the changed fields of the task; empty fields did not change.
	Patch struct {
		Status         string  `json:"status"` // pending, running, completed, failed, killed or paused
		Description    string  `json:"description"`
		EndTime        float64 `json:"end_time"`
		TotalPausedMS  int64   `json:"total_paused_ms"`
		Error          string  `json:"error"`
		IsBackgrounded *bool   `json:"is_backgrounded"`
	} `json:"patch"`
}

// A TaskNotification reports that a background task has ended.
type TaskNotification struct {
	Header
	Task
	Status          string          `json:"status"` // completed, failed or stopped
	Reason          string          `json:"reason"`
	Summary         string          `json:"summary"`
	SummaryIsReport bool            `json:"summary_is_report"` // the summary is the sub-agent's answer
	OutputFile      string          `json:"output_file"`
	Usage           *TaskUsage      `json:"usage"`
	ResourceLinks   json.RawMessage `json:"resource_links"`
	SkipTranscript  bool            `json:"skip_transcript"`
}

// A BackgroundTasksChanged lists the background tasks after a change.
type BackgroundTasksChanged struct {
	Header
	Tasks []Task `json:"tasks"`
}
