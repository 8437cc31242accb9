package grep

import "unicode/utf8"

// clip returns at most limit characters of line around at, where a match ends,
// and how many it left out before and after.
func clip(line []byte, at, limit int) (text string, before, after int64) {
	if len(line) <= limit || len(line) <= limit*utf8.UTFMax && utf8.RuneCount(line) <= limit {
		return string(line), 0, 0
	}
	from := stepBack(line, at, limit*2/3)
	to := forward(line, from, limit)
	if to == len(line) {
		from = stepBack(line, to, limit)
	}
	return string(line[from:to]), int64(utf8.RuneCount(line[:from])), int64(utf8.RuneCount(line[to:]))
}

func stepBack(line []byte, at, chars int) int {
	for ; at < len(line) && !utf8.RuneStart(line[at]); at++ { // do not begin inside a character
	}
	for ; chars > 0 && at > 0; chars-- {
		_, n := utf8.DecodeLastRune(line[:at])
		at -= n
	}
	return at
}

func forward(line []byte, at, chars int) int {
	for ; chars > 0 && at < len(line); chars-- {
		_, n := utf8.DecodeRune(line[at:])
		at += n
	}
	return at
}

// whole returns how many bytes of a part of a line stand for themselves: what
// follows are bytes of a character, or a '\r', that the next part decides on.
func whole(part []byte) int {
	for i := len(part) - 1; i >= max(0, len(part)-utf8.UTFMax); i-- {
		if part[i] == '\r' && i == len(part)-1 || utf8.RuneStart(part[i]) && !utf8.FullRune(part[i:]) {
			return i
		}
		if utf8.RuneStart(part[i]) {
			break
		}
	}
	return len(part)
}
