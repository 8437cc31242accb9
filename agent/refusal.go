package agent

import "github.com/toolpost/toolpost/model"

// wasCut reports whether a response was ended before the model had finished it. What
// it has is not to be acted on.
func wasCut(stop model.StopReason) bool { return stop == model.StopRefusal || stop == model.StopLength }

// leaveCalls ends the run with a response that was cut. Its calls do not run: the end
// is recorded first, so that no later run makes up for them.
func (r *run) leaveCalls(now *state) (*Result, error) {
	text := "This call was not run: the response with it was cut off at the limit of its length."
	if now.stop == model.StopRefusal {
		text = "This call was not run: the response with it was refused."
	}
	result, err := r.finish(now.messages[len(now.messages)-1], now.stop, now.refusal)
	for _, c := range r.session.snapshot().batch { // none if the turn was taken back
		if err == nil && c.result == nil {
			err = r.refuse(c, "%s", text)
		}
	}
	return result, err
}

// endWithRefusal ends the run with a refusal. The record of the end takes the turn out of the
// conversation where the provider would refuse everything that follows it.
func (r *run) endWithRefusal(text string) (*Result, error) {
	e := &record{Type: recordEnd, Stop: StopRefusal, Text: text, TakeBack: r.takeBack || r.session.snapshot().takeBack}
	result, err := r.result(e) // before the turn is taken back
	if err == nil {
		err = r.session.append(e)
	}
	if err == nil && e.TakeBack {
		err = r.notice("the refused turn was taken back: with it, the provider refuses what follows")
	}
	return result, err
}
