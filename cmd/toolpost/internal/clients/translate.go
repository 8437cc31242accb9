package clients

import (
	"slices"
	"sort"
	"strings"

	"github.com/tailscale/hujson"
)

// translation returns what turns the value of a client's key into keys of
// toolpost.json, nil for a key that both have. A new key is one line.
func translation(key string) func(o *hujson.Object, v hujson.Value) {
	switch key {
	case "command":
		return command
	case "type":
		return clientType
	case "environment": // opencode
		return renameTo("env")
	case "env_vars": // Codex, as are the next ones
		return passedOn
	case "http_headers":
		return headers
	case "env_http_headers":
		return headersOfEnv
	case "bearer_token_env_var":
		return bearer
	case "enabled_tools":
		return renameTo("includeTools")
	case "disabled_tools":
		return renameTo("excludeTools")
	case "startup_timeout_sec":
		return duration("connectTimeout", "s")
	case "startup_timeout_ms":
		return duration("connectTimeout", "ms")
	case "tool_timeout_sec":
		return duration("timeout", "s")
	case "connectionTimeout": // Continue
		return duration("connectTimeout", "ms")
	case "requestOptions": // Continue
		return requestOptions
	case "networkTimeout": // Cline
		return duration("timeout", "s")
	}
	return nil
}

// translate replaces the members of a client's entry that have a translation.
// A member that the entry has under our name wins.
func translate(o *hujson.Object) {
	members := o.Members
	o.Members = slices.DeleteFunc(slices.Clone(members), func(m hujson.ObjectMember) bool { return translation(key(&m)) != nil })
	for _, m := range members {
		if turn := translation(key(&m)); turn != nil {
			turn(o, m.Value)
		}
	}
	sort.SliceStable(o.Members, func(i, j int) bool { return o.Members[i].Name.StartOffset < o.Members[j].Name.StartOffset })
}

// set gives o a member, unless o has it already.
func set(o *hujson.Object, name string, v hujson.Value) {
	if !slices.ContainsFunc(o.Members, func(m hujson.ObjectMember) bool { return key(&m) == name }) {
		m := hujson.ObjectMember{Name: hujson.Value{Value: hujson.String(name), StartOffset: v.StartOffset}}
		m.Value.Value, m.Value.StartOffset = v.Value, v.StartOffset
		o.Members = append(o.Members, m)
	}
}

// add gives the object that o has under that name a text, and o the object if
// it has none. Offset is where the text comes from.
func add(o *hujson.Object, offset int, table, name, text string) {
	set(o, table, hujson.Value{Value: &hujson.Object{}, StartOffset: offset})
	for i := range o.Members {
		if inner, ok := o.Members[i].Value.Value.(*hujson.Object); ok && key(&o.Members[i]) == table {
			set(inner, name, hujson.Value{Value: hujson.String(text)})
		}
	}
}

func renameTo(name string) func(o *hujson.Object, v hujson.Value) {
	return func(o *hujson.Object, v hujson.Value) { set(o, name, v) }
}

// duration writes a number with its unit.
func duration(name, unit string) func(o *hujson.Object, v hujson.Value) {
	return func(o *hujson.Object, v hujson.Value) {
		if l, ok := v.Value.(hujson.Literal); ok && v.Value.Kind() == '0' {
			v.Value = hujson.String(l.String() + unit)
		}
		set(o, name, v)
	}
}

// command takes a command with its arguments in one list (opencode) or in an
// object (Zed) apart.
func command(o *hujson.Object, v hujson.Value) {
	switch c := v.Value.(type) {
	case *hujson.Array:
		if len(c.Elements) > 0 {
			set(o, "command", c.Elements[0])
			set(o, "args", hujson.Value{Value: &hujson.Array{Elements: c.Elements[1:]}, StartOffset: v.StartOffset})
		}
	case *hujson.Object:
		for _, m := range c.Members {
			name := key(&m)
			if name == "path" {
				name = "command"
			}
			set(o, name, m.Value)
		}
	default:
		set(o, "command", v)
	}
}

// clientType leaves out the type that says no more than that the server has an address.
func clientType(o *hujson.Object, v hujson.Value) {
	if s, _ := textOf(&v); s != "remote" {
		set(o, "type", v)
	}
}

// passedOn turns a list of variables that a server gets from the environment
// into variables of its own.
func passedOn(o *hujson.Object, v hujson.Value) {
	for _, name := range textsOf(&v) {
		add(o, v.StartOffset, "env", name, "${"+name+"}")
	}
}

func headers(o *hujson.Object, v hujson.Value) {
	eachMember(&v, func(name string, v *hujson.Value) {
		if s, ok := textOf(v); ok {
			add(o, v.StartOffset, "headers", name, s)
		}
	})
}

func headersOfEnv(o *hujson.Object, v hujson.Value) {
	eachMember(&v, func(name string, v *hujson.Value) {
		if s, ok := textOf(v); ok {
			add(o, v.StartOffset, "headers", name, "${"+s+"}")
		}
	})
}

func bearer(o *hujson.Object, v hujson.Value) {
	if s, ok := textOf(&v); ok && strings.TrimSpace(s) != "" {
		add(o, v.StartOffset, "headers", "Authorization", "Bearer ${"+s+"}")
	}
}

func requestOptions(o *hujson.Object, v hujson.Value) {
	if h := v.Find("/headers"); h != nil {
		headers(o, *h)
	}
}
