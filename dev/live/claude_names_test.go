//go:build unix

package live

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"log/slog"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"testing"

	sdk "github.com/toolpost/toolpost/claude"
	stream "github.com/toolpost/toolpost/claude/message"
)

// knowsOption returns whether the package takes a value of an option without a warning.
func knowsOption(set func(o *sdk.Options, value string)) func(string) bool {
	return func(value string) bool {
		started := errors.New("started")
		var log strings.Builder
		o := &sdk.Options{
			Start:  func(context.Context, *sdk.Command) (sdk.Transport, error) { return nil, started },
			Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn})),
		}
		set(o, value)
		_, err := sdk.Open(context.Background(), o)
		unused := err != nil && strings.Contains(err.Error(), "would never be called") // a known event
		return (errors.Is(err, started) || unused) && log.Len() == 0
	}
}

func knowsHook(event string) bool {
	return knowsOption(func(o *sdk.Options, event string) {
		o.Hooks = []sdk.Hook{{Event: sdk.HookEvent(event), Handle: func(context.Context, *sdk.HookInput) (*sdk.HookOutput, error) { return nil, nil }}}
	})(event)
}

func knowsMode(mode string) bool {
	return knowsOption(func(o *sdk.Options, mode string) { o.PermissionMode = sdk.PermissionMode(mode) })(mode)
}

func knowsEffort(effort string) bool {
	return knowsOption(func(o *sdk.Options, effort string) { o.Effort = effort })(effort)
}

func knowsThinking(kind string) bool {
	return knowsOption(func(o *sdk.Options, kind string) { o.Thinking = kind })(kind)
}

func knowsSource(source string) bool {
	return knowsOption(func(o *sdk.Options, source string) {
		o.SettingSources = []string{source}
	})(source)
}

// knowsMessage reports whether the parser knows a "type" or "type/subtype" of a message.
func knowsMessage(name string) bool {
	kind, subtype, _ := strings.Cut(name, "/")
	line := fmt.Sprintf(`{"type":%q,"subtype":%q,"is_error":false}`, kind, subtype)
	return knowsLine(line)
}

// knowsMember reports whether the parser has a field for "type/subtype.member".
func knowsMember(name string) bool {
	name, member, _ := strings.Cut(name, ".")
	kind, subtype, _ := strings.Cut(name, "/")
	message := `{"content":[]}`
	if kind != "assistant" && kind != "user" {
		message = "null"
	}
	line := fmt.Sprintf(`{%q:null,"type":%q,"subtype":%q,"message":%s,"tools":[],"task_id":"1","patch":{},"event":{"type":"e"},
		"state":"s","tasks":[],"tool_name":"n","is_error":false,"new_conversation_id":"1","entries":[],"rate_limit_info":{},"request_id":"1",
		"request":{"subtype":"s"},"response":{"subtype":"s","request_id":"1"}}`, member, kind, subtype, message)
	m, err := (&stream.Parser{Logger: slog.New(slog.DiscardHandler)}).Parse([]byte(line))
	if err != nil {
		return false
	}
	_, unknown := m.Head().Extra[member]
	_, untyped := m.(*stream.System)
	return untyped || !unknown
}

// knowsBlock reports whether the parser knows a type of content block.
func knowsBlock(kind string) bool {
	line := fmt.Sprintf(`{"type":"assistant","message":{"content":[{"type":%q,"text":"","thinking":"","id":"1","name":"n","tool_use_id":"1","tool_name":"n","source":{}}]}}`, kind)
	return knowsLine(line)
}

func knowsLine(line string) bool {
	p := &stream.Parser{Logger: slog.New(slog.DiscardHandler)}
	_, err := p.Parse([]byte(line))
	if bad := (*stream.ParseError)(nil); errors.As(err, &bad) {
		return bad.Field != "" // which a known type must have
	}
	return len(p.Unknown()) == 0
}

