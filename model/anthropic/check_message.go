package anthropic

import (
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/toolpost/toolpost/internal/jsontree"
	"github.com/toolpost/toolpost/model"
	"github.com/toolpost/toolpost/model/internal/provider"
)

// checkMessages checks the messages one by one, and that calls and results
// belong together.
func (c *checker) checkMessages() error {
	messages := c.root.Get("messages").Items()
	if len(messages) == 0 || len(messages) > maxMessages {
		return fmt.Errorf("messages: there are %d; there must be 1 to %d", len(messages), maxMessages)
	}
	var waiting []string // calls of the message before
	for i, m := range messages {
		var err error
		if waiting, err = c.checkMessage(m, []model.Role{model.RoleUser, model.RoleAssistant}[i%2], waiting); err != nil {
			return fmt.Errorf("messages.%d: %w", i, err)
		}
	}
	if len(waiting) > 0 {
		return fmt.Errorf("messages: the call %q has no result", waiting[0])
	}
	last := messages[len(messages)-1]
	if model.Role(textOf(last.Get("role"))) == model.RoleAssistant && !slices.ContainsFunc(last.Get("content").Items(), isServerBlock) {
		return errors.New("messages: the last one is the assistant's; the model does not continue it")
	}
	return nil
}

// checkMessage checks a message with a role, which answers the calls of the
// message before. It returns the ids of its own calls.
func (c *checker) checkMessage(m *jsontree.Value, role model.Role, answers []string) (calls []string, err error) {
	if got := model.Role(textOf(m.Get("role"))); got != role {
		return nil, fmt.Errorf("the role is %q; roles alternate, so it must be %q", got, role)
	}
	blocks, err := contentOf(m)
	if err != nil {
		return nil, err
	}
	if role == model.RoleUser {
		if err := checkResults(blocks, answers); err != nil {
			return nil, err
		}
	}
	for j, b := range blocks {
		id, err := c.checkBlock(role, b)
		if err != nil {
			return nil, fmt.Errorf("content.%d: %w", j, err)
		}
		if id != "" {
			calls = append(calls, id)
		}
		if err := c.checkServerCall(role, b); err != nil {
			return nil, fmt.Errorf("content.%d: %w", j, err)
		}
	}
	return calls, nil
}

// checkServerCall checks that a call that the provider runs has its result
// before the user writes something else than results.
func (c *checker) checkServerCall(role model.Role, b *jsontree.Value) error {
	call, answers := serverCall(b)
	_, known := c.serverIDs[answers]
	switch {
	case role == model.RoleUser && !b.Get("type").IsText("tool_result"):
		for id, waits := range c.serverIDs {
			if waits {
				return fmt.Errorf("the call %q, which the provider runs, has no result before it", id)
			}
		}
	case answers != "" && !known:
		return fmt.Errorf("it is the result of the unknown call %q", answers)
	case answers != "":
		c.serverIDs[answers] = false
	case call != "":
		c.serverIDs[call] = true
	}
	return nil
}

// isServerBlock reports whether a block is about a tool that the provider runs.
func isServerBlock(b *jsontree.Value) bool {
	kind := textOf(b.Get("type"))
	return partType(kind) == model.TypeOpaque && kind != "tool_result" && kind != "image" && kind != "document"
}

// contentOf returns the blocks of a message, none if it is a text.
func contentOf(m *jsontree.Value) ([]*jsontree.Value, error) {
	content := m.Get("content")
	switch {
	case content == nil:
		return nil, errors.New("it has no content")
	case content.Kind == jsontree.KindString && !isBlank(content.Text):
		return nil, nil
	case len(content.Items()) == 0:
		return nil, errors.New("its content is empty")
	}
	return content.Items(), nil
}

// checkResults checks that the message of the user begins with one result for
// each call of the message before, and has no others.
func checkResults(blocks []*jsontree.Value, calls []string) error {
	answered := map[string]bool{}
	results := true // so far, all blocks are results
	for j, b := range blocks {
		if !b.Get("type").IsText("tool_result") {
			results = false
			continue
		}
		id := textOf(b.Get("tool_use_id"))
		switch {
		case !results:
			return fmt.Errorf("content.%d: results must come before all other blocks", j)
		case !slices.Contains(calls, id):
			return fmt.Errorf("content.%d: the message before has no call %q", j, id)
		case answered[id]:
			return fmt.Errorf("content.%d: the call %q has two results", j, id)
		}
		answered[id] = true
	}
	for _, id := range calls {
		if !answered[id] {
			return fmt.Errorf("the call %q of the message before has no result", id)
		}
	}
	return nil
}

