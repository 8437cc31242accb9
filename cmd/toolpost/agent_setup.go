package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/toolpost/toolpost/config"
	"github.com/toolpost/toolpost/internal/secret"
)

// A setup is what a session keeps of the command that began it: the values of flags by
// their names, so that it is continued with the same model, tools and limits.
type setup map[string][]string

// serverSetup is kept if the command line named a server. The server itself may have
// secrets and is not kept.
const serverSetup = "server"

// keptFlags are the flags in a setup.
func keptFlags() []string {
	return []string{"model", "base-url", "api-key-env", "cli", "tools", "root", "pass-env", "config", "profile",
		"system", "effort", "max-turns", "max-calls", "max-tokens", "max-cost", "max-time"}
}

// restore sets the flags as the session has them, unless the command line says
// otherwise. A command line that names another model or address names all of it.
func (f *agentFlags) restore(cmd *cobra.Command, raw json.RawMessage, cfg *config.Config) error {
	var kept setup
	if raw == nil {
		return nil
	}
	if err := json.Unmarshal(raw, &kept); err != nil {
		return fmt.Errorf("read how the session began: %w", err)
	}
	flags := cmd.Flags()
	if kept[serverSetup] != nil && cfg == nil && !flags.Changed("config") {
		return usagef("this session has the tools of a server that the command line named: name it again, or give --config")
	}
	if slices.ContainsFunc([]string{"model", "base-url", "api-key-env"}, flags.Changed) {
		delete(kept, "base-url")
		delete(kept, "api-key-env")
	}
	if cfg != nil {
		delete(kept, "config")
		delete(kept, "profile")
	}
	if err := kept.set(flags); err != nil {
		return fmt.Errorf("read how the session began: %w", err)
	}
	return f.check()
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
func (f *agentFlags) setup(cmd *cobra.Command, before json.RawMessage, cfg *config.Config, model string) (json.RawMessage, error) {
	kept := setup{}
	if before != nil {
		if err := json.Unmarshal(before, &kept); err != nil {
			return nil, err
		}
	}
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
	return json.Marshal(kept)
}

// serverWords are the words of the command line that name a server, without what may
// be a secret. They begin with a space.
func serverWords(cfg *config.Config, address string) string {
	switch {
	case cfg == nil:
		return ""
	case address != "":
		return " " + shellWord(address)
	}
	words := append([]string{cfg.Servers[0].Command}, cfg.Servers[0].Args...)
	if len(secret.InArgs(words)) > 0 {
		return " -- COMMAND…"
	}
	for i, word := range words {
		words[i] = shellWord(word)
	}
	return " -- " + strings.Join(words, " ")
}
