package openai

import (
	"encoding/json"
	"math"
	"strconv"
	"testing"
)

// TestLooseInt reads numbers as servers write them, as OpenAI's own SDK does: the
// tests of the module sdk compare both.
func TestLooseInt(t *testing.T) {
	for raw, want := range map[string]looseInt{
		`0`: 0, `7`: 7, `-7`: -7, `7.0`: 7, `7.9`: 7, `-7.9`: -7, `1e3`: 1000, `0.5`: 0, `-0`: 0,
		`"7"`: 7, `"-7"`: -7, `""`: 0, `"seven"`: 0, `"0x7"`: 0, `null`: 0, `false`: 0, `{}`: 0, `{"a":7}`: 0, `[7]`: 0, `[]`: 0,
		`9007199254740991`: 1<<53 - 1,
	} {
		var got struct {
			Usage struct{ Before, N, After looseInt }
		}
		body := `{"usage":{"before":1,"n":` + raw + `,"after":2}}`
		if err := decodeEvent([]byte(body), &got); err != nil || got.Usage.N != want || got.Usage.Before != 1 || got.Usage.After != 2 {
			t.Errorf("%s is %+v, %v, want %d", raw, got.Usage, err, want)
		}
	}
	for raw, want := range map[string]looseInt{ // which the SDK reads as something else
		`"7.0"`: 7, `"1e3"`: 1000, `true`: 0, `"NaN"`: 0, `1e400`: maxLooseInt, `-1e400`: -maxLooseInt, `"Inf"`: maxLooseInt,
		`9223372036854775808`: maxLooseInt, `123456789012345678901234567890`: maxLooseInt,
	} {
		var got looseInt
		if err := json.Unmarshal([]byte(raw), &got); err != nil || got != want {
			t.Errorf("%s is %d, %v, want %d", raw, got, err, want)
		}
	}
}

// TestLooseText reads texts as servers write them.
func TestLooseText(t *testing.T) {
	for raw, want := range map[string]looseText{
		`""`: "", `"stop"`: "stop", `"a\u00e9\n"`: "aé\n", `null`: "", `7`: "7", `1.50`: "1.50", `true`: "true", `{"x":null}`: `{"x":null}`, `[ 1 ]`: `[ 1 ]`,
	} {
		var got struct{ Before, Text, After looseText }
		if err := decodeEvent([]byte(`{"before":"a","text":`+raw+`,"after":"b"}`), &got); err != nil || got.Text != want || got.Before != "a" || got.After != "b" {
			t.Errorf("%s is %+v, %v, want %q", raw, got, err, want)
		}
	}
}

// TestDecodeEvent: members of other types than OpenAI writes are as if they were missing,
// and the others count.
func TestDecodeEvent(t *testing.T) {
	for body, want := range map[string]string{
		`{"id":"r","choices":"none","usage":[],"model":"m"}`:                                            "r m 0",
		`{"id":7,"choices":[1,null,{"index":0,"finish_reason":"stop"}],"x_groq":"none","model":"m"}`:    "7 m 3 stop",
		`{"id":null,"choices":[{"index":"0","finish_reason":1}],"model":{}}`:                            " {} 1 1",
		`{"id":"r","choices":{"index":0},"model":"m","usage":{"prompt_tokens_details":[1]},"other":[]}`: "r m 0",
		`null`: "  0", `{}`: "  0",
	} {
		var chunk chatChunk
		if err := decodeEvent([]byte(body), &chunk); err != nil {
			t.Errorf("%s: %v", body, err)
		}
		got := string(chunk.ID) + " " + string(chunk.Model) + " " + strconv.Itoa(len(chunk.Choices))
		for _, c := range chunk.Choices {
			if c.FinishReason != "" {
				got += " " + string(c.FinishReason)
			}
		}
		if got != want {
			t.Errorf("%s is %q, want %q", body, got, want)
		}
	}
	for _, body := range []string{``, `{`, `{"id":"r"`, `"the engine died"`, `7`, `[{"id":"r"}]`} {
		var chunk chatChunk
		if err := decodeEvent([]byte(body), &chunk); err == nil {
			t.Errorf("%q is read as %+v", body, chunk)
		}
	}
}

