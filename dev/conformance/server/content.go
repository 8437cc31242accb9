package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"image"
	"image/color"
	"image/png"
	"time"

	"github.com/toolpost/toolpost"
	"github.com/toolpost/toolpost/schema"
)

type none struct{}

func nothing(text string) func(context.Context, none) (string, error) {
	return func(context.Context, none) (string, error) { return text, nil }
}

func parts(p ...toolpost.Part) func(context.Context, none) ([]toolpost.Part, error) {
	return func(context.Context, none) ([]toolpost.Part, error) { return p, nil }
}

// contentTools answer with every kind of content.
func contentTools() []*toolpost.Tool {
	picture := toolpost.Part{Type: "image", Data: redDot(), MIMEType: "image/png"}
	return []*toolpost.Tool{
		toolpost.New("test_simple_text", "Answers with text", nothing("This is a simple text response for testing."), nil),
		toolpost.New("test_image_content", "Answers with an image", parts(picture), nil),
		toolpost.New("test_audio_content", "Answers with audio",
			parts(toolpost.Part{Type: "audio", Data: silence(), MIMEType: "audio/wav"}), nil),
		toolpost.New("test_embedded_resource", "Answers with a resource",
			parts(embedded("test://embedded-resource", "This is an embedded resource content.")), nil),
		toolpost.New("test_multiple_content_types", "Answers with text, an image and a resource",
			parts(toolpost.Part{Type: "text", Text: "Multiple content types test:"}, picture,
				embedded("test://mixed-content-resource", `{"test":"data","value":123}`)), nil),
		toolpost.New("test_error_handling", "Always fails", func(context.Context, none) (string, error) {
			return "", errors.New("this tool intentionally returns an error for testing")
		}, nil),
		toolpost.New("test_reconnection", "Takes a while to answer", func(ctx context.Context, _ none) (string, error) {
			return "Reconnection test completed successfully.", wait(ctx, 100*time.Millisecond)
		}, nil),
		schemaTool("json_schema_2020_12_tool", "Has many keywords of JSON Schema 2020-12", dialectSchema),
		schemaTool("test_x_mcp_header", "Has an argument that is repeated in a header", headerSchema),
	}
}

const dialectSchema = `{
	"$schema": "https://json-schema.org/draft/2020-12/schema",
	"type": "object",
	"$defs": {"address": {"$anchor": "addressDef", "type": "object",
		"properties": {"street": {"type": "string"}, "city": {"type": "string"}}}},
	"properties": {
		"name": {"type": "string"},
		"address": {"$ref": "#/$defs/address"},
		"contactMethod": {"type": "string", "enum": ["phone", "email"]},
		"phone": {"type": "string"},
		"email": {"type": "string"}
	},
	"allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
	"if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
	"then": {"required": ["phone"]},
	"else": {"required": ["email"]},
	"additionalProperties": false
}`

const headerSchema = `{
	"type": "object",
	"properties": {
		"region": {"type": "string", "description": "Where to look", "x-mcp-header": "Region"},
		"level": {"type": "integer", "description": "How far to look"}
	}
}`

// schemaTool answers with its arguments.
func schemaTool(name, description, input string) *toolpost.Tool {
	return &toolpost.Tool{
		Definition: toolpost.Definition{Name: name, Description: description, Input: schema.MustParse(input)},
		Handler: func(_ context.Context, call *toolpost.Call) (*toolpost.Result, error) {
			return toolpost.TextResult("called with " + string(call.Arguments)), nil
		},
	}
}

func embedded(uri, text string) toolpost.Part {
	return toolpost.Part{Raw: object("type", "resource", "resource",
		json.RawMessage(object("uri", uri, "mimeType", "text/plain", "text", text)))}
}

// object writes a JSON object of names and values.
func object(members ...any) json.RawMessage {
	m := map[string]any{}
	for i := 0; i < len(members); i += 2 {
		m[members[i].(string)] = members[i+1]
	}
	b, err := json.Marshal(m)
	if err != nil {
		panic(err) // a value of the fixture that is not JSON
	}
	return b
}

func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func redDot() []byte {
	dot := image.NewRGBA(image.Rect(0, 0, 1, 1))
	dot.Set(0, 0, color.RGBA{R: 255, A: 255})
	var b bytes.Buffer
	if err := png.Encode(&b, dot); err != nil {
		panic(err) // a buffer takes everything
	}
	return b.Bytes()
}

// silence is a WAV file: one sample, 8000 Hz, 16 bits, mono.
func silence() []byte {
	b := []byte("RIFF\x26\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00")
	b = binary.LittleEndian.AppendUint32(b, 8000)
	b = binary.LittleEndian.AppendUint32(b, 16000)
	return append(b, "\x02\x00\x10\x00data\x02\x00\x00\x00\x00\x00"...)
}
