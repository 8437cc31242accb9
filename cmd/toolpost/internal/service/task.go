package service

import (
	"context"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf16"
)

// task is the name of the task of Windows.
const task = "Toolpost"

// scheduler runs the job as a task of the user, at login.
type scheduler struct {
	settings string // Toolpost's folder of settings
	user     string // DOMAIN\NAME
}

func (s *scheduler) file() string { return filepath.Join(s.settings, "service.xml") }

func (s *scheduler) log() string { return filepath.Join(s.settings, "service.log") }

func (s *scheduler) check(context.Context) error { return nil }

// encode writes the task in UTF-16, which schtasks reads. A task of a console program has a
// window, which conhost keeps away.
func (s *scheduler) encode(j *job) ([]byte, error) {
	if err := j.check(); err != nil {
		return nil, err
	}
	words := []string{"--headless"}
	for _, word := range j.Command {
		words = append(words, quoteWindows(word))
	}
	arguments := strings.Join(words, " ")
	if text := arguments + j.Folder; strings.Count(text, "%") > 1 || strings.Contains(text, "$(") {
		return nil, errors.New("the task scheduler would replace %NAME% and $(NAME) in these paths and values; use others")
	}
	text := `<?xml version="1.0" encoding="UTF-16"?>
<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <RegistrationInfo>
    <Description>Toolpost: one endpoint for MCP servers</Description>
  </RegistrationInfo>
  <Triggers>
    <LogonTrigger>
      <UserId>` + escapeXML(s.user) + `</UserId>
    </LogonTrigger>
  </Triggers>
  <Principals>
    <Principal id="Author">
      <UserId>` + escapeXML(s.user) + `</UserId>
      <LogonType>InteractiveToken</LogonType>
      <RunLevel>LeastPrivilege</RunLevel>
    </Principal>
  </Principals>
  <Settings>
    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>
    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>
    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>
    <ExecutionTimeLimit>PT0S</ExecutionTimeLimit>
    <RestartOnFailure>
      <Interval>PT1M</Interval>
      <Count>10</Count>
    </RestartOnFailure>
  </Settings>
  <Actions Context="Author">
    <Exec>
      <Command>%SystemRoot%\System32\conhost.exe</Command>
      <Arguments>` + escapeXML(arguments) + `</Arguments>
      <WorkingDirectory>` + escapeXML(j.Folder) + `</WorkingDirectory>
    </Exec>
  </Actions>
</Task>
`
	data := []byte{0xff, 0xfe}
	for _, unit := range utf16.Encode([]rune(strings.ReplaceAll(text, "\n", "\r\n"))) {
		data = binary.LittleEndian.AppendUint16(data, unit)
	}
	return data, nil
}

// quoteWindows returns an argument as programs of Windows read it: quotes and the
// backslashes before them are escaped.
func quoteWindows(word string) string {
	if word != "" && !strings.ContainsAny(word, " \t\"") {
		return word
	}
	var b strings.Builder
	b.WriteByte('"')
	backslashes := 0
	for _, c := range []byte(word) {
		switch c {
		case '\\':
			backslashes++
			continue
		case '"':
			backslashes = 2*backslashes + 1
		}
		b.WriteString(strings.Repeat(`\`, backslashes))
		b.WriteByte(c)
		backslashes = 0
	}
	b.WriteString(strings.Repeat(`\`, 2*backslashes) + `"`)
	return b.String()
}

func (s *scheduler) start(ctx context.Context) error {
	if _, err := run(ctx, "schtasks", "/Create", "/TN", task, "/XML", s.file(), "/F"); err != nil {
		return err
	}
	_, _ = run(ctx, "schtasks", "/End", "/TN", task) // it may not run
	_, err := run(ctx, "schtasks", "/Run", "/TN", task)
	return err
}

func (s *scheduler) remove(ctx context.Context) error {
	_, _ = run(ctx, "schtasks", "/End", "/TN", task) // it may not run
	if _, err := run(ctx, "schtasks", "/Delete", "/TN", task, "/F"); err != nil {
		return err
	}
	return os.Remove(s.file())
}

// state is unknown: what schtasks writes depends on the language of the system.
func (s *scheduler) state(context.Context) state { return unknown }

func (s *scheduler) hint(context.Context) string { return "" }
