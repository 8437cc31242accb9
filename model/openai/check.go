package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/toolpost/toolpost/model/internal/provider"
)

// maxTools is the number of tools that a request may have.
const maxTools = 128

// A wireTool is a tool of either API.
type wireTool struct {
	Type     string          `json:"type"`
	Function *wireTool       `json:"function"` // of Chat Completions
	Name     string          `json:"name"`
	Strict   bool            `json:"strict"`
	Schema   json.RawMessage `json:"parameters"`
}

// checkResponses returns the reason why the Responses API would refuse the body of a
// request that contains its whole conversation: a call without exactly one
// output, reasoning without the item that it led to, a name, an id or a schema
// that is not allowed, or a message without content. The error says where.
func checkResponses(body []byte) error {
	var r struct {
		Model      string            `json:"model"`
		Input      []json.RawMessage `json:"input"`
		Tools      []wireTool        `json:"tools"`
		ToolChoice json.RawMessage   `json:"tool_choice"`
		Text       struct {
			Format wireFormat `json:"format"`
		} `json:"text"`
	}
	if err := json.Unmarshal(body, &r); err != nil {
		return fmt.Errorf("decode the request: %w", err)
	}
	if r.Model == "" {
		return errors.New("model: is empty")
	}
	if err := checkTools(r.Tools, r.ToolChoice); err != nil {
		return err
	}
	if err := r.Text.Format.check(); err != nil {
		return fmt.Errorf("text.format: %w", err)
	}
	return checkInput(r.Input)
}

// A wireFormat is the format of a structured answer.
type wireFormat struct {
	Type   string          `json:"type"`
	Name   string          `json:"name"`
	Strict bool            `json:"strict"`
	Schema json.RawMessage `json:"schema"`
}

func (f wireFormat) check() error {
	if f.Type != "json_schema" {
		return nil
	}
	if err := checkName(f.Name); err != nil {
		return err
	}
	return checkSchema(f.Schema, f.Strict)
}

// checkTools checks the tools of either API. It ignores those that are not
// functions.
func checkTools(tools []wireTool, choice json.RawMessage) error {
	if len(tools) == 0 && isPresent(choice) {
		return errors.New("tool_choice: there are no tools")
	}
	names := map[string]bool{}
	functions := 0
	for i, t := range tools {
		if t.Type != "function" {
			continue
		}
		functions++
		if t.Function != nil {
			t = *t.Function
		}
		if err := checkName(t.Name); err != nil {
			return fmt.Errorf("tools[%d]: %w", i, err)
		}
		if names[t.Name] {
			return fmt.Errorf("tools[%d]: two tools have the name %q", i, t.Name)
		}
		names[t.Name] = true
		if !isPresent(t.Schema) {
			continue
		}
		if err := checkSchema(t.Schema, t.Strict); err != nil {
			return fmt.Errorf("tools[%d] (%s): %w", i, t.Name, err)
		}
	}
	if functions > maxTools {
		return fmt.Errorf("tools: there are %d functions, at most %d are accepted", functions, maxTools)
	}
	return nil
}

// A wireItem is an item of the input.
type wireItem struct {
	Type      string          `json:"type"`
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"`
	ID        string          `json:"id"`
	CallID    string          `json:"call_id"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
	Output    json.RawMessage `json:"output"`
	Summary   json.RawMessage `json:"summary"`
}

// outputOf maps the types of items that need an output to the types of these.
func outputOf(call string) string {
	switch call {
	case "function_call", "custom_tool_call", "computer_call", "local_shell_call":
		return call + "_output"
	}
	return ""
}

// checkInput checks the items of a conversation.
func checkInput(input []json.RawMessage) error {
	if len(input) == 0 {
		return errors.New("input: is empty")
	}
	open := map[string]string{} // types of outputs by the ids of calls
	thinking := false           // the item before is reasoning
	for i, raw := range input {
		var item wireItem
		if err := json.Unmarshal(raw, &item); err != nil {
			return fmt.Errorf("input[%d]: %w", i, err)
		}
		if item.Type == "" && item.Role != "" {
			item.Type = "message"
		}
		if thinking && !item.isOutput() {
			return fmt.Errorf("input[%d]: the reasoning before is not followed by the item that it led to", i)
		}
		thinking = item.Type == "reasoning"
		if err := item.check(); err != nil {
			return fmt.Errorf("input[%d]: %w", i, err)
		}
		if err := item.match(open); err != nil {
			return fmt.Errorf("input[%d]: %w", i, err)
		}
	}
	if thinking {
		return fmt.Errorf("input[%d]: reasoning is the last item", len(input)-1)
	}
	for id := range open {
		return fmt.Errorf("input: the call %q has no output", id)
	}
	return nil
}

// isOutput reports whether the model or its provider wrote the item.
func (i *wireItem) isOutput() bool {
	if i.Type == "message" {
		return i.Role == "assistant"
	}
	return callOf(i.Type) == ""
}

// callOf maps the types of outputs to those of their calls.
func callOf(output string) string {
	call := strings.TrimSuffix(output, "_output")
	if outputOf(call) != output || output == "" {
		return ""
	}
	return call
}

// match opens a call, or closes it with its output.
func (i *wireItem) match(open map[string]string) error {
	if want := outputOf(i.Type); want != "" {
		if open[i.CallID] != "" {
			return fmt.Errorf("two calls have the call_id %q", i.CallID)
		}
		open[i.CallID] = want
		return nil
	}
	if callOf(i.Type) == "" {
		return nil
	}
	if open[i.CallID] != i.Type {
		return fmt.Errorf("no open call has the call_id %q of this output", i.CallID)
	}
	delete(open, i.CallID)
	return nil
}

// check checks an item by itself.
func (i *wireItem) check() error {
	if outputOf(i.Type) != "" || callOf(i.Type) != "" {
		if err := checkID(i.CallID); err != nil {
			return err
		}
	}
	switch i.Type {
	case "":
		return errors.New("the item has no type")
	case "message":
		return i.checkMessage()
	case "function_call":
		return i.checkCall()
	case "function_call_output":
		return checkContent(i.Output, true, "input_text", "input_image", "input_file")
	case "reasoning":
		if !bytes.HasPrefix(i.Summary, []byte("[")) {
			return errors.New("the reasoning has no list summary")
		}
	case "item_reference":
		return errors.New("a reference to an item needs one that the server stored")
	}
	return nil
}

// checkID checks the id of a call.
func checkID(id string) error {
	if id == "" || len(id) > maxID {
		return fmt.Errorf("the id %q of the call has not between 1 and %d characters", id, maxID)
	}
	return nil
}

func (i *wireItem) checkCall() error {
	if !bytes.HasPrefix(i.Arguments, []byte(`"`)) {
		return errors.New("arguments is not a string")
	}
	return checkName(i.Name)
}

