package model

import "fmt"

// Validate returns an error if some provider would refuse the messages of the request whatever
// they contain: the first and the last must be a user's, every tool call of a message
// needs exactly one result in the next message, and a result needs its call.
func (r *Request) Validate() error {
	messages := r.Messages
	if len(messages) == 0 {
		return fmt.Errorf("the conversation is empty; add a user's message")
	}
	open := map[string]bool{} // calls of the message before
	for i, m := range messages {
		if err := m.validate(open); err != nil {
			return fmt.Errorf("message %d: %w", i, err)
		}
		clear(open)
		for _, call := range m.Calls() {
			if open[call.ID] {
				return fmt.Errorf("message %d: two tool calls have the id %q", i, call.ID)
			}
			open[call.ID] = true
		}
	}
	if messages[0].Role != RoleUser {
		return fmt.Errorf("message 0 is the assistant's; the first must be a user's")
	}
	if last := messages[len(messages)-1]; last.Role != RoleUser {
		return fmt.Errorf("message %d, the last, is the assistant's; add a user's message or the results of its calls", len(messages)-1)
	}
	return nil
}

// validate checks one message. Open are the calls that it must answer.
func (m *Message) validate(open map[string]bool) error {
	if m.Role != RoleUser && m.Role != RoleAssistant {
		return fmt.Errorf("the role is %q; it must be %q or %q", m.Role, RoleUser, RoleAssistant)
	}
	if len(m.Parts) == 0 {
		return fmt.Errorf("the message has no parts")
	}
	answered := map[string]bool{}
	for i, p := range m.Parts {
		switch {
		case p.Type == TypeCall && (m.Role != RoleAssistant || p.ID == "" || p.Name == ""):
			return fmt.Errorf("part %d: a tool call needs an id and a name, in a message of the assistant", i)
		case p.Type != TypeResult:
		case m.Role != RoleUser || p.Result == nil:
			return fmt.Errorf("part %d: a tool result needs its content, in a message of the user", i)
		case !open[p.Result.CallID]:
			return fmt.Errorf("part %d: the message before has no tool call %q", i, p.Result.CallID)
		case answered[p.Result.CallID]:
			return fmt.Errorf("part %d: the tool call %q has two results", i, p.Result.CallID)
		default:
			answered[p.Result.CallID] = true
		}
	}
	for id := range open {
		if !answered[id] {
			return fmt.Errorf("the tool call %q of the message before has no result", id)
		}
	}
	return nil
}