// TestUsageOf finds the usage of a chunk, and the counts in it.
func TestUsageOf(t *testing.T) {
	for body, want := range map[string]string{
		`{}`: "none", `{"usage":null}`: "none", `{"usage":""}`: "none", `{"usage":[]}`: "none", `{"usage":0}`: "none",
		`{"usage":{}}`: "0 0 0 0",
		`{"usage":{"prompt_tokens":10.0,"completion_tokens":"4","prompt_tokens_details":{"cached_tokens":3},"prompt_cache_hit_tokens":9}}`: "7 3 0 4",
		`{"usage":{"prompt_tokens":10,"prompt_tokens_details":{"cached_tokens":0},"prompt_cache_hit_tokens":9}}`:                           "10 0 0 0",
		`{"usage":{"prompt_tokens":10,"prompt_tokens_details":{"cached_tokens":null},"prompt_cache_hit_tokens":9}}`:                        "1 9 0 0",
		`{"usage":{"prompt_tokens":10,"prompt_tokens_details":null,"prompt_cache_hit_tokens":"9"}}`:                                        "1 9 0 0",
		`{"usage":{"prompt_tokens":10,"prompt_tokens_details":"x","prompt_cache_hit_tokens":{}}}`:                                          "10 0 0 0",
		`{"usage":{"prompt_tokens":10,"prompt_tokens_details":{"cached_tokens":2,"cache_write_tokens":3}},"x_groq":{"usage":{}}}`:          "5 2 3 0",
		`{"usage":null,"x_groq":{"usage":{"prompt_tokens":9}}}`:                                                                            "9 0 0 0", `{"x_groq":{"usage":null}}`: "none", `{"x_groq":[]}`: "none",
		`{"usage":{"prompt_tokens":-1,"completion_tokens":-1}}`: "0 0 0 0",
	} {
		var chunk chatChunk
		if err := decodeEvent([]byte(body), &chunk); err != nil {
			t.Error(err)
		}
		got := "none"
		if u := usageOf(&chunk); u != nil {
			tokens := chatTokens(u)
			got = strconv.Itoa(tokens.Input) + " " + strconv.Itoa(tokens.CacheRead) + " " + strconv.Itoa(tokens.CacheWrite) + " " + strconv.Itoa(tokens.Output)
		}
		if got != want {
			t.Errorf("%s: %s, want %s", body, got, want)
		}
	}
}

// FuzzLooseInt checks that any JSON can be decoded, that integers are exact, and that a
// text counts as the number in it.
func FuzzLooseInt(f *testing.F) {
	for _, seed := range []string{`7`, `-7.9`, `1e400`, `"7"`, `"1_0"`, `"0x1p4"`, `"NaN"`, `null`, `{"a":[]}`, `9007199254740993`, `"\u0037"`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		if !json.Valid([]byte(raw)) {
			return
		}
		var got struct{ N, After looseInt }
		if err := decodeEvent([]byte(`{"n":`+raw+`,"after":2}`), &got); err != nil || got.After != 2 {
			t.Fatalf("%s: %+v, %v", raw, got, err)
		}
		if got.N > maxLooseInt || got.N < -maxLooseInt {
			t.Fatalf("%s is %d", raw, got.N)
		}
		var number json.Number
		if json.Unmarshal([]byte(raw), &number) != nil || raw == "null" {
			return
		}
		value, _ := number.Float64()
		want := looseInt(math.Trunc(math.Max(-maxLooseInt, math.Min(value, maxLooseInt))))
		if got.N != want {
			t.Fatalf("%s is %d, want %d", raw, got.N, want)
		}
		var quoted looseInt
		if err := json.Unmarshal([]byte(strconv.Quote(number.String())), &quoted); err != nil || quoted != want {
			t.Fatalf("%q is %d, %v, want %d", number, quoted, err, want)
		}
	})
}
