// Package model carries tools to the models of OpenAI, Anthropic and Google.
package model

import (
	_ "github.com/anthropics/anthropic-sdk-go"
	_ "github.com/openai/openai-go/v3"
	_ "google.golang.org/genai"
)
