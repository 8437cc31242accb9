package main

// A format is one kind of package, for all platforms of a release.
type format struct {
	name  string
	write func(*release) error
}

// formats lists the kinds of packages. A new one is a function in a file of its own
// and a line here. Files that go to a registry are in a folder of their own; the
// others are the files of the release itself. The archives come first: some of the
// others name them with their checksum.
var formats = []format{
	{"archives", writeArchives},
	{"SBOMs", writeBills},
	{"npm packages", writeNPM},
	{"Python packages", writeWheels},
	{"Debian packages", writeDebian},
	{"MCP bundles", writeBundles},
	{"descriptions for the MCP registry", writeRegistry},
	{"formula for Homebrew", writeHomebrew},
	{"manifests for winget", writeWinget},
	{"JSON Schema", writeSchema},
}
