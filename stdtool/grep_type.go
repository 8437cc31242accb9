package stdtool

import (
	"strings"

	"github.com/toolpost/toolpost"
)

// fileTypes are the types of grep, each with the endings of its files.
const fileTypes = `c c,h
cpp cc,cpp,cxx,hh,hpp,hxx,h
cs cs
css css,scss,sass,less
go go
html html,htm
java java
js js,jsx,mjs,cjs
json json,jsonc,jsonl
kotlin kt,kts
lua lua
md md,markdown,mdx
php php
proto proto
py py,pyi
rb rb
rust rs
sh sh,bash,zsh
sql sql
swift swift
toml toml
ts ts,tsx,mts,cts
txt txt
xml xml,svg,xsd
yaml yaml,yml`

// typeGlob returns the pattern for files of a type.
func typeGlob(name string) (string, error) {
	var known []string
	for line := range strings.Lines(fileTypes) {
		kind, endings, _ := strings.Cut(strings.TrimSpace(line), " ")
		if kind == name {
			if !strings.Contains(endings, ",") {
				return "*." + endings, nil
			}
			return "*.{" + endings + "}", nil
		}
		known = append(known, kind)
	}
	return "", toolpost.Retry.Errorf("unknown type %q: give one of %s, or use glob", name, strings.Join(known, ", "))
}