// knowsWord returns whether a word is in the comment of a field, "Type.Field" or
// "Type.Field.Field", of package claude or message; or the value of a constant of a type.
func knowsWord(field string) func(string) bool {
	return func(word string) bool {
		for _, words := range goWords() {
			if words[field][word] {
				return true
			}
		}
		return false
	}
}

var goWords = sync.OnceValue(func() (all []map[string]map[string]bool) {
	for _, dir := range []string{"../../claude", "../../claude/message"} {
		all = append(all, wordsOf(dir))
	}
	return all
})

// wordsOf returns the words of the comments of fields, and the values of constants by
// their type.
func wordsOf(dir string) map[string]map[string]bool {
	words := map[string]map[string]bool{}
	add := func(name string, text string) {
		if words[name] == nil {
			words[name] = map[string]bool{}
		}
		for _, w := range regexp.MustCompile(`[\w-]+`).FindAllString(text, -1) {
			words[name][w] = true
		}
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*.go"))
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
		if err != nil {
			continue // the words are then missing, and the test fails
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.TypeSpec:
				fieldWords(n.Name.Name, n.Type, add)
			case *ast.ValueSpec:
				if kind, ok := n.Type.(*ast.Ident); ok {
					for _, v := range n.Values {
						if lit, ok := v.(*ast.BasicLit); ok {
							add(kind.Name, lit.Value)
						}
					}
				}
			}
			return true
		})
	}
	return words
}

func fieldWords(name string, t ast.Expr, add func(name, text string)) {
	if list, ok := t.(*ast.ArrayType); ok {
		t = list.Elt
	}
	s, ok := t.(*ast.StructType)
	if !ok {
		return
	}
	for _, field := range s.Fields.List {
		for _, n := range field.Names {
			add(name+"."+n.Name, field.Doc.Text()+field.Comment.Text())
			fieldWords(name+"."+n.Name, field.Type, add)
		}
	}
}

// A declared is what a declaration of TypeScript consists of: the bodies of objects, and
// strings.
type declared struct {
	bodies  []string
	strings []string
}

// declaration reads a type or an interface, and those that it is a union of.
func declaration(text, name string) declared {
	var d declared
	whole, found := text, false
	for _, keyword := range []string{"export declare type ", "declare type ", "export type ", "export declare interface ", "export interface "} {
		if _, text, found = strings.Cut(whole, "\n"+keyword+name+" "); found {
			break
		}
	}
	if !found {
		return d
	}
	line, _, _ := strings.Cut(text, "\n")
	if strings.HasSuffix(strings.TrimSpace(line), "{") {
		for more := true; more; {
			body, rest, _ := strings.Cut(text, "\n}")
			d.bodies = append(d.bodies, body)
			text, more = strings.CutPrefix(rest, " | {")
		}
		return d
	}
	line, _, _ = strings.Cut(line, ";")
	for _, part := range regexp.MustCompile(`'[^']*'|\w+`).FindAllString(line, -1) {
		if part[0] == '\'' {
			d.strings = append(d.strings, part[1:len(part)-1])
			continue
		}
		inner := declaration(whole, part)
		d.bodies, d.strings = append(d.bodies, inner.bodies...), append(d.strings, inner.strings...)
	}
	return d
}

// literals returns the strings that a member of an object may be.
func literals(body, member string) (all []string) {
	line := regexp.MustCompile(`(?m)^ +` + member + `\??: ((?:'[^']*'|null|[ |])+);`).FindStringSubmatch(body)
	if line == nil {
		return nil
	}
	for _, s := range regexp.MustCompile(`'[^']*'`).FindAllString(line[1], -1) {
		all = append(all, s[1:len(s)-1])
	}
	return all
}

// words returns a rule's way to find strings: those of a type itself, or those of a
// member of it.
func words(name, member string) func(text string) []string {
	return func(text string) []string {
		d := declaration(text, name)
		if member == "" {
			return d.strings
		}
		var all []string
		for _, body := range d.bodies {
			all = append(all, literals(body, member)...)
		}
		return all
	}
}

