package openai_test

import (
	"strings"
	"testing"

	"github.com/toolpost/toolpost/model/openai"
)

// TestCheck has bodies with one defect each, and the words of its error.
func TestCheck(t *testing.T) {
	const (
		hello  = `{"type":"message","role":"user","content":[{"type":"input_text","text":"Hi"}]}`
		call   = `{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"}`
		output = `{"type":"function_call_output","call_id":"c1","output":""}`
		think  = `{"type":"reasoning","id":"r1","summary":[]}`
		answer = `{"type":"message","id":"m1","role":"assistant","content":[]}`
	)
	long := strings.Repeat("x", 65)
	input := func(items ...string) string { return `{"model":"m","input":[` + strings.Join(items, ",") + `]}` }
	tools := func(members string) string { return `{"model":"m","input":[` + hello + `],` + members + `}` }
	strict := func(schema string) string {
		return tools(`"tools":[{"type":"function","name":"f","strict":true,"parameters":` + schema + `}]`)
	}
	for body, want := range map[string]string{
		input(hello): "", input(hello, call, output): "", input(hello, think, call, output, answer, hello): "",
		input(hello, call, output, call, output): "", input(hello, think, think, answer, hello): "",
		input(hello, `{"type":"novelty","x":1}`): "", input(`{"role":"user","content":"Hi"}`): "",
		`{`: "decode", `{"input":[` + hello + `]}`: "model: is empty", `{"model":"m"}`: "input: is empty",
		input(hello, call):                                                   `the call "c1" has no output`,
		input(hello, output):                                                 "input[1]: no open call",
		input(hello, call, output, output):                                   "input[3]: no open call",
		input(hello, call, call, output):                                     "input[2]: two calls",
		input(hello, think, hello):                                           "input[2]: the reasoning before",
		input(hello, think):                                                  "reasoning is the last item",
		input(hello, call, think, output):                                    "input[3]: the reasoning before",
		input(hello, `{"type":"reasoning","id":"r1"}`, answer):               "no list summary",
		input(strings.Replace(call, `"c1"`, `"`+long+`"`, 1)):                "characters",
		input(strings.Replace(call, `"f"`, `"a.b"`, 1)):                      "does not match",
		input(strings.Replace(call, `"f"`, `"`+long+`"`, 1)):                 "does not match",
		input(strings.Replace(call, `"{}"`, `{}`, 1)):                        "not a string",
		input(`{"type":"message","role":"user","content":[]}`):               "empty list",
		input(`{"role":"user","content":""}`):                                "empty",
		input(`{"role":"user"}`):                                             "not a string or a list",
		input(`{"role":"robot","content":"x"}`):                              `role "robot"`,
		input(`{"role":"user","content":[{"type":"text","text":"x"}]}`):      `type "text"`,
		input(`{"role":"user","content":[{"type":"input_text","text":""}]}`): "text is empty",
		input(`{"role":"user","content":[{"type":"input_image","image_url":"data:image/png;base64,"}]}`):       "image_url",
		input(`{"role":"user","content":[{"type":"input_file","file_data":"data:application/pdf;base64,x"}]}`): "file name",
		input(`{"type":"item_reference","id":"x"}`):                                                            "stored",
		input(`{"id":"x"}`):                                 "no type",
		tools(`"tool_choice":"none"`):                       "there are no tools",
		tools(`"tools":[{"type":"function","name":"a b"}]`): "does not match",
		tools(`"tools":[{"type":"function","name":"f"},{"type":"function","name":"f"}]`):                                                      "two tools",
		tools(`"tools":[{"type":"function","name":"f","parameters":{}}]`):                                                                     "not of type",
		tools(`"tools":[{"type":"tool_search"},{"type":"novelty"}]`):                                                                          "",
		tools(`"tools":[` + manyTools(129) + `]`):                                                                                             "at most 128",
		tools(`"text":{"format":{"type":"json_schema","name":"a b","schema":{"type":"object"}}}`):                                             "text.format",
		strict(`{"type":"object","properties":{},"additionalProperties":false}`):                                                              "",
		strict(`{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false}`):                                         `lacks the property "a"`,
		strict(`{"type":"object","properties":{},"required":["a"],"additionalProperties":false}`):                                             "not a property",
		strict(`{"type":"object","properties":{}}`):                                                                                           "additionalProperties",
		strict(`{"type":"object","additionalProperties":false}`):                                                                              "no properties",
		strict(`{"type":"object","anyOf":[]}`):                                                                                                "root",
		strict(`[`):                                                                                                                           "decode",
		strict(`{"type":"object","properties":{"a":true},"required":["a"],"additionalProperties":false}`):                                     "must be an object",
		strict(`{"type":"object","properties":{"a":{}},"required":["a"],"additionalProperties":false}`):                                       "no type",
		strict(`{"type":"object","properties":{"a":{"type":"array"}},"required":["a"],"additionalProperties":false}`):                         "no items",
		strict(`{"type":"object","properties":{"a":{"type":"string","minLength":1}},"required":["a"],"additionalProperties":false}`):          `"minLength" is not permitted`,
		strict(`{"type":"object","properties":{"a":{"type":"string","format":"uri"}},"required":["a"],"additionalProperties":false}`):         "format",
		strict(`{"type":"object","properties":{"a":{"$ref":"#/$defs/x"}},"required":["a"],"additionalProperties":false}`):                     "no target",
		strict(`{"type":"object","properties":{"a":{"$ref":"#","title":"x"}},"required":["a"],"additionalProperties":false}`):                 "beside it",
		strict(`{"type":"object","properties":{"a":{"anyOf":[{"$ref":"#"},{"type":"null"}]}},"required":["a"],"additionalProperties":false}`): "",
		strict(`{"type":"object","properties":{"a":` + nestedArrays(12) + `},"required":["a"],"additionalProperties":false}`):                 "levels",
	} {
		checks(t, body, openai.Check([]byte(body)), want)
	}
}

