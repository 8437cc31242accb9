package message

import "encoding/json"

// A StreamEvent is a part of an answer while the model writes it. The CLI sends
// these if partial messages are requested.
type StreamEvent struct {
	Header           `json:",embed"`
	Agent            `json:",embed"`
	Event            json.RawMessage `json:"event"` // as the API sent it
	Kind             string          `json:"-"`     // the event's type: message_start, message_delta, message_stop, content_block_start, content_block_delta or content_block_stop
	Index            int64           `json:"-"`     // of the content block
	Block            Block           `json:"-"`     // of a content_block_start
	Delta            Delta           `json:"-"`     // of a content_block_delta or message_delta
	Usage            Usage           `json:"-"`     // of a message_start or message_delta
	APIMessageID     string          `json:"api_message_id"`
	TTFTMS           int64           `json:"ttft_ms"` // time to the first token, of a message_start
	ThinkingDisplay  string          `json:"thinking_display"`
	AbandonedBlocks  json.RawMessage `json:"abandoned_blocks"`
	OwedRows         json.RawMessage `json:"owed_rows"`
	UserMessageUUID  string          `json:"user_message_uuid"`
	UserMessageUUIDs []string        `json:"user_message_uuids"`
	ResumeReason     string          `json:"resume_reason"`
}

// A Delta is the content that an event adds.
type Delta struct {
	Type        string          `json:"type"` // text_delta, thinking_delta, input_json_delta, signature_delta, citations_delta or compaction_delta
	Text        string          `json:"text"`
	Thinking    string          `json:"thinking"`
	PartialJSON string          `json:"partial_json"`
	Signature   string          `json:"signature"`
	Citation    json.RawMessage `json:"citation"`
	StopReason  string          `json:"stop_reason"`
}

func (m *StreamEvent) finish(d *decoder) error {
	var event struct {
		Type    string `json:"type"`
		Index   int64  `json:"index"`
		Block   Block  `json:"content_block"`
		Delta   Delta  `json:"delta"`
		Usage   Usage  `json:"usage"`
		Message struct {
			Usage Usage `json:"usage"`
		} `json:"message"`
	}
	if err := d.part(m.Event, "event", &event, "type"); err != nil {
		return err
	}
	m.Kind, m.Index, m.Block, m.Delta, m.Usage = event.Type, event.Index, event.Block, event.Delta, event.Usage
	if m.Kind == "message_start" {
		m.Usage = event.Message.Usage
	}
	return nil
}