// messages returns "type" or "type/subtype" of each message.
func messages(text string) (all []string) {
	for _, body := range declaration(text, "StdoutMessage").bodies {
		all = append(all, messageNames(body)...)
	}
	return all
}

func messageNames(body string) (all []string) {
	for _, kind := range literals(body, "type") {
		subtypes := literals(body, "subtype")
		if kind != "system" && kind != "result" {
			subtypes = nil
		}
		for _, s := range subtypes {
			all = append(all, kind+"/"+s)
		}
		if subtypes == nil {
			all = append(all, kind)
		}
	}
	return all
}

// members returns "type/subtype.member" of each message.
func members(text string) (all []string) {
	for _, body := range declaration(text, "StdoutMessage").bodies {
		for _, name := range messageNames(body) {
			for _, m := range regexp.MustCompile(`(?m)^    (\w+)\??:`).FindAllStringSubmatch(body, -1) {
				all = append(all, name+"."+m[1])
			}
		}
	}
	return all
}

// claudeWords are the lists of package claude and those below, with where the official
// SDK for TypeScript has them.
func claudeWords(page func(string) bool) []nameRule {
	rule := func(what string, known func(string) bool, find func(string) []string) nameRule {
		return nameRule{what: what, file: "sdk.d.ts", find: find, known: known}
	}
	field := func(field, name, member string) nameRule {
		return rule("word of the comment of "+field+",", knowsWord(field), words(name, member))
	}
	return []nameRule{
		rule("event of hooks", knowsHook, words("HookEvent", "")),
		rule("permission mode", knowsMode, words("PermissionMode", "")),
		rule("effort", knowsEffort, words("EffortLevel", "")),
		rule("setting source", knowsSource, words("SettingSource", "")),
		rule("kind of thinking", knowsThinking, words("ThinkingConfig", "type")),
		rule("type of a message", knowsMessage, messages),
		rule("member of a message", func(name string) bool {
			_, member, _ := strings.Cut(name, ".")
			return knowsMember(name) || page(member)
		}, members),
		rule("subtype of a control request", nil, words("SDKControlRequestInner", "subtype")),
		rule("decision of a hook", knowsWord("HookPermission"), words("HookPermissionDecision", "")),
		field("PermissionUpdate.Type", "PermissionUpdate", "type"),
		field("PermissionUpdate.Behavior", "PermissionBehavior", ""),
		field("PermissionUpdate.Destination", "PermissionUpdateDestination", ""),
		field("Elicitation.Mode", "SDKControlElicitationRequest", "mode"),
		field("ElicitationAnswer.Action", "ElicitationHookSpecificOutput", "action"),
		field("HookInput.Trigger", "PreCompactHookInput", "trigger"),
		field("ContextUsage.Categories.Kind", "SDKContextUsageCategory", "kind"),
		field("MCPServer.Status", "McpServerStatus", "status"),
		field("SessionState.State", "SDKSessionStateChangedMessage", "state"),
		field("RateLimitWindow.Status", "SDKRateLimitInfo", "status"),
		field("RateLimit.Info.RateLimitType", "SDKRateLimitInfo", "rateLimitType"),
		field("TaskUpdated.Patch.Status", "SDKTaskUpdatedMessage", "status"),
		field("TaskNotification.Status", "SDKTaskNotificationMessage", "status"),
		field("CompactBoundary.Compact.Trigger", "SDKCompactBoundaryMessage", "trigger"),
		field("ConversationReset.Trigger", "SDKConversationResetMessage", "trigger"),
		field("Result.TerminalReason", "TerminalReason", ""),
		rule("reason of a failed start", nil, words("SDKStartupFailureReason", "")),
		field("Assistant.Error", "SDKAssistantMessageError", ""),
		field("Origin.Kind", "SDKMessageOrigin", "kind"),
		field("Origin.Subkind", "SDKMessageOrigin", "subkind"),
		rule("member of the sandbox", knowsTag(sdk.Sandbox{}, page), zod("PublishedSandboxSettingsSchema")),
		rule("member of the sandbox's network", knowsTag(sdk.Sandbox{}.Network, page), zod("SandboxNetworkConfigSchema")),
		rule("member of the sandbox's files", knowsTag(sdk.Sandbox{}.Filesystem, page), zod("SandboxFilesystemConfigSchema")),
		{what: "event of hooks", file: "sdk.d.ts", begin: "export declare const HOOK_EVENTS: readonly [", end: "]", name: `'(\w+)'`, known: knowsHook},
	}
}

