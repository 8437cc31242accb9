package gemini

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"google.golang.org/genai"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/dialect"
	"github.com/toolpost/toolpost/internal/codec"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/schema"
)

// settings are the members of a request's body beside its contents.
type settings struct {
	SystemInstruction *genai.Content          `json:"systemInstruction,omitempty"`
	Tools             json.RawMessage         `json:"tools,omitempty"`
	ToolConfig        *genai.ToolConfig       `json:"toolConfig,omitempty"`
	GenerationConfig  *genai.GenerationConfig `json:"generationConfig,omitempty"`
}

// A prepared is a request as it is sent, and what its response is read with.
type prepared struct {
	body   []byte
	offer  *offer
	output *dialect.Tool // whose arguments are the structured output; nil for text
	losses []model.Loss
}

// lose reports a loss that no part has.
func (p *prepared) lose(text string) {
	p.losses = append(p.losses, model.Loss{Message: -1, Part: -1, Text: text})
}

// prepare writes the body of a request and checks it.
func (g *generator) prepare(r *model.Request) (*prepared, error) {
	if err := model.Validate(r.Messages); err != nil {
		return nil, err
	}
	o, err := g.offers.of(g, r.Tools)
	if err != nil {
		return nil, err
	}
	p := &prepared{offer: o}
	if o != nil {
		p.losses = append(p.losses, o.losses...)
	}
	h := &history{generator: g, offer: o}
	contents, err := h.write(r.Messages)
	if err != nil {
		return nil, err
	}
	p.losses = append(p.losses, h.losses...)
	s, err := g.settings(r, p)
	if err != nil {
		return nil, err
	}
	rest, err := codec.Encode(s)
	if err != nil {
		return nil, fmt.Errorf("encode request: %w", err)
	}
	// An encoder would change the bytes of raw parts.
	p.body = append(append([]byte(`{"contents":`), contents...), '}')
	if string(rest) != "{}" {
		p.body[len(p.body)-1] = ','
		p.body = append(p.body, rest[1:]...)
	}
	return p, checkContents(contents, g.rules.signed)
}

// settings returns everything but the contents.
func (g *generator) settings(r *model.Request, p *prepared) (*settings, error) {
	thinking, loss, err := g.rules.thinking(g.origin.Model, r.Effort)
	if err != nil {
		return nil, err
	}
	if loss != "" {
		p.lose(loss)
	}
	s, system := &settings{}, r.System
	config := genai.GenerationConfig{ThinkingConfig: thinking, MaxOutputTokens: int32(min(r.MaxTokens, 1<<31-1))}
	if p.offer != nil {
		s.Tools = p.offer.json
	}
	if r.Output != nil {
		output, err := g.requestOutput(r, s, &config, p)
		if err != nil {
			return nil, err
		}
		system = strings.TrimSpace(system + output)
	}
	if r.NoCalls && s.Tools != nil {
		s.ToolConfig = &genai.ToolConfig{FunctionCallingConfig: &genai.FunctionCallingConfig{Mode: genai.FunctionCallingConfigModeNone}}
	}
	if system != "" {
		s.SystemInstruction = &genai.Content{Parts: []*genai.Part{{Text: system}}}
	}
	if thinking != nil || config.MaxOutputTokens > 0 || config.ResponseMIMEType != "" {
		s.GenerationConfig = &config
	}
	return s, nil
}

// requestOutput asks for JSON of the schema r.Output. Models before Gemini 3 refuse JSON
// output and tools in one request: while the model may call tools, the schema is
// an instruction, which it returns; after that, the tools are left out.
func (g *generator) requestOutput(r *model.Request, s *settings, config *genai.GenerationConfig, p *prepared) (instruction string, err error) {
	t, ordered, err := adaptOutput(g.dialect, r.Output)
	if err != nil {
		return "", err
	}
	if s.Tools != nil && !g.rules.jsonWithTools {
		if !r.NoCalls {
			p.lose("the model does not accept tools and a schema of the output in one request; the schema is an instruction")
			return "\n\nWhen you answer without calling a tool, write only JSON of this schema:\n" + string(r.Output.Raw()), nil
		}
		p.lose("the model does not accept tools and a schema of the output in one request; the tools are left out")
		s.Tools = nil
	}
	p.output, config.ResponseMIMEType = t, "application/json"
	if g.dialect.Input.Dialect == "openapi" {
		config.ResponseSchema, err = typedSchema(ordered)
	} else {
		config.ResponseJsonSchema = ordered
	}
	return "", err
}

// adaptOutput adapts the schema of an output as that of the arguments of a tool,
// so that the output is decoded as arguments are.
func adaptOutput(d *dialect.Dialect, output *schema.Schema) (*dialect.Tool, json.RawMessage, error) {
	tool := &toolpost.Tool{Definition: toolpost.Definition{Name: "answer", Description: "The answer.", Input: output}}
	adapted := d.Adapt([]*toolpost.Tool{tool}, nil)
	if len(adapted.Tools) == 0 {
		return nil, nil, fmt.Errorf("adapt the schema of the output: %s", adapted.Withheld[0].Why)
	}
	t := adapted.Tools[0]
	if t.Input == nil {
		return t, json.RawMessage(`{"type":"object"}`), nil
	}
	ordered, err := withOrder(t.Input.Raw())
	if err != nil {
		return nil, nil, fmt.Errorf("adapt the schema of the output: %w", err)
	}
	return t, bytes.Clone(ordered), nil
}
