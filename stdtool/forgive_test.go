package stdtool_test

import (
	"strings"
	"testing"
)

// TestForgive calls tools as models know them from elsewhere.
func TestForgive(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "f.txt", []byte("one\ntwo\nthree\n"))
	set := workspace(t, dir)
	for _, tt := range [][3]string{
		{"read", `{"file_path":"f.txt","offset":"1","limit":"1"}`, "    2  two"},
		{"grep", `{"pattern":"T","-i":true,"output_mode":"files_with_matches","include":"*.txt","head_limit":"5"}`, "f.txt\n"},
		{"grep", `{"pattern":"t","-C":"1","case_insensitive":"false"}`, "f.txt-1- one"},
		{"glob", `{"pattern":"*","head_limit":1}`, "f.txt"},
		{"edit", `{"file_path":"f.txt","old_str":"one","new_str":"1","dry_run":"true"}`, "dry run"},
		{"edit", `{"file_path":"f.txt","old_string":"one","new_string":"true"}`, "+true"},
		{"write", `{"file_path":"g.txt","file_text":"12"}`, "wrote 2 bytes"},
		{"move", `{"source":"g.txt","destination":"h.txt"}`, "moved to h.txt"},
	} {
		if text := call(t, set, tt[0], tt[1]); !strings.Contains(text, tt[2]) {
			t.Errorf("%s %s: %s", tt[0], tt[1], text)
		}
	}
	for _, tt := range [][2]string{
		{"read", `{"path":"f.txt","file_path":"h.txt"}`},
		{"read", `{"path":"f.txt","offset":"1.5"}`},
		{"read", `{"path":"f.txt","limit":"0"}`},
		{"read", `{"path":7}`},
		{"grep", `{"pattern":"x","context":"9223372036854775808"}`},
		{"read", `{"path":"f.txt","nothing":1}`},
	} {
		if text := call(t, set, tt[0], tt[1]); !strings.HasPrefix(text, "error") {
			t.Errorf("%s %s: %s", tt[0], tt[1], text)
		}
	}
}

// TestEditLatin1 checks what is said of text that stands for other bytes.
func TestEditLatin1(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "f.txt", []byte("caf\xe9\n"))
	set := workspace(t, dir)
	if text := call(t, set, "edit", `{"path":"f.txt","old_string":"caf\ufffd","new_string":"x"}`); !strings.Contains(text, "The file is not UTF-8") {
		t.Error(text)
	}
	if text := call(t, set, "edit", `{"path":"f.txt","old_string":"caf","new_string":"tea"}`); content(t, dir, "f.txt") != "tea\xe9\n" {
		t.Error(text)
	}
}