// checkBlock checks one block. It returns the id of a call, "" for other blocks.
func (c *checker) checkBlock(role model.Role, b *jsontree.Value) (id string, err error) {
	kind := textOf(b.Get("type"))
	forUser := kind == "tool_result" || kind == "image" || kind == "document"
	forAssistant := kind == "tool_use" || kind == "server_tool_use" || isThinking(kind)
	switch {
	case kind == "":
		return "", errors.New("it has no type")
	case forUser && role != model.RoleUser, forAssistant && role != model.RoleAssistant:
		return "", fmt.Errorf("a block %q cannot be in a message of the %s", kind, role)
	}
	if err := c.checkBreakpoint(b); err != nil {
		return "", err
	}
	switch kind {
	case "tool_use":
		return c.checkCall(b)
	case "tool_result":
		return "", c.checkResult(b)
	}
	return "", checkContent(kind, b)
}

// checkContent checks a block that is neither a call nor a result.
func checkContent(kind string, b *jsontree.Value) error {
	switch {
	case kind == "text" && isBlank(textOf(b.Get("text"))):
		return errors.New("the text is empty")
	case kind == "thinking" && (b.Get("thinking") == nil || textOf(b.Get("signature")) == ""):
		return errors.New("the thinking has no signature")
	case kind == "redacted_thinking" && textOf(b.Get("data")) == "":
		return errors.New("the redacted thinking has no data")
	case kind == "image":
		return checkSource(b, provider.JPEG, provider.PNG, provider.GIF, provider.WebP)
	case kind == "document":
		return checkSource(b, provider.PDF)
	}
	return nil
}

// checkCall checks a call and returns its id.
func (c *checker) checkCall(b *jsontree.Value) (string, error) {
	id, name := textOf(b.Get("id")), textOf(b.Get("name"))
	switch {
	case !provider.IsName(id, len(id)):
		return "", fmt.Errorf("the id %q does not match ^[a-zA-Z0-9_-]+$", id)
	case c.ids[id]:
		return "", fmt.Errorf("two calls have the id %q", id)
	case !provider.IsName(name, maxName):
		return "", fmt.Errorf("the name %q of the tool is not valid", name)
	case !isObject(b.Get("input")):
		return "", errors.New("the input is not an object")
	}
	c.ids[id] = true
	return id, nil
}

// checkResult checks the content of a result.
func (c *checker) checkResult(b *jsontree.Value) error {
	failed := b.Get("is_error") != nil && b.Get("is_error").Is("true")
	for i, part := range b.Get("content").Items() {
		kind := textOf(part.Get("type"))
		known := []string{"text", "image", "document", "search_result", "tool_reference"}
		err := checkContent(kind, part)
		switch {
		case !slices.Contains(known, kind):
			err = fmt.Errorf("a result cannot contain a block %q", kind)
		case failed && kind != "text":
			err = errors.New("the result of a failed call can only contain text")
		case err == nil:
			err = c.checkBreakpoint(part)
		}
		if err != nil {
			return fmt.Errorf("content.%d: %w", i, err)
		}
	}
	return nil
}

// checkSource checks the data of an image or document, which must have one of
// the media types if it is in the request itself.
func checkSource(b *jsontree.Value, types ...string) error {
	source := b.Get("source")
	kind, data := textOf(source.Get("type")), textOf(source.Get("data"))
	switch kind {
	case "url", "file", "content":
		return nil
	case "text":
		if isBlank(data) || !source.Get("media_type").IsText("text/plain") || slices.Contains(types, provider.PNG) {
			return errors.New("source: it must be a document of type text/plain that is not empty")
		}
		return nil
	case "base64":
	default:
		return fmt.Errorf("source: the type %q is unknown", kind)
	}
	if media := textOf(source.Get("media_type")); !slices.Contains(types, media) {
		return fmt.Errorf("source: the media type %q is not one of %s", media, strings.Join(types, ", "))
	}
	if _, err := base64.StdEncoding.DecodeString(data); err != nil || data == "" {
		return errors.New("source: the data is not base64, or empty")
	}
	return nil
}

// checkTurn checks that the turn of the assistant that the request continues
// began with thinking, if there is a budget for thinking.
func (c *checker) checkTurn() error {
	if !c.root.Get("thinking").Get("type").IsText("enabled") {
		return nil
	}
	var messages []*message
	for _, m := range c.root.Get("messages").Items() {
		first := "text"
		if items := m.Get("content").Items(); len(items) > 0 {
			first = textOf(items[0].Get("type"))
		}
		messages = append(messages, &message{role: model.Role(textOf(m.Get("role"))), blocks: []block{{kind: first}}})
	}
	if !thinksInTurn(messages) {
		return errors.New("messages: the assistant's last turn must begin with thinking when there is a budget for thinking")
	}
	return nil
}
