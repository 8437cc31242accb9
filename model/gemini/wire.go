package gemini

import "encoding/json"

// The roles of contents.
const (
	roleUser  = "user"
	roleModel = "model"
)

// settings are the members of a request's body beside its contents. Members of this and
// of the types below that this package never writes are left out.
type settings struct {
	SystemInstruction *instruction      `json:"systemInstruction,omitempty"`
	Tools             json.RawMessage   `json:"tools,omitempty"`
	ToolConfig        *toolConfig       `json:"toolConfig,omitempty"`
	GenerationConfig  *generationConfig `json:"generationConfig,omitempty"`
}

type instruction struct {
	Parts []textPart `json:"parts"`
}

type toolConfig struct {
	FunctionCallingConfig functionCallingConfig `json:"functionCallingConfig"`
}

type functionCallingConfig struct {
	Mode string `json:"mode"`
}

type generationConfig struct {
	ResponseJSONSchema json.RawMessage `json:"responseJsonSchema,omitempty"` // or ResponseSchema
	MaxOutputTokens    int32           `json:"maxOutputTokens,omitempty"`
	ResponseMIMEType   string          `json:"responseMimeType,omitempty"`
	ResponseSchema     *typedSchema    `json:"responseSchema,omitempty"`
	ThinkingConfig     *thinkingConfig `json:"thinkingConfig,omitempty"`
}

type thinkingConfig struct {
	IncludeThoughts bool   `json:"includeThoughts,omitempty"`
	ThinkingBudget  *int32 `json:"thinkingBudget,omitempty"` // of tokens; or ThinkingLevel
	ThinkingLevel   string `json:"thinkingLevel,omitempty"`
}

// A functionTool is one tool that consists of functions.
type functionTool struct {
	FunctionDeclarations []functionDeclaration `json:"functionDeclarations"`
}

type functionDeclaration struct {
	Description          string          `json:"description,omitempty"`
	Name                 string          `json:"name"`
	Parameters           *typedSchema    `json:"parameters,omitempty"`
	ParametersJSONSchema json.RawMessage `json:"parametersJsonSchema,omitempty"` // or Parameters
}

// A typedSchema is the API's own type of a schema, for which its dialects are called
// "openapi". Google refuses a request with other members, and so does decoding here.
type typedSchema struct {
	AnyOf            []*typedSchema          `json:"anyOf,omitempty"`
	Default          any                     `json:"default,omitempty"`
	Description      string                  `json:"description,omitempty"`
	Enum             []string                `json:"enum,omitempty"`
	Example          any                     `json:"example,omitempty"`
	Format           string                  `json:"format,omitempty"`
	Items            *typedSchema            `json:"items,omitempty"`
	MaxItems         *int64                  `json:"maxItems,omitempty"`
	MaxLength        *int64                  `json:"maxLength,omitempty"`
	MaxProperties    *int64                  `json:"maxProperties,omitempty"`
	Maximum          *float64                `json:"maximum,omitempty"`
	MinItems         *int64                  `json:"minItems,omitempty"`
	MinLength        *int64                  `json:"minLength,omitempty"`
	MinProperties    *int64                  `json:"minProperties,omitempty"`
	Minimum          *float64                `json:"minimum,omitempty"`
	Nullable         *bool                   `json:"nullable,omitempty"`
	Pattern          string                  `json:"pattern,omitempty"`
	Properties       map[string]*typedSchema `json:"properties,omitempty"`
	PropertyOrdering []string                `json:"propertyOrdering,omitempty"`
	Required         []string                `json:"required,omitempty"`
	Title            string                  `json:"title,omitempty"`
	Type             string                  `json:"type,omitempty"`
}

// The parts of a content. A part has one member.
type (
	textPart struct {
		Text string `json:"text"`
	}
	inlinePart struct {
		InlineData blob `json:"inlineData"`
	}
	responsePart struct {
		FunctionResponse functionResponse `json:"functionResponse"`
	}
)

// A blob is data of a type.
type blob struct {
	Data     []byte `json:"data,omitempty"`
	MIMEType string `json:"mimeType,omitempty"`
}

// A functionResponse is the result of a call.
type functionResponse struct {
	Parts    []mediaPart       `json:"parts,omitempty"`
	ID       string            `json:"id,omitempty"` // of the call; empty if that has none
	Name     string            `json:"name,omitempty"`
	Response map[string]string `json:"response"`
}

// A mediaPart is an image or a document in the result of a call.
type mediaPart struct {
	InlineData mediaBlob `json:"inlineData"`
}

// A mediaBlob is a blob whose members are in the order that they always had here, so that
// what providers have cached of a conversation remains valid.
type mediaBlob struct {
	MIMEType string `json:"mimeType,omitempty"`
	Data     []byte `json:"data,omitempty"`
}
