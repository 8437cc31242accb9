package service

import (
	"encoding/binary"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
)

// hostileJob has what the three systems read in a special way.
func hostileJob() *job {
	return &job{
		Command: []string{"/opt/tool $HOME post/bin/toolpost", "serve", "--config", `/home/zoë/my "tools" & more/100% 'sure' $PATH \ 工具.json`,
			"", `--name=a\`, `--name=b \"c\\" d`, "--name=<&>;", ";", "--name= ${HOME} #"},
		Folder:    `/home/zoë/my "tools" & more/ends with a space `,
		Variables: []string{`PATH=/usr/bin:/opt/100%h "x"/bin:C:\x\`, "XDG_STATE_HOME=/home/zoë/a & b/$HOME"},
		Secrets:   "/home/zoë/100%h & more/service.env",
		Log:       "/home/zoë/<log> & more.log",
	}
}

// forWindows returns a job without what the task scheduler cannot have.
func forWindows(j *job) *job {
	plain := func(text string) string { return strings.ReplaceAll(text, "%", "") }
	w := *j
	w.Command, w.Folder = nil, plain(j.Folder)
	for _, word := range j.Command {
		w.Command = append(w.Command, plain(word))
	}
	return &w
}

func TestDescriptions(t *testing.T) {
	for _, test := range []struct {
		golden string
		system system
		job    *job
	}{
		{"toolpost.service", &systemd{}, hostileJob()},
		{"toolpost.plist", &launchd{}, hostileJob()},
		{"toolpost.xml", &scheduler{user: `DESK & CO\Zoë`}, forWindows(hostileJob())},
	} {
		data, err := test.system.encode(test.job)
		if err != nil {
			t.Fatal(err)
		}
		if test.golden == "toolpost.xml" {
			data = []byte(decodeUTF16(t, data))
		}
		path := filepath.Join("testdata", test.golden)
		if os.Getenv("TOOLPOST_UPDATE") != "" {
			if err := os.WriteFile(path, data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil || string(want) != string(data) {
			t.Errorf("%s is\n%s\n(%v)", path, data, err)
		}
	}
}

// TestReadBack: each system reads the words that were written.
func TestReadBack(t *testing.T) { checkReadBack(t, hostileJob()) }

func FuzzReadBack(f *testing.F) {
	j := hostileJob()
	f.Add(strings.Join(j.Command, "\n"), j.Folder, j.Variables[0])
	f.Add("/a\n%%n\n$(x)\n%a%", `/a\`, "PATH=")
	f.Fuzz(func(t *testing.T, words, folder, value string) {
		checkReadBack(t, &job{Command: strings.Split("/"+words, "\n"), Folder: "/" + folder, Variables: []string{"PATH=" + value}, Log: "/log"})
	})
}

func checkReadBack(t *testing.T, j *job) {
	for name, test := range map[string]struct {
		system system
		read   func(*testing.T, []byte) *job
		job    *job
	}{
		"systemd": {&systemd{}, readUnit, j}, "launchd": {&launchd{}, readPlist, j}, "task": {&scheduler{user: "u"}, readTask, forWindows(j)},
	} {
		data, err := test.system.encode(test.job)
		if err != nil {
			continue
		}
		got := test.read(t, data)
		if name == "task" {
			got.Variables = test.job.Variables // it has none
		}
		if !slices.Equal(got.Command, test.job.Command) || strings.TrimRight(got.Folder, "/") != strings.TrimRight(test.job.Folder, "/") || !slices.Equal(got.Variables, test.job.Variables) {
			t.Errorf("%s reads\n%q, want\n%q\nfrom %s", name, got, test.job, data)
		}
	}
}

// TestUnfit: what a description cannot have is refused.
func TestUnfit(t *testing.T) {
	for _, path := range []string{"/a\nExecStartPre=/bin/evil", "/a\x00", "/a\xff", "/\u0085", "/\u2028", "/\ufffe"} {
		for _, s := range []system{&systemd{}, &launchd{}, &scheduler{}} {
			if data, err := s.encode(&job{Command: []string{path}, Folder: "/"}); err == nil {
				t.Errorf("%T wrote %q: %s", s, path, data)
			}
		}
	}
	if _, err := (&scheduler{}).encode(&job{Command: []string{`C:\%TEMP%\toolpost.exe`}}); err == nil {
		t.Error("a variable of the task scheduler was written")
	}
}

// readUnit reads a unit as systemd does.
func readUnit(t *testing.T, data []byte) *job {
	j := &job{}
	for line := range strings.Lines(string(data)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		if strings.HasSuffix(value, `\`) {
			t.Errorf("%q goes on in the next line", line)
		}
		switch key {
		case "ExecStart":
			j.Command = unitWords(t, value)
			for i, word := range j.Command[1:] {
				if strings.Contains(strings.ReplaceAll(word, "$$", ""), "$") {
					t.Errorf("systemd expands %q", word)
				}
				j.Command[i+1] = strings.ReplaceAll(word, "$$", "$")
			}
		case "Environment":
			j.Variables = append(j.Variables, unitWords(t, value)...)
		case "WorkingDirectory":
			j.Folder = unexpanded(t, value)
		}
	}
	return j
}

// unitWords splits a value into words in double quotes.
func unitWords(t *testing.T, value string) (words []string) {
	for value != "" {
		var b strings.Builder
		if value[0] != '"' {
			t.Fatalf("%q is not in quotes", value)
		}
		i := 1
		for ; value[i] != '"'; i++ {
			if value[i] == '\\' {
				i++
			}
			b.WriteByte(value[i])
		}
		words = append(words, unexpanded(t, b.String()))
		value = strings.TrimPrefix(value[i+1:], " ")
	}
	return words
}

// unexpanded returns a text after the expansion of specifiers, of which it has none.
func unexpanded(t *testing.T, text string) string {
	if strings.Contains(strings.ReplaceAll(text, "%%", ""), "%") {
		t.Errorf("systemd expands %q", text)
	}
	return strings.ReplaceAll(text, "%%", "%")
}

// readPlist reads a property list: a name, then its value.
func readPlist(t *testing.T, data []byte) *job {
	j := &job{}
	var keys []string
	d := xml.NewDecoder(strings.NewReader(string(data)))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return j
		}
		if err != nil {
			t.Fatalf("%v: %s", err, data)
		}
		start, is := token.(xml.StartElement)
		if !is || start.Name.Local != "key" && start.Name.Local != "string" {
			continue
		}
		var text string
		if err := d.DecodeElement(&text, &start); err != nil {
			t.Fatal(err)
		}
		if start.Name.Local == "key" {
			keys = append(keys, text)
			continue
		}
		switch last := keys[len(keys)-1]; {
		case last == "ProgramArguments":
			j.Command = append(j.Command, text)
		case last == "WorkingDirectory":
			j.Folder = text
		case last != "Label" && last != "StandardErrorPath":
			j.Variables = append(j.Variables, last+"="+text)
		}
	}
}

// readTask reads a task of Windows.
func readTask(t *testing.T, data []byte) *job {
	text := strings.Replace(decodeUTF16(t, data), `encoding="UTF-16"`, "", 1)
	var got struct {
		Arguments string `xml:"Actions>Exec>Arguments"`
		Folder    string `xml:"Actions>Exec>WorkingDirectory"`
	}
	if err := xml.Unmarshal([]byte(text), &got); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	words := windowsWords(got.Arguments)
	if words[0] != "--headless" {
		t.Errorf("%q", words)
	}
	return &job{Command: words[1:], Folder: got.Folder}
}

func decodeUTF16(t *testing.T, data []byte) string {
	var units []uint16
	for i := 0; i+1 < len(data); i += 2 {
		units = append(units, binary.LittleEndian.Uint16(data[i:]))
	}
	if len(units) == 0 || units[0] != 0xfeff {
		t.Fatal("there is no byte order mark")
	}
	return strings.ReplaceAll(string(utf16.Decode(units[1:])), "\r\n", "\n")
}

// windowsWords splits a command line as CommandLineToArgvW does behind the program.
func windowsWords(line string) (words []string) {
	var b strings.Builder
	quoted, begun, backslashes := false, false, 0
	flush := func(n int) { b.WriteString(strings.Repeat(`\`, n)); backslashes = 0 }
	for _, c := range []byte(line) {
		switch {
		case c == '\\':
			backslashes, begun = backslashes+1, true
		case c == '"':
			odd := backslashes%2 == 1
			flush(backslashes / 2)
			if odd {
				b.WriteByte('"')
			} else {
				quoted = !quoted
			}
			begun = true
		case c == ' ' && !quoted:
			flush(backslashes)
			if begun {
				words = append(words, b.String())
			}
			b.Reset()
			begun = false
		default:
			flush(backslashes)
			b.WriteByte(c)
			begun = true
		}
	}
	flush(backslashes)
	if begun {
		words = append(words, b.String())
	}
	return words
}

// TestVerify has systemd itself read a unit with hostile paths.
func TestVerify(t *testing.T) {
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil || runtime.GOOS != "linux" {
		t.Skip("needs systemd-analyze")
	}
	dir := filepath.Join(t.TempDir(), "100%h & $HOME 工具")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	j := hostileJob()
	j.Command[0], j.Folder = filepath.Join(dir, "toolpost"), dir
	if err := os.WriteFile(j.Command[0], []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	data, err := (&systemd{}).encode(j)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), unit)
	if err := os.WriteFile(file, data, 0o644); err != nil {
		t.Fatal(err)
	}
	out, _ := exec.Command(analyze, "verify", file).CombinedOutput() // it also fails for units of the machine
	if strings.Contains(string(out), unit) {
		t.Errorf("systemd says: %s", out)
	}
}
