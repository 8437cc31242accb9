package agents

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/toolpost/toolpost/cmd/toolpost/internal/cli"
	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/cleartext"
	"github.com/toolpost/toolpost/internal/secret"
)

// A setup is what a session keeps of the command that began it: the values of flags by
// their names, so that it is continued with the same model, tools and limits.
type setup map[string][]string

// A signedSetup is a setup in a session file. Only one that this user made here counts:
// flags name programs, files, addresses and variables.
type signedSetup struct {
	Flags setup  `json:"flags"`
	Proof string `json:"proof"`
}

// prove returns what only this user can make of a setup.
func (s setup) prove(session string) string {
	text, err := json.Marshal(s) // with the names in order
	if err != nil {
		return ""
	}
	h := hmac.New(sha256.New, decisionKey())
	fmt.Fprintf(h, "setup %d:%s", len(session), session)
	_, _ = h.Write(text)
	return hex.EncodeToString(h.Sum(nil))
}

// readSetup returns the setup of a session, nil if it has none, and whether it is ours.
func readSetup(s *sessionFile) (kept setup, ours bool, err error) {
	raw := s.Setup()
	if raw == nil {
		return nil, true, nil
	}
	var signed signedSetup
	if err := json.Unmarshal(raw, &signed); err != nil {
		return nil, false, fmt.Errorf("read how the session began: %w", err)
	}
	return signed.Flags, hmac.Equal([]byte(signed.Proof), []byte(signed.Flags.prove(s.ID()))), nil
}

// serverSetup is kept if the command line named a server. The server itself may have
// secrets and is not kept.
const serverSetup = "server"

// keptFlags are the flags in a setup.
func keptFlags() []string {
	return []string{"model", "base-url", "api-key-env", "cli", "tools", "root", "pass-env", "config", "profile",
		"system", "effort", "max-turns", "max-calls", "max-tokens", "max-cost", "max-time"}
}

// restore sets the flags as the session has them, unless the command line says
// otherwise. One that names another provider or address names all of it.
func (f *agentFlags) restore(cmd *cobra.Command, s *sessionFile, cfg *config.Config) error {
	kept, ours, err := readSetup(s)
	if err != nil || kept == nil {
		return err
	}
	flags := cmd.Flags()
	if !ours && f.model.name != "" {
		return nil
	}
	if !ours {
		return cli.Usagef("this session was begun by another user or on another machine: name the model with --model, and what else it needs, such as --base-url, --tools and --config")
	}
	if kept[serverSetup] != nil && cfg == nil && !flags.Changed("config") {
		return cli.Usagef("this session has the tools of a server that the command line named: name it again, or give --config")
	}
	kept.leaveOut(flags.Changed("base-url") || flags.Changed("model") && !kept.isOf(f.model.name), "base-url", "api-key-env")
	kept.leaveOut(cfg != nil, "config", "profile")
	if err := kept.set(flags); err != nil {
		return fmt.Errorf("read how the session began: %w", err)
	}
	return f.check()
}

func (s setup) leaveOut(which bool, names ...string) {
	for _, name := range names {
		if which {
			delete(s, name)
		}
	}
}

// isOf reports whether a model is of the provider that the session has.
func (s setup) isOf(model string) bool {
	is, _, _ := strings.Cut(model, "/")
	was, _, _ := strings.Cut(strings.Join(s["model"], ""), "/")
	return is == was
}

// set sets the flags that the command line does not set.
func (s setup) set(flags *pflag.FlagSet) error {
	for _, name := range keptFlags() {
		values, flag := s[name], flags.Lookup(name)
		if flag == nil || flag.Changed || len(values) == 0 {
			continue
		}
		if err := setFlag(flag, values); err != nil {
			return fmt.Errorf("--%s: %w", name, err)
		}
	}
	return nil
}

func setFlag(flag *pflag.Flag, values []string) error {
	if list, ok := flag.Value.(pflag.SliceValue); ok {
		return list.Replace(values)
	}
	return flag.Value.Set(values[0])
}

// setup returns what the session is to keep. Model is the name of the open one.
func (f *agentFlags) setup(cmd *cobra.Command, s *sessionFile, cfg *config.Config, model string) (json.RawMessage, error) {
	kept := setup{}
	for _, name := range keptFlags() {
		flag := cmd.Flags().Lookup(name)
		if flag == nil {
			continue
		}
		value := []string{flag.Value.String()}
		if list, ok := flag.Value.(pflag.SliceValue); ok {
			value = list.GetSlice()
		}
		if kept[name] = value; flag.Value.String() == flag.DefValue || flag.Value.String() == "" {
			delete(kept, name)
		}
	}
	for _, name := range []string{"root", "config"} { // the session may be continued in another folder
		if value := kept[name]; value != nil {
			path, err := filepath.Abs(value[0])
			if err != nil {
				return nil, err
			}
			kept[name] = []string{path}
		}
	}
	if kept["model"] = []string{model}; cfg != nil {
		kept[serverSetup] = []string{"named"}
	}
	return json.Marshal(signedSetup{kept, kept.prove(s.ID())})
}

// serverWords are the words of the command line that name a server, without what may
// be a secret. They begin with a space.
func serverWords(cfg *config.Config, address string) string {
	switch {
	case cfg == nil:
		return ""
	case address != "":
		return " " + cleartext.ShellWord(address)
	}
	words := append([]string{cfg.Servers[0].Command}, cfg.Servers[0].Args...)
	if len(secret.InArgs(words)) > 0 {
		return " -- COMMAND…"
	}
	for i, word := range words {
		words[i] = cleartext.ShellWord(word)
	}
	return " -- " + strings.Join(words, " ")
}
