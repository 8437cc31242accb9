package claudecli_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/toolpost/toolpost/model"
)

// TestEnds: the calls of a message run only if it ended in a way that is known to be
// complete, and the worst of several reasons counts.
func TestEnds(t *testing.T) {
	for reasons, want := range map[string]any{ // the reason, or the kind of the error
		"tool_use": model.StopCalls, "end_turn": model.StopCalls, "null tool_use": model.StopCalls, "tool_use null": model.StopCalls,
		"max_tokens": model.StopLength, "model_context_window_exceeded": model.StopLength, "length": model.StopLength,
		"refusal": model.StopRefusal, "sensitive": model.StopRefusal, "reason_of_tomorrow": model.StopRefusal,
		"network_error": model.KindServer, "abort": model.KindServer,
		"tool_use refusal": model.StopRefusal, "refusal null": model.StopRefusal, "tool_use max_tokens": model.StopLength,
		"null": model.KindConnection,
	} {
		t.Run(reasons, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, m := newWorld(t, nil, func(f *fake) {
					f.prompt()
					f.write(event(object{"type": "message_start", "message": object{"usage": counter}}))
					f.block(0, use("toolu_1", "weather", object{"city": "Oslo"}))
					for _, reason := range strings.Fields(reasons) {
						delta := object{"stop_reason": reason}
						if reason == "null" {
							delta["stop_reason"] = nil
						}
						f.write(event(object{"type": "message_delta", "delta": delta, "usage": object{"output_tokens": 7}}))
					}
					f.write(event(object{"type": "message_stop"}))
				})
				var got *model.Response
				for d, err := range m.Stream(t.Context(), &model.Request{Messages: []*model.Message{model.UserText("go")}}) {
					if failed, ok := errors.AsType[*model.Error](err); ok {
						if failed.Kind != want || failed.Text == "" {
							t.Errorf("%v, want %s", err, want)
						}
						return
					}
					if err != nil {
						t.Fatal(err)
					}
					got = d.Response
				}
				if got == nil || got.Stop != want || (got.Refusal != "") != (want == model.StopRefusal) || got.Usage.Output != 7 {
					t.Errorf("%+v, want %s", got, want)
				}
			})
		})
	}
}

// TestResultWithoutEnd: a result does not end a message that has calls.
func TestResultWithoutEnd(t *testing.T) {
	for _, streamed := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			_, m := newWorld(t, nil, func(f *fake) {
				f.prompt()
				call := use("toolu_1", "weather", object{"city": "Oslo"})
				if streamed {
					f.write(event(object{"type": "message_start", "message": object{"usage": counter}}))
					f.block(0, call)
				} else {
					f.write(frame(call))
				}
				f.result("done", nil)
			})
			for d, err := range m.Stream(t.Context(), &model.Request{Messages: []*model.Message{model.UserText("go")}}) {
				if failed, _ := errors.AsType[*model.Error](err); err != nil && (failed == nil || failed.Kind != model.KindConnection) || d != nil && d.Response != nil {
					t.Errorf("%+v, %v", d, err)
				}
			}
		})
	}
}