// knowsTag returns whether a member is a field of the struct v, or on the page.
func knowsTag(v any, page func(string) bool) func(string) bool {
	return func(member string) bool {
		for _, f := range reflect.VisibleFields(reflect.TypeOf(v)) {
			if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name == member {
				return true
			}
		}
		return page(member)
	}
}

// zod returns the members of a schema.
func zod(name string) func(string) []string {
	return func(text string) (all []string) {
		_, body, _ := strings.Cut(text, "\ndeclare const "+name+": ")
		body, _, _ = strings.Cut(body, "\n}")
		for _, m := range regexp.MustCompile(`(?m)^    (\w+): `).FindAllStringSubmatch(body, -1) {
			all = append(all, m[1])
		}
		return all
	}
}

// apiWords are the lists that come from the API.
func apiWords() []nameRule {
	rule := func(what string, known func(string) bool, name string) nameRule {
		return nameRule{what: what, file: "messages.d.ts", find: words(name, "type"), known: known}
	}
	return []nameRule{
		rule("content block", knowsBlock, "BetaContentBlock"),
		rule("content block of a prompt", knowsBlock, "BetaContentBlockParam"),
		rule("event of the stream", knowsWord("StreamEvent.Kind"), "BetaRawMessageStreamEvent"),
		rule("delta of the stream", knowsWord("Delta.Type"), "BetaRawContentBlockDelta"),
		{what: "reason to stop", file: "messages.d.ts", find: words("BetaStopReason", ""), known: knowsWord("Assistant.StopReason")},
	}
}

// pythonWords are the lists of the SDK for Python.
func pythonWords() []nameRule {
	rule := func(what string, known func(string) bool, begin, end string) nameRule {
		return nameRule{what: what, file: "types.py", begin: begin, end: end, name: `"([\w-]+)"`, known: known}
	}
	return []nameRule{
		rule("event of hooks", knowsHook, "\nHookEvent = (", "\n)"),
		rule("permission mode", knowsMode, "\nPermissionMode = Literal[", "]"),
		rule("setting source", knowsSource, "\nSettingSource = Literal[", "]"),
		rule("effort", knowsEffort, "\nEffortLevel: TypeAlias = Literal[", "]"),
		rule("type of a permission update", knowsWord("PermissionUpdate.Type"), "\nclass PermissionUpdate:", "]"),
		{what: "type of a message", file: "message_parser.py", begin: "    match message_type:", name: `(?m)^        case "(\w+)"`, known: func(name string) bool {
			return name == "system" || name == "result" || knowsMessage(name)
		}},
		{what: "content block", file: "message_parser.py", name: `(?m)^                        case "(\w+)"`, known: knowsBlock},
	}
}

// TestClaudeNamesAreCompared: nothing knows a name that nobody has.
func TestClaudeNamesAreCompared(t *testing.T) {
	for _, rules := range [][]nameRule{claudeWords(func(string) bool { return false }), apiWords(), pythonWords()} {
		for _, r := range rules {
			if r.known != nil && (r.known("NoSuchName") || r.known("system/no_such_name") && r.what != "member of a message") {
				t.Errorf("a %s is known whatever its name is", r.what)
			}
		}
	}
	if knowsMember("result/success.no_such_member") || !knowsMember("result/success.num_turns") {
		t.Error("members of messages are not compared")
	}
}
