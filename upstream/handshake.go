package upstream

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/toolpost/toolpost/internal/extension"
	"github.com/toolpost/toolpost/internal/hidden"
	"github.com/toolpost/toolpost/internal/ownversion"
	"github.com/toolpost/toolpost/internal/wire"
)

// A hello describes the server, as it answered the handshake.
type hello struct {
	version      string // of the protocol
	server       string // name and version
	instructions string
	info         json.RawMessage
	capabilities json.RawMessage
}

// can reports whether the server has a capability.
func (h *hello) can(name string) bool { return wire.IsObject(wire.Get(h.capabilities, name)) }

// canDo reports whether the server has a part of a capability.
func (h *hello) canDo(name, part string) bool {
	return string(wire.Get(wire.Get(h.capabilities, name), part)) == "true"
}

// Our capabilities for servers that several clients use. All of them depend on the
// client, which may refuse.
const ourCapabilities = `{"roots":{"listChanged":true},"sampling":{"tools":{}},"elicitation":{"form":{},"url":{}}}`

// clientCapabilities returns the capabilities that the server gets: those by which its
// only client answers requests, and the extensions that the client knows.
func (s *session) clientCapabilities() json.RawMessage {
	if s.client == nil {
		return json.RawMessage(ourCapabilities)
	}
	declared := extension.Declared(s.client.Capabilities)
	for _, name := range []string{"roots", "sampling", "elicitation"} {
		if value := wire.Get(s.client.Capabilities, name); wire.IsObject(value) {
			declared = wire.SetAll(declared, wire.Member{Name: name, Value: value})
		}
	}
	if declared == nil {
		return json.RawMessage("{}")
	}
	return declared
}

// clientInfo returns the name and version of the client that the server gets.
func (s *session) clientInfo() json.RawMessage {
	if s.client == nil || wire.Unquote(wire.Get(s.client.Info, "name")) == "" || wire.Unquote(wire.Get(s.client.Info, "version")) == "" {
		return ourInfo()
	}
	return s.client.Info
}

// handshake agrees on a version with the server: with the stateless era's
// server/discover if newest allows that and the server answers it in time, else
// with initialize. Without probe, the answer may take as long as ctx lasts: a
// second request behind an unanswered one would reach a slow server twice.
func (s *session) handshake(ctx context.Context, newest string, probe time.Duration) error {
	if newest >= modernVersion {
		found, err := s.discover(ctx, newest, probe)
		switch {
		case found:
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case s.ctx.Err() != nil:
			return err
		}
		next := s.initialize(ctx, classicVersion)
		if next != nil && (isA[*LoginError](err) || isA[*hidden.CredentialsError](err)) {
			return err // a server that wants a login may refuse older versions for another reason
		}
		return next
	}
	return s.initialize(ctx, newest)
}

// discover reports whether the server supports a version without sessions.
func (s *session) discover(ctx context.Context, version string, probe time.Duration) (bool, error) {
	if probe > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, probe)
		defer cancel()
	}
	s.conn.useVersion(version)
	s.meta = []wire.Member{
		{Name: wire.MetaVersion, Value: wire.Quote(version)},
		{Name: wire.MetaClientInfo, Value: s.clientInfo()},
		{Name: wire.MetaCapabilities, Value: s.clientCapabilities()},
	}
	m, err := s.do(ctx, &exchange{request: &request{method: "server/discover"}})
	if hasRefusedSupported(err, version) {
		m, err = s.do(ctx, &exchange{request: &request{method: "server/discover"}})
	}
	if err == nil && hasVersion(wire.Get(m.Result, "supportedVersions"), version) {
		info := wire.Get(m.ResultMeta, wire.MetaPrefix+"serverInfo")
		if info == nil {
			info = wire.Get(m.Result, "serverInfo")
		}
		s.learn(version, info, m.Result)
		return true, nil
	}
	s.meta = nil
	s.conn.useVersion("")
	return false, err
}

// hasRefusedSupported reports whether a server refused a version although its error
// names the version as supported (MCP 2026-07-28, Versioning): it is asked again.
func hasRefusedSupported(err error, version string) bool {
	refused, ok := errors.AsType[*wire.Error](err)
	return ok && refused.Code == wire.CodeUnsupportedProtocol && hasVersion(wire.Get(refused.Data, "supported"), version)
}

// hasVersion reports whether a list of versions has one.
func hasVersion(list json.RawMessage, version string) bool {
	for v := range wire.Elements(list) {
		if wire.Unquote(v) == version {
			return true
		}
	}
	return false
}

// initialize agrees on a version with sessions. A server that refuses ours and names
// those that it has is asked for the newest of them that is ours too.
func (s *session) initialize(ctx context.Context, version string) error {
	err := s.initializeWith(ctx, version)
	refused, ok := errors.AsType[*wire.Error](err)
	if !ok || refused.Code != wire.CodeInvalidParams && refused.Code != wire.CodeUnsupportedProtocol {
		return err
	}
	supported := wire.Get(refused.Data, "supported")
	for _, other := range wire.Versions {
		if other < modernVersion && other != version && hasVersion(supported, other) {
			return s.initializeWith(ctx, other)
		}
	}
	if supported != nil {
		return fmt.Errorf("%w; it supports the protocol versions %s", err, excerpt(supported, 100))
	}
	return err
}

func (s *session) initializeWith(ctx context.Context, version string) error {
	params := wire.Append(nil, `"protocolVersion":`+string(wire.Quote(version)), `"capabilities":`+string(s.clientCapabilities()), `"clientInfo":`+string(s.clientInfo()))
	m, err := s.do(ctx, &exchange{request: &request{method: "initialize", params: params}})
	if err != nil {
		return err
	}
	version = wire.Unquote(wire.Get(m.Result, "protocolVersion"))
	if !slices.Contains(wire.Versions, version) {
		return fmt.Errorf("it answers with protocol version %q, which is %w; the supported ones are %s", version, errVersion, strings.Join(wire.Versions, ", "))
	}
	s.learn(version, wire.Get(m.Result, "serverInfo"), m.Result)
	s.conn.useVersion(version)
	const initialized = "notifications/initialized"
	if err := s.sendOneWay(ctx, initialized, wire.AppendRequest(nil, nil, initialized, json.RawMessage("{}"))); err != nil || ctx.Err() != nil {
		return cmp.Or(context.Cause(ctx), err)
	}
	if s.can("logging") { // logs are not worth a failure, or a long wait
		ctx, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		_, _ = s.ask(ctx, "logging/setLevel", json.RawMessage(`{"level":"info"}`))
	}
	return nil
}

// learn records the description of the server. The result need not stay in
// memory.
func (s *session) learn(version string, info, result json.RawMessage) {
	name, number := wire.Unquote(wire.Get(info, "name")), wire.Unquote(wire.Get(info, "version"))
	s.hello = hello{
		version: version, server: strings.TrimSpace(name + " " + number),
		instructions: wire.Unquote(wire.Get(result, "instructions")),
		info:         slices.Clone(info),
		capabilities: slices.Clone(wire.Get(result, "capabilities")),
	}
}

// errVersion means that the server speaks no version that we speak.
var errVersion = errors.New("not supported")

func ourInfo() json.RawMessage {
	return wire.Append(nil, `"name":"toolpost"`, `"version":`+string(wire.Quote(ownversion.Read())))
}
