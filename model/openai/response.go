package openai

import "encoding/json"

// A responseEvent is an event of a stream of the Responses API.
type responseEvent struct {
	Type         looseText       `json:"type"`
	OutputIndex  looseInt        `json:"output_index"`
	SummaryIndex looseInt        `json:"summary_index"`
	Delta        looseText       `json:"delta"`
	Item         json.RawMessage `json:"item"`
	Response     response        `json:"response"`
}

// A response is the response of the Responses API, as the last event of a stream or a
// server that does not stream writes it.
type response struct {
	ID                looseText         `json:"id"`
	Object            looseText         `json:"object"`
	Model             looseText         `json:"model"`
	Status            looseText         `json:"status"`
	Error             json.RawMessage   `json:"error"`
	Output            []json.RawMessage `json:"output"`
	Usage             responseUsage     `json:"usage"`
	IncompleteDetails struct {
		Reason looseText `json:"reason"`
	} `json:"incomplete_details"`
}

// A responseUsage is what the Responses API counts.
type responseUsage struct {
	InputTokens  looseInt `json:"input_tokens"`
	InputDetails struct {
		CachedTokens      looseInt `json:"cached_tokens"`
		CacheWriteTokens  looseInt `json:"cache_write_tokens"`
		CacheWriteDetails struct {
			Ttl12hTokens looseInt `json:"ttl_12h_tokens"`
		} `json:"cache_write_tokens_details"`
	} `json:"input_tokens_details"`
	OutputTokens  looseInt `json:"output_tokens"`
	OutputDetails struct {
		ReasoningTokens looseInt `json:"reasoning_tokens"`
	} `json:"output_tokens_details"`
}

// An itemHead is how an output item begins.
type itemHead struct {
	Type looseText `json:"type"`
	Name looseText `json:"name"`
}

// headOf returns the head of an output item, an empty one if the item has none.
func headOf(item json.RawMessage) itemHead {
	var h itemHead
	_ = json.Unmarshal(item, &h)
	return h
}
