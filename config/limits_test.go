package config_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolpost/toolpost/config"
)

func TestLimits(t *testing.T) {
	parse := func(limits string) (*config.Config, error) {
		return config.Parse("toolpost.json", []byte(`{"mcpServers": {"a": {"command": "x", "limits": {"concurrent": 3}}}, "limits": `+limits+`}`), func(string) (string, bool) { return "", false })
	}
	cfg, err := parse(`{"perClient": {"rate": "100/s", "concurrent": 50}, "perServer": {"rate": "30/m"}, "perTool": {"concurrent": 2}}`)
	if err != nil {
		t.Fatal(err)
	}
	want := config.Limits{PerClient: config.Limit{Requests: 100, Per: time.Second, Concurrent: 50}, PerServer: config.Limit{Requests: 30, Per: time.Minute}, PerTool: config.Limit{Concurrent: 2}, Servers: map[string]config.Limit{"a": {Concurrent: 3}}}
	if diff := cmp.Diff(want, cfg.Limits); diff != "" {
		t.Error(diff)
	}
	for limits, part := range map[string]string{
		`{"perUser": {}}`:                  `unknown key "perUser" in limits`,
		`{"perTool": {"burst": 1}}`:        `unknown key "burst" in limits.perTool`,
		`{"perTool": {"rate": "fast"}}`:    "limits.perTool.rate is not a rate",
		`{"perTool": {"rate": "0/s"}}`:     "is not a rate",
		`{"perTool": {"rate": "-1/s"}}`:    "is not a rate",
		`{"perTool": {"rate": "1/day"}}`:   "is not a rate",
		`{"perTool": {"concurrent": 0}}`:   "limits.perTool.concurrent is not a number from 1",
		`{"perTool": {"concurrent": 1.5}}`: "is not a number",
		`{"perTool": 3}`:                   "limits.perTool is a number",
	} {
		if _, err := parse(limits); err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%s: got %v, want %s", limits, err, part)
		}
	}
}
