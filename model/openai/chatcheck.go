package openai

import (
	"encoding/json"
	"errors"
	"fmt"
)

// A chatMessage is a message of a request.
type chatMessage struct {
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"`
	Refusal   string          `json:"refusal"`
	CallID    string          `json:"tool_call_id"`
	ToolCalls []struct {
		ID       string `json:"id"`
		Type     string `json:"type"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

// checkChat returns the reason why the Chat Completions API would refuse the
// body of a request: a call that is not followed by exactly one message with its
// result before anything else, a name, an id, arguments or a schema that are not
// allowed, or a message without content. The error says where.
func checkChat(body []byte) error {
	var r struct {
		Model    string          `json:"model"`
		Messages []chatMessage   `json:"messages"`
		Tools    []wireTool      `json:"tools"`
		Choice   json.RawMessage `json:"tool_choice"`
		Format   struct {
			Type   string     `json:"type"`
			Schema wireFormat `json:"json_schema"`
		} `json:"response_format"`
	}
	if err := json.Unmarshal(body, &r); err != nil {
		return fmt.Errorf("decode the request: %w", err)
	}
	if r.Model == "" {
		return errors.New("model: is empty")
	}
	if err := checkTools(r.Tools, r.Choice); err != nil {
		return err
	}
	r.Format.Schema.Type = r.Format.Type
	if err := r.Format.Schema.check(); err != nil {
		return fmt.Errorf("response_format: %w", err)
	}
	return checkMessages(r.Messages)
}

// checkMessages checks a conversation.
func checkMessages(messages []chatMessage) error {
	open := map[string]bool{}
	asked := false // there is a message of the user
	for i := range messages {
		m := &messages[i]
		if m.Role != "tool" && len(open) > 0 {
			return fmt.Errorf("messages[%d]: %d calls before have no result", i, len(open))
		}
		if err := m.check(open); err != nil {
			return fmt.Errorf("messages[%d]: %w", i, err)
		}
		asked = asked || m.Role == "user"
	}
	switch {
	case !asked:
		return errors.New("messages: there is none of the user")
	case len(open) > 0:
		return fmt.Errorf("messages: %d calls at the end have no result", len(open))
	}
	return nil
}

// check checks one message. Open are the ids of the calls that have no result
// yet.
func (m *chatMessage) check(open map[string]bool) error {
	switch m.Role {
	case "system", "developer":
		return checkContent(m.Content, false, "text")
	case "user":
		return checkContent(m.Content, false, "text", "image_url", "file", "input_audio")
	case "assistant":
		return m.checkAssistant(open)
	case "tool":
		if !open[m.CallID] {
			return fmt.Errorf("no open call has the id %q of this result", m.CallID)
		}
		delete(open, m.CallID)
		return checkContent(m.Content, true, "text")
	}
	return fmt.Errorf("the role %q is not known", m.Role)
}

func (m *chatMessage) checkAssistant(open map[string]bool) error {
	if err := m.checkAnswer(); err != nil {
		return err
	}
	for i, c := range m.ToolCalls {
		var arguments map[string]json.RawMessage
		err := errors.Join(checkID(c.ID), checkName(c.Function.Name))
		switch {
		case err != nil:
		case open[c.ID]:
			err = fmt.Errorf("two calls have the id %q", c.ID)
		case c.Type != "function":
			err = fmt.Errorf("the type is %q", c.Type)
		case json.Unmarshal([]byte(c.Function.Arguments), &arguments) != nil || arguments == nil:
			err = errors.New("the arguments are not the text of a JSON object")
		}
		if err != nil {
			return fmt.Errorf("tool_calls[%d]: %w", i, err)
		}
		open[c.ID] = true
	}
	return nil
}

// checkAnswer checks the content of the assistant, which only calls and a
// refusal can replace. A list may have types of the server's own.
func (m *chatMessage) checkAnswer() error {
	replaced := len(m.ToolCalls) > 0 || m.Refusal != ""
	content := string(m.Content)
	switch {
	case replaced && !isPresent(m.Content):
		return nil
	case !replaced && (content == `""` || content == "[]"):
		return errors.New("the content is empty")
	}
	return checkContent(m.Content, true)
}
