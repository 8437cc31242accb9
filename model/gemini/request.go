package gemini

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/toolpost/toolpost/internal/codec"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/internal/provider"
	"github.com/toolpost/toolpost/schema/dialect"
)

// A prepared is a request as it is sent, and what its response is read with.
type preparedRequest struct {
	body   []byte
	tools  *toolset
	output *dialect.Lowered // converts structured output back; nil for text
	losses provider.Losses
}

// prepare writes the body of a request and checks it.
func (g *generator) prepare(r *model.Request) (*preparedRequest, error) {
	if err := cmp.Or(g.unusable, r.Validate()); err != nil {
		return nil, err
	}
	ts, err := g.toolset(r.Tools)
	if err != nil {
		return nil, err
	}
	h := &history{generator: g, tools: ts, losses: ts.Losses()}
	contents, err := h.write(r.Messages)
	if err != nil {
		return nil, err
	}
	p := &preparedRequest{tools: ts, losses: h.losses}
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
func (g *generator) settings(r *model.Request, p *preparedRequest) (*settings, error) {
	thinking, loss, err := g.rules.thinking(g.origin.Model, r.Effort)
	if err != nil {
		return nil, err
	}
	if loss != "" {
		p.losses.Add(-1, -1, "%s", loss)
	}
	s, system := &settings{Tools: p.tools.json}, r.System
	config := generationConfig{ThinkingConfig: thinking, MaxOutputTokens: int32(min(r.MaxTokens, 1<<31-1))}
	if r.Output != nil {
		instruction, err := g.requestOutput(r, s, &config, p)
		if err != nil {
			return nil, err
		}
		system = strings.TrimSpace(system + instruction)
	}
	if r.NoCalls && s.Tools != nil {
		s.ToolConfig = &toolConfig{functionCallingConfig{Mode: "NONE"}}
	}
	if system != "" {
		s.SystemInstruction = &instruction{[]textPart{{system}}}
	}
	if thinking != nil || config.MaxOutputTokens > 0 || config.ResponseMIMEType != "" {
		s.GenerationConfig = &config
	}
	return s, nil
}
