package message

import (
	"encoding/json"
	"errors"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// A Usage counts the tokens of one turn of the main agent; those of sub-agents
// are in ModelUsage.
type Usage struct {
	InputTokens              int64 `json:"input_tokens"`
	OutputTokens             int64 `json:"output_tokens"`
	CacheCreationInputTokens int64 `json:"cache_creation_input_tokens"`
	CacheReadInputTokens     int64 `json:"cache_read_input_tokens"`
	// OutputTokensDetails count the output tokens by their purpose.
	OutputTokensDetails struct {
		ThinkingTokens int64 `json:"thinking_tokens"`
	} `json:"output_tokens_details"`

	// ServerToolUse counts the calls of tools that the API runs itself.
	ServerToolUse struct {
		WebSearchRequests int64 `json:"web_search_requests"`
		WebFetchRequests  int64 `json:"web_fetch_requests"`
	} `json:"server_tool_use"`

	// CacheCreation counts the tokens written to the cache, by how long they are kept there.
	CacheCreation struct {
		Ephemeral1hInputTokens int64 `json:"ephemeral_1h_input_tokens"`
		Ephemeral5mInputTokens int64 `json:"ephemeral_5m_input_tokens"`
	} `json:"cache_creation"`

	ServiceTier    string          `json:"service_tier"`
	InferenceGeo   string          `json:"inference_geo"`
	Speed          string          `json:"speed"`
	Iterations     json.RawMessage `json:"iterations,omitempty"`
	FallbackCredit json.RawMessage `json:"fallback_credit,omitempty"`
}

// A ModelUsage counts the use of one model, including sub-agents.
type ModelUsage struct {
	InputTokens                         int64   `json:"inputTokens"`
	OutputTokens                        int64   `json:"outputTokens"`
	ThinkingTokens                      int64   `json:"thinkingTokens"`
	CacheReadInputTokens                int64   `json:"cacheReadInputTokens"`
	CacheCreationInputTokens            int64   `json:"cacheCreationInputTokens"`
	CacheCreationEphemeral5mInputTokens int64   `json:"cacheCreationEphemeral5mInputTokens"`
	CacheCreationEphemeral1hInputTokens int64   `json:"cacheCreationEphemeral1hInputTokens"`
	WebSearchRequests                   int64   `json:"webSearchRequests"`
	CostUSD                             float64 `json:"costUSD"`
	ContextWindow                       int64   `json:"contextWindow"`
	MaxOutputTokens                     int64   `json:"maxOutputTokens"`
	CanonicalModel                      string  `json:"canonicalModel,omitempty"`
	Provider                            string  `json:"provider,omitempty"`
	CostBasis                           string  `json:"costBasis,omitempty"` // list, managed or unknown
}

// ParseUsage reads the usage of a result or an answer. It always succeeds: a
// malformed value counts as zero, with a warning. Null means no usage.
func ParseUsage(raw []byte) (u Usage, warnings []string) {
	d := newDecoder()
	if len(raw) == 0 {
		return u, nil
	}
	if err := d.decode(raw, "", &u); err != nil {
		return Usage{}, append(d.warnings, "usage: "+err.Error())
	}
	return u, d.warnings
}

// usage reads a Usage without failing on what it has in it.
func (d *decoder) usage(dec *jsontext.Decoder, to *Usage) error {
	raw, err := d.next(dec)
	if err != nil {
		return err
	}
	at := below(d.at, dec.StackPointer())
	type plain Usage // has no function of its own
	lenient := jsonv2.JoinUnmarshalers(
		jsonv2.UnmarshalFromFunc(d.raw),
		jsonv2.UnmarshalFromFunc(from(d, 0)),
		jsonv2.UnmarshalFromFunc(decodeOrNone(d, '"', &to.Speed)),
		jsonv2.UnmarshalFromFunc(decodeOrNone(d, '{', (*plain)(to))),
		jsonv2.UnmarshalFromFunc(decodeOrNone(d, '{', &to.OutputTokensDetails)),
		jsonv2.UnmarshalFromFunc(decodeOrNone(d, '{', &to.ServerToolUse)),
		jsonv2.UnmarshalFromFunc(decodeOrNone(d, '{', &to.CacheCreation)),
	)
	return d.decodeWith(with(lenient), raw, at, (*plain)(to))
}

// modelUsage reads a ModelUsage, as its counts cannot be below 0.
func (d *decoder) modelUsage(dec *jsontext.Decoder, to *ModelUsage) error {
	raw, err := d.next(dec)
	if err != nil {
		return err
	}
	type plain ModelUsage // has no function of its own
	numbers := jsonv2.JoinUnmarshalers(jsonv2.UnmarshalFromFunc(from(d, 0)), jsonv2.UnmarshalFromFunc(d.float))
	return d.decodeWith(with(numbers), raw, below(d.at, dec.StackPointer()), (*plain)(to))
}

// decodeOrNone reads a T, as the third argument is one, from values of one kind; others are
// none, with a warning unless it is null.
func decodeOrNone[T any](d *decoder, kind jsontext.Kind, _ *T) func(*jsontext.Decoder, *T) error {
	return func(dec *jsontext.Decoder, to *T) error {
		if dec.PeekKind() == kind {
			return errors.ErrUnsupported
		}
		v, err := dec.ReadValue()
		if err != nil {
			return err
		}
		if v.Kind() != 'n' {
			d.warn(dec.StackPointer(), v, "none")
		}
		*to = *new(T)
		return nil
	}
}
