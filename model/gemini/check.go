package gemini

import (
	"encoding/json"
	"fmt"
	"slices"
)

// check returns the reason why Google would refuse the body of a request to
// generate content: because of its history, its tools or the schema of its
// output. It does not know the model, so it looks for thought signatures only if
// the body has a thinking level, which is for models since Gemini 3.
func check(body []byte) error {
	var b struct {
		Contents         json.RawMessage `json:"contents"`
		Tools            json.RawMessage `json:"tools"`
		GenerationConfig struct {
			ResponseMIMEType   string          `json:"responseMimeType"`
			ResponseSchema     json.RawMessage `json:"responseSchema"`
			ResponseJSONSchema json.RawMessage `json:"responseJsonSchema"`
			ThinkingConfig     struct {
				ThinkingLevel string `json:"thinkingLevel"`
			} `json:"thinkingConfig"`
		} `json:"generationConfig"`
	}
	if err := json.Unmarshal(body, &b); err != nil {
		return fmt.Errorf("the body is not a request: %w", err)
	}
	config := &b.GenerationConfig
	if err := checkContents(b.Contents, config.ThinkingConfig.ThinkingLevel != ""); err != nil {
		return err
	}
	if err := checkTools(b.Tools, nil); err != nil {
		return err
	}
	if (config.ResponseSchema != nil || config.ResponseJSONSchema != nil) && config.ResponseMIMEType != "application/json" {
		return fmt.Errorf("generationConfig: the output has a schema, so responseMimeType must be application/json, not %q", config.ResponseMIMEType)
	}
	return checkSchemas("generationConfig", "answer", config.ResponseSchema, config.ResponseJSONSchema, nil, outputOff())
}

// A content is what checkContents reads of one.
type content struct {
	Role  string            `json:"role"`
	Parts []json.RawMessage `json:"parts"`
}

// checkContents checks the history. Signed reports whether the first call of a
// step needs a signature.
func checkContents(raw json.RawMessage, signed bool) error {
	var contents []content
	if err := json.Unmarshal(raw, &contents); err != nil {
		return fmt.Errorf("contents is not a list of contents: %w", err)
	}
	if len(contents) == 0 {
		return fmt.Errorf("contents is empty")
	}
	var open []call
	for i, c := range contents {
		want := roleUser
		if i%2 == 1 {
			want = roleModel
		}
		if c.Role != want {
			return fmt.Errorf("contents[%d]: the role is %q; roles alternate, beginning with the user's, so it must be %q", i, c.Role, want)
		}
		calls, responses, err := checkParts(&c, signed)
		if err == nil {
			err = checkResponses(open, responses)
		}
		if err != nil {
			return fmt.Errorf("contents[%d]: %w", i, err)
		}
		open = calls
	}
	if contents[len(contents)-1].Role != roleUser {
		return fmt.Errorf("contents[%d], the last, is the model's", len(contents)-1)
	}
	return nil
}

// A call is a function call or a response, as far as they must match.
type call struct {
	ID       string          `json:"id"`
	Name     string          `json:"name"`
	Response json.RawMessage `json:"response"`
}

// checkParts returns the calls and the responses of a content.
func checkParts(c *content, signed bool) (calls, responses []call, err error) {
	if len(c.Parts) == 0 {
		return nil, nil, fmt.Errorf("parts is empty")
	}
	for i, raw := range c.Parts {
		data, err := dataOf(raw)
		if err == nil {
			err = data.check(c.Role, signed && len(calls) == 0)
		}
		if err != nil {
			return nil, nil, fmt.Errorf("parts[%d]: %w", i, err)
		}
		switch {
		case data.FunctionCall != nil:
			calls = append(calls, *data.FunctionCall)
		case data.FunctionResponse != nil:
			responses = append(responses, *data.FunctionResponse)
		}
	}
	return calls, responses, nil
}

// A partData is what is checked of a part.
type partData struct {
	Text             *string `json:"text"`
	ThoughtSignature string  `json:"thoughtSignature"`
	FunctionCall     *call   `json:"functionCall"`
	FunctionResponse *call   `json:"functionResponse"`
}

// dataOf reads a part, which has exactly one member with data. Members that are
// not known may be data.
func dataOf(raw json.RawMessage) (*partData, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil || members == nil {
		return nil, fmt.Errorf("the part is not an object: %.60s", raw)
	}
	known, other := 0, 0
	for name := range members {
		switch name {
		case "text", "inlineData", "fileData", "functionCall", "functionResponse", "executableCode",
			"codeExecutionResult", "toolCall", "toolResponse":
			known++
		case "thoughtSignature": // it may come alone
			other++
		case "thought", "videoMetadata", "partMetadata", "mediaResolution",
			"audioTranscription", "mediaProcessing", "speechMetadata":
		default:
			other++
		}
	}
	if known > 1 || known+other == 0 {
		return nil, fmt.Errorf("the part has %d members with data; it needs one: %.60s", known, raw)
	}
	p := new(partData)
	if err := decode(raw, p); err != nil {
		return nil, err
	}
	return p, nil
}

// check checks a part of a content with the role.
func (p *partData) check(role string, signed bool) error {
	switch {
	case p.Text != nil && *p.Text == "" && role == roleUser:
		return fmt.Errorf("the text is empty")
	case p.FunctionCall != nil && role != roleModel:
		return fmt.Errorf("the user calls a function")
	case p.FunctionCall != nil && p.FunctionCall.Name == "":
		return fmt.Errorf("the function call has no name")
	case p.FunctionCall != nil && signed && p.ThoughtSignature == "":
		return fmt.Errorf("the first function call, %q, has no thoughtSignature", p.FunctionCall.Name)
	case p.FunctionResponse != nil && role != roleUser:
		return fmt.Errorf("the model answers a function call")
	case p.FunctionResponse != nil && checkRaw(p.FunctionResponse.Response) != nil:
		return fmt.Errorf("the response of %q is not an object", p.FunctionResponse.Name)
	}
	return nil
}

// checkResponses checks that each call has one response with its name and id, and
// that there are no others.
func checkResponses(calls, responses []call) error {
	if len(calls) != len(responses) {
		return fmt.Errorf("there are %d function responses to the %d function calls of the content before", len(responses), len(calls))
	}
	left := slices.Clone(responses)
	for _, c := range calls {
		at := slices.IndexFunc(left, func(r call) bool { return r.Name == c.Name && r.ID == c.ID })
		if at < 0 {
			return fmt.Errorf("the function call %q with the id %q has no response", c.Name, c.ID)
		}
		left = slices.Delete(left, at, at+1)
	}
	return nil
}
