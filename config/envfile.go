package config

import (
	"encoding/binary"
	"fmt"
	"hash"
	"maps"
	"strings"

	"github.com/toolpost/toolpost/internal/atomicfile"
)

// An environment is a file of variables for one server, as it was read.
type environment struct {
	data   []byte
	values map[string]string
	err    error // why it could not be read
}

// addEnvFile adds the variables of the server's EnvFile to Env; those of Env win. It returns the
// file, or nil if the server names none.
func (s *Server) addEnvFile() *environment {
	if s.EnvFile == "" {
		return nil
	}
	data, err := atomicfile.Read(s.EnvFile, maxEnvFile)
	e := &environment{data: data, values: parseEnvFile(string(data)), err: err}
	switch {
	case s.Err != nil:
	case err != nil:
		s.Err = fmt.Errorf("read envFile of %s: %w; correct the path, or remove the key", s.Name, err)
	default:
		env := maps.Clone(e.values)
		maps.Copy(env, s.Env)
		s.Env = env
	}
	return e
}

// hash adds the content of the file to h.
func (e *environment) hash(h hash.Hash) {
	switch {
	case e == nil:
		hashField(h, []byte("no file"))
	case e.err != nil:
		hashField(h, []byte("not readable"))
	default:
		hashField(h, []byte("file"))
		hashField(h, e.data)
	}
}

// hashField adds data to h so that no other sequence of fields has the same sum.
func hashField(h hash.Hash, data []byte) {
	_ = binary.Write(h, binary.BigEndian, uint64(len(data))) // a hash never fails
	_, _ = h.Write(data)
}

const maxEnvFile = 1 << 20

// parseEnvFile reads lines of NAME=value; quotes around a value, comments and
// a leading "export" are dropped.
func parseEnvFile(data string) map[string]string {
	env := map[string]string{}
	for line := range strings.Lines(data) {
		name, value, ok := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "export "), "=")
		if name = strings.TrimSpace(name); !ok || !variableName.MatchString(name) {
			continue
		}
		value = strings.TrimSpace(value)
		if n := len(value); n > 1 && (value[0] == '"' || value[0] == '\'') && value[n-1] == value[0] {
			value = value[1 : n-1]
		} else if comment := strings.Index(value, " #"); comment >= 0 {
			value = strings.TrimSpace(value[:comment])
		}
		env[name] = value
	}
	return env
}
