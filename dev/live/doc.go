// Package live runs the built commands against real peers: the reference MCP
// servers, the official clients and the conformance suites. "make live"
// installs them and sets TOOLPOST_LIVE; without it the tests are skipped.
package live
