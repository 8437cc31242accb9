package gemini

import (
	"encoding/json"
	"fmt"

	"github.com/toolpost/toolpost/internal/jsontree"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/internal/provider"
)

// requestOutput asks for JSON of the schema r.Output. It returns an instruction
// with the schema if the model cannot enforce it. Models before Gemini 3 refuse
// JSON output and tools in one request: while the model may call tools, the
// schema is such an instruction; after that, the tools are left out.
func (g *generator) requestOutput(r *model.Request, s *settings, config *generationConfig, p *preparedRequest) (instruction string, err error) {
	instruction = provider.OutputInstruction(r.Output)
	if s.Tools != nil && !g.rules.jsonWithTools {
		if !r.NoCalls {
			p.losses.Add(-1, -1, "the model does not accept tools and a schema of the answer in one request; it reads the schema as an instruction")
			return instruction, nil
		}
		p.losses.Add(-1, -1, "the model does not accept tools and a schema of the answer in one request; the tools are left out")
		s.Tools = nil
	}
	lowered := g.dialect.LowerValue(r.Output)
	if why := p.losses.AddSchema(lowered); why != "" {
		p.losses.Add(-1, -1, "the provider cannot enforce the schema of the answer (%s); the model reads it as an instruction", why)
		return instruction, nil
	}
	adapted := lowered.Schema
	if adapted == nil {
		adapted = json.RawMessage(`{"type":"object"}`)
	}
	ordered, err := OrderProperties(adapted)
	if err != nil {
		return "", fmt.Errorf("schema of the answer: %w", err)
	}
	p.output, config.ResponseMIMEType = lowered, "application/json"
	if isTyped(g.dialect) {
		config.ResponseSchema, err = parseTyped(ordered)
	} else {
		config.ResponseJSONSchema = ordered
	}
	if err != nil {
		return "", err
	}
	return "", checkSchema("generationConfig", "answer", ordered, g.dialect, outputOff())
}

// decodeOutput converts structured output to the shape of the schema of the
// request. The raw forms remain as they are.
func (p *preparedRequest) decodeOutput(m *model.Message) {
	if p.output == nil || p.output.Identity() || len(m.Calls()) > 0 {
		return
	}
	text := json.RawMessage(m.Text())
	if _, err := jsontree.Parse(text, maxLevels); err != nil {
		return // it is not complete, or not JSON
	}
	decoded, _ := p.output.Decode(text)
	for i := range m.Parts {
		if part := &m.Parts[i]; part.Type == model.TypeText {
			part.Text, decoded = string(decoded), nil
		}
	}
}

// maxLevels limits the nesting of structured output.
const maxLevels = 1000
