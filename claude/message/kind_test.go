package message_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/toolpost/toolpost/claude/message"
)

// written returns one line for each type, with all its members.
func written(t testing.TB) [][]byte {
	t.Helper()
	data, err := os.ReadFile("testdata/messages.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Split(bytes.TrimSpace(data), []byte("\n"))
}

// Every type is known, and each member of it is a field.
func TestEveryKind(t *testing.T) {
	var kinds, blocks []string
	for _, line := range written(t) {
		var log strings.Builder
		p := &message.Parser{Logger: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))}
		m, err := p.Parse(line)
		if err != nil {
			t.Errorf("%v\n%s", err, line)
			continue
		}
		if log.Len() > 0 {
			t.Errorf("%s: logged %s", line, log.String())
		}
		sameMembers(t, line, m)
		kinds = append(kinds, key(m))
		switch m := m.(type) {
		case *message.Assistant:
			blocks = append(blocks, sameBlocks(t, m.Message, m.Content)...)
		case *message.User:
			blocks = append(blocks, sameBlocks(t, m.Message, m.Content)...)
			result := m.Content[0].(*message.ToolResult)
			blocks = append(blocks, sameBlocks(t, result.Raw, result.Content)...)
		}
	}
	slices.Sort(kinds)
	if got, want := slices.Compact(kinds), message.Kinds(); !slices.Equal(got, want) {
		t.Errorf("the lines are of %v, want %v", got, want)
	}
	slices.Sort(blocks)
	if got, want := slices.Compact(blocks), message.BlockKinds(); !slices.Equal(got, want) {
		t.Errorf("the blocks are of %v, want %v", got, want)
	}
}

func key(m message.Message) string {
	h := m.Head()
	if h.Type == "system" {
		return h.Type + "/" + h.Subtype
	}
	return h.Type
}

func sameBlocks(t *testing.T, holder json.RawMessage, blocks []message.Block) (kinds []string) {
	t.Helper()
	var raw struct{ Content []json.RawMessage }
	if err := json.Unmarshal(holder, &raw); err != nil || len(raw.Content) != len(blocks) {
		t.Fatalf("%d blocks in %s, %v", len(blocks), holder, err)
	}
	for i, b := range blocks {
		sameMembers(t, raw.Content[i], b)
		kinds = append(kinds, b.Kind())
	}
	return kinds
}

// sameMembers checks that v, encoded, has all that is in line.
func sameMembers(t *testing.T, line []byte, v any) {
	t.Helper()
	encoded, err := jsonv2.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var got, want any
	for raw, to := range map[*[]byte]*any{&encoded: &got, &line: &want} {
		if err := json.Unmarshal(*raw, to); err != nil {
			t.Fatal(err)
		}
	}
	if where := lost("", got, want); where != "" {
		t.Errorf("%s is lost\nof   %s\nhave %s", where, line, encoded)
	}
}

// lost returns a place of want that is not in got.
func lost(at string, got, want any) string {
	object, ok := want.(map[string]any)
	if !ok {
		if list, ok := want.([]any); ok {
			have, _ := got.([]any)
			for i := range list {
				if i >= len(have) {
					return fmt.Sprintf("%s/%d", at, i)
				}
				if where := lost(fmt.Sprintf("%s/%d", at, i), have[i], list[i]); where != "" {
					return where
				}
			}
			return ""
		}
		if want != nil && !reflect.DeepEqual(got, want) {
			return at
		}
		return ""
	}
	have, _ := got.(map[string]any)
	for name, value := range object {
		if where := lost(at+"/"+name, have[name], value); where != "" {
			return where
		}
	}
	return ""
}

// What a message cannot be without is asked for; all else may be absent or null.
func TestRequired(t *testing.T) {
	for _, line := range written(t) {
		var members map[string]json.RawMessage
		if err := json.Unmarshal(line, &members); err != nil {
			t.Fatal(err)
		}
		m, err := new(message.Parser).Parse(line)
		if err != nil {
			t.Fatal(err)
		}
		for name := range members {
			if name == "type" || name == "subtype" && m.Head().Type == "system" {
				continue
			}
			required := slices.Contains(message.Required(key(m)), name)
			for how, value := range map[string]json.RawMessage{"absent": nil, "null": json.RawMessage("null")} {
				changed, err := json.Marshal(with(members, name, value))
				if err != nil {
					t.Fatal(err)
				}
				_, err = new(message.Parser).Parse(changed)
				var failure *message.ParseError
				if errors.As(err, &failure) != required {
					t.Errorf("%s without %s (%s): %v", key(m), name, how, err)
				} else if required && failure.Field != name && !strings.HasPrefix(failure.Field, name+".") {
					t.Errorf("%s without %s (%s): the field is %q", key(m), name, how, failure.Field)
				}
			}
		}
	}
}

func with(members map[string]json.RawMessage, name string, value json.RawMessage) map[string]json.RawMessage {
	changed := map[string]json.RawMessage{}
	for n, v := range members {
		changed[n] = v
	}
	delete(changed, name)
	if value != nil {
		changed[name] = value
	}
	return changed
}