// TestCheckChat is TestCheck for Chat Completions.
func TestCheckChat(t *testing.T) {
	const (
		hello  = `{"role":"user","content":"Hi"}`
		calls  = `{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}},{"id":"c2","type":"function","function":{"name":"f","arguments":"{}"}}]}`
		first  = `{"role":"tool","tool_call_id":"c1","content":""}`
		second = `{"role":"tool","tool_call_id":"c2","content":"x"}`
	)
	messages := func(all ...string) string { return `{"model":"m","messages":[` + strings.Join(all, ",") + `]}` }
	for body, want := range map[string]string{
		messages(hello): "", messages(`{"role":"system","content":"x"}`, hello, calls, second, first, hello): "",
		messages(hello, `{"role":"assistant","content":null,"refusal":"No."}`, hello): "",
		`{`: "decode", `{"messages":[` + hello + `]}`: "model: is empty", messages(): "none of the user", messages(first): "messages[0]",
		messages(hello, calls, first):                                                                      "1 calls at the end",
		messages(hello, calls, first, hello, second):                                                       "messages[3]: 1 calls before",
		messages(hello, calls, first, first, second):                                                       "messages[3]: no open call",
		messages(hello, strings.Replace(calls, "c2", "c1", 1), first):                                      "two calls",
		messages(hello, strings.Replace(calls, `"c2"`, `""`, 1), first):                                    "characters",
		messages(hello, strings.Replace(calls, `"f"`, `"f.g"`, 1), first):                                  "does not match",
		messages(hello, strings.Replace(calls, `"{}"`, `"{"`, 1), first):                                   "not the text of a JSON object",
		messages(hello, strings.Replace(calls, `"{}"`, `"null"`, 1), first):                                "not the text of a JSON object",
		messages(hello, strings.Replace(calls, `"function"`, `"x"`, 1)):                                    `the type is "x"`,
		messages(hello, `{"role":"assistant","content":""}`):                                               "empty",
		messages(hello, `{"role":"assistant"}`):                                                            "not a string or a list",
		messages(`{"role":"user","content":[]}`):                                                           "empty list",
		messages(`{"role":"user","content":[{"type":"image_url","image_url":{"url":"x"}}]}`):               "image_url",
		messages(`{"role":"user","content":[{"type":"file","file":{}}]}`):                                  "file name",
		messages(`{"role":"user","content":[{"type":"file"}]}`):                                            "no file",
		messages(`{"role":"robot","content":"x"}`):                                                         `role "robot"`,
		`{"model":"m","messages":[` + hello + `],"tools":[{"type":"function","function":{"name":"f g"}}]}`: "does not match",
		`{"model":"m","messages":[` + hello + `],"tools":[{"type":"function","function":{"name":"f","strict":true,"parameters":{"type":"object"}}}]}`: "no properties",
		`{"model":"m","messages":[` + hello + `],"response_format":{"type":"json_schema","json_schema":{"name":"a","schema":{"type":"array"}}}}`:      "response_format",
	} {
		checks(t, body, openai.CheckChat([]byte(body)), want)
	}
}

func checks(t *testing.T, body string, err error, want string) {
	t.Helper()
	if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
		t.Errorf("%s\nthe error is %v, want %q", body, err, want)
	}
}

func manyTools(n int) string {
	var all []string
	for i := range n {
		all = append(all, `{"type":"function","name":"f`+strings.Repeat("x", i%60)+string(rune('a'+i/60))+`"}`)
	}
	return strings.Join(all, ",")
}

func nestedArrays(n int) string {
	return strings.Repeat(`{"type":"array","items":`, n) + `{"type":"string"}` + strings.Repeat("}", n)
}
