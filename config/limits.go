package config

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tailscale/hujson"
)

// Limits are how many requests clients, tools and servers get; the rest waits.
type Limits struct {
	PerClient, PerTool, PerServer Limit
	Servers                       map[string]Limit // by name; replaces PerServer
}

// A Limit is how many requests something gets. Zero fields limit nothing.
type Limit struct {
	Requests   int           // in the time Per; those of one second may come at once
	Per        time.Duration // a second, minute or hour
	Concurrent int           // requests under way
}

// limitKeys says what each key of the limits sets.
var limitKeys = map[string]func(o *Limits) *Limit{
	"perClient": func(o *Limits) *Limit { return &o.PerClient },
	"perServer": func(o *Limits) *Limit { return &o.PerServer },
	"perTool":   func(o *Limits) *Limit { return &o.PerTool },
}

// ruleKeys says what each key of one limit sets.
var ruleKeys = map[string]func(s *source, r *Limit, v hujson.Value, path string){
	"rate":       (*source).rate,
	"concurrent": func(s *source, r *Limit, v hujson.Value, path string) { r.Concurrent = limit(s, v, path, 1) },
}

// limits reads {"perClient": {"rate": "100/s", "concurrent": 50}, …}.
func (f *file) limits(v hujson.Value, path string) {
	f.members(v, path, func(m *hujson.ObjectMember) {
		name := key(m)
		of := limitKeys[name]
		if of == nil {
			f.unknown(m, path, slices.Sorted(maps.Keys(limitKeys)))
			return
		}
		f.rule(of(&f.cfg.Limits), m.Value, path+"."+name)
	})
}

// limitServer sets the limits of one server.
func (f *file) limitServer(name string, r *Limit) {
	if r == nil {
		return
	}
	if f.cfg.Limits.Servers == nil {
		f.cfg.Limits.Servers = map[string]Limit{}
	}
	f.cfg.Limits.Servers[name] = *r
}

// rule reads {"rate": "100/s", "concurrent": 50}.
func (s *source) rule(r *Limit, v hujson.Value, path string) {
	s.members(v, path, func(m *hujson.ObjectMember) {
		name := key(m)
		set := ruleKeys[name]
		if set == nil {
			s.unknown(m, path, slices.Sorted(maps.Keys(ruleKeys)))
			return
		}
		set(s, r, m.Value, path+"."+name)
	})
}

// rate reads a number of requests in a second, minute or hour: "10/s".
func (s *source) rate(r *Limit, v hujson.Value, path string) {
	count, unit, _ := strings.Cut(s.text(v, path), "/")
	per := map[string]time.Duration{"s": time.Second, "m": time.Minute, "h": time.Hour}[unit]
	n, err := strconv.ParseUint(count, 10, 31)
	if v.Value.Kind() == '"' && (err != nil || n == 0 || per == 0) {
		s.fail(v.StartOffset, `%s is not a rate; write how many requests in a second, minute or hour, such as "10/s", "100/m" or "1000/h"`, path)
		return
	}
	r.Requests, r.Per = int(n), per
}