// checkName checks the name of a function or a format.
func checkName(name string) error {
	if !provider.IsName(name, maxName) {
		return fmt.Errorf("the name %q does not match ^[a-zA-Z0-9_-]{1,%d}$", name, maxName)
	}
	return nil
}

func (i *wireItem) checkMessage() error {
	switch i.Role {
	case "assistant":
		if i.ID != "" { // as the model wrote it
			return checkContent(i.Content, true)
		}
		return checkContent(i.Content, false, "output_text", "refusal")
	case "user", "system", "developer":
		return checkContent(i.Content, false, "input_text", "input_image", "input_file")
	}
	return fmt.Errorf("the role %q is not known", i.Role)
}

// A wireContent is a piece of content of either API.
type wireContent struct {
	Type     string          `json:"type"`
	Text     string          `json:"text"`
	Refusal  string          `json:"refusal"`
	ImageURL json.RawMessage `json:"image_url"`
	FileID   string          `json:"file_id"`
	FileURL  string          `json:"file_url"`
	FileData string          `json:"file_data"`
	Filename string          `json:"filename"`
	File     *wireContent    `json:"file"`
}

// checkContent checks a string or a list of content of the given types, or of
// any if none is given. Only content that may be empty can be.
func checkContent(raw json.RawMessage, mayBeEmpty bool, types ...string) error {
	var text string
	var list []wireContent
	switch {
	case !isPresent(raw):
	case json.Unmarshal(raw, &text) == nil:
		if text == "" && !mayBeEmpty {
			return errors.New("the content is empty")
		}
		return nil
	case json.Unmarshal(raw, &list) == nil:
		return checkList(list, mayBeEmpty, types)
	}
	return errors.New("the content is not a string or a list")
}

func checkList(list []wireContent, mayBeEmpty bool, types []string) error {
	if len(list) == 0 && !mayBeEmpty {
		return errors.New("the content is an empty list")
	}
	for n, c := range list {
		if len(types) > 0 && !slices.Contains(types, c.Type) {
			return fmt.Errorf("content[%d]: the type %q is not accepted here", n, c.Type)
		}
		if err := c.check(mayBeEmpty); err != nil {
			return fmt.Errorf("content[%d]: %w", n, err)
		}
	}
	return nil
}

func (c *wireContent) check(mayBeEmpty bool) error {
	switch c.Type {
	case "input_text", "text":
		if c.Text == "" && !mayBeEmpty {
			return errors.New("the text is empty")
		}
	case "input_image", "image_url":
		if c.FileID == "" && !hasImage(c.ImageURL) {
			return errors.New("image_url is not an address of an image")
		}
	case "input_file":
		return c.checkFile()
	case "file":
		if c.File == nil {
			return errors.New("there is no file")
		}
		return c.File.checkFile()
	}
	return nil
}

func (c *wireContent) checkFile() error {
	if c.FileID != "" || c.FileURL != "" {
		return nil
	}
	if !strings.HasPrefix(c.FileData, "data:") || c.Filename == "" {
		return errors.New("the file has no data: URL with a file name")
	}
	return nil
}

// hasImage reports whether raw is the address of an image, or an object with it.
func hasImage(raw json.RawMessage) bool {
	var address string
	if json.Unmarshal(raw, &address) != nil {
		var object struct{ URL string }
		if json.Unmarshal(raw, &object) != nil {
			return false
		}
		address = object.URL
	}
	data, isData := strings.CutPrefix(address, "data:image/")
	if !isData {
		return strings.HasPrefix(address, "https://") || strings.HasPrefix(address, "http://")
	}
	_, encoded, ok := strings.Cut(data, ";base64,")
	return ok && encoded != ""
}
