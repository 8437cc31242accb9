package main

import (
	"bytes"
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"strings"
	"time"
)

// The members of a CycloneDX 1.6 document that are written.
type (
	document struct {
		Format      string      `json:"bomFormat"`
		SpecVersion string      `json:"specVersion"`
		Version     int         `json:"version"`
		Metadata    metadata    `json:"metadata"`
		Components  []component `json:"components"`
	}
	metadata struct {
		Timestamp string    `json:"timestamp"`
		Component component `json:"component"`
	}
	component struct {
		Type    string `json:"type"`
		Ref     string `json:"bom-ref"`
		Name    string `json:"name"`
		Version string `json:"version"`
		PURL    string `json:"purl"`
		Hashes  []hash `json:"hashes,omitempty"`
	}
	hash struct {
		Algorithm string `json:"alg"`
		Content   string `json:"content"`
	}
)

// writeBills writes the SBOM of each platform.
func writeBills(r *release) error {
	for _, p := range r.programs {
		bill, err := billOfMaterials(p.data, r.version, r.time)
		if err != nil {
			return err
		}
		if err := r.put(r.base(p)+".cdx.json", bill); err != nil {
			return err
		}
	}
	return nil
}

// billOfMaterials returns an SBOM of a program: the modules that the linker wrote
// into it, and the standard library.
func billOfMaterials(program []byte, version string, built time.Time) ([]byte, error) {
	info, err := buildinfo.Read(bytes.NewReader(program))
	if err != nil {
		return nil, err
	}
	d := document{
		Format: "CycloneDX", SpecVersion: "1.6", Version: 1,
		Metadata: metadata{built.Format(time.RFC3339), module("application", info.Main.Path, version)},
	}
	goVersion := strings.TrimPrefix(info.GoVersion, "go")
	d.Components = append(d.Components, module("library", "std", goVersion))
	for _, m := range info.Deps {
		used := m
		if m.Replace != nil {
			used = m.Replace
		}
		c := module("library", used.Path, used.Version)
		if c.Hashes, err = hashes(used); err != nil {
			return nil, err
		}
		d.Components = append(d.Components, c)
	}
	return json.MarshalIndent(d, "", "  ")
}

func module(kind, path, version string) component {
	purl := "pkg:golang/" + path + "@" + strings.ReplaceAll(version, "+", "%2B")
	return component{Type: kind, Ref: purl, Name: path, Version: version, PURL: purl}
}

// hashes returns the checksum of go.sum, a SHA-256 of the module's files.
func hashes(m *debug.Module) ([]hash, error) {
	encoded, ok := strings.CutPrefix(m.Sum, "h1:")
	if !ok {
		return nil, nil
	}
	sum, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return nil, fmt.Errorf("read the checksum of %s: %w", m.Path, err)
	}
	return []hash{{"SHA-256", hex.EncodeToString(sum)}}, nil
}
