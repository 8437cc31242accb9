package anthropic_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	sdk "github.com/anthropics/anthropic-sdk-go"

	"github.com/toolpost/toolpost/sdk/internal/offertest"
)

// TestRequests checks that the SDK's type represents the whole of every request that the
// tests of package model/anthropic record.
func TestRequests(t *testing.T) {
	files, err := filepath.Glob("../../model/anthropic/testdata/request/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d requests, %v", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var body json.RawMessage // losses follow it
		if err := json.NewDecoder(bytes.NewReader(text)).Decode(&body); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		var params sdk.MessageNewParams
		if err := json.Unmarshal(body, &params); err != nil {
			t.Fatalf("%s: the SDK cannot read the request: %v", file, err)
		}
		var request map[string]any
		if err := json.Unmarshal(body, &request); err != nil {
			t.Fatal(err)
		}
		delete(request, "stream") // a parameter of the method, not of the type
		offertest.Equal(t, file, offertest.Marshal(t, params), string(offertest.Marshal(t, request)))
	}
}
